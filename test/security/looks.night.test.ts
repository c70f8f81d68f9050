/**
 * The looks of clients at gray versions with all limits that multiply at their largest, by processor time: no turn of the loop takes
 * more than 50 ms. `src/subscribers/looks.test.ts` judges the same operations by counts.
 */
import { expect, test } from 'vitest'
import { configKey } from '../../src/core/config/state/config-item.ts'
import { seenBy, viewedMd5, type ViewedState } from '../../src/core/config/state/config-view.ts'
import type { Viewer } from '../../src/core/config/state/viewer.ts'
import { checkedRule } from '../../src/core/config/state/gray-rule.ts'
import { GRAY, type GrayItem, type GrayVersion } from '../../src/core/config/state/gray-version.ts'
import { LOOK_LIMITS } from '../../src/core/config/state/look-limits.ts'
import { ConfigWatchers } from '../../src/subscribers/config-watchers.ts'

const ITEMS = 10_000
const HELD_POLLS = 18_000
const LONGEST_STOP_MS = 50
const BY = { ip: '', user: null }
const keyOf = (index: number) => configKey('public', 'g', `item-${index}`)

/** Ten versions for labels that no client has: each look asks all of the conditions. */
function versionsOf(item: number): GrayVersion[] {
  return Array.from({ length: LOOK_LIMITS.versions }, (_, version) => {
    const conditions = Array.from(
      { length: LOOK_LIMITS.conditions },
      (_, index) => `l${index}=v${item}-${version}`,
    )
    const rule = checkedRule({ type: 'tagv2', version: '1.1.0', expr: conditions.join('||'), priority: 1 })
    const facts = { md5: 'x', size: 1, textId: '', type: undefined, encryptedDataKey: '', comment: '' }
    return {
      name: `v${version}`,
      rule,
      id: item,
      createdMs: 0,
      modifiedMs: 0,
      createdBy: BY,
      modifiedBy: BY,
      ...facts,
    }
  })
}

function stateOfLargest(): ViewedState {
  // A hundred sets of ten rules: to check 100,000 large rules takes a minute.
  const sets = Array.from({ length: 100 }, (_, index) => versionsOf(index))
  const items = new Map(
    Array.from({ length: ITEMS }, (_, index): [string, GrayItem] => {
      const key = keyOf(index)
      return [key.text, { key, versions: sets[index % sets.length]! }]
    }),
  )
  const record = (kind: { name: string }, id: string) => (kind.name === GRAY.name ? items.get(id) : undefined)
  return { config: () => undefined, record: record as ViewedState['record'] }
}

/** A loop of the process, whose callbacks are measured by processor time. */
function measuredLoop() {
  const longest = { ms: 0 }
  const measured = (run: () => void): void => {
    const before = process.cpuUsage()
    run()
    const { user, system } = process.cpuUsage(before)
    longest.ms = Math.max(longest.ms, (user + system) / 1_000)
  }
  const soon = (run: () => void): void => void setImmediate(() => measured(run))
  return { longest, measured, loop: { now: () => performance.now(), soon } }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test(
  'ten rules, 10,000 items and 18,000 held polls stop the loop for 50 ms at most',
  { timeout: 600_000 },
  async () => {
    const state = stateOfLargest()
    const { longest, measured, loop } = measuredLoop()
    const polls = new ConfigWatchers({
      md5Of: (key, who) => viewedMd5(state, key, who),
      seenBy: (key, who) => ({ ...seenBy(state, key, who), ip: who.ip }),
      loop,
    })
    const items = Array.from({ length: ITEMS }, (_, index) => ({ key: keyOf(index), md5: '', echo: '' }))
    let isAnswered = false
    const answer = (): void => void (isAnswered = true)
    measured(() => void polls.take({ items, ip: '10.0.0.1', dueMs: 0, waits: false, answer }))
    while (!isAnswered) await turn()

    const labels = new Map(Array.from({ length: 200 }, (_, index) => [`l${index}`, 'c']))
    const who: Viewer = { ip: '10.0.0.2', labels }
    const listener = polls.join({ ip: who.ip, who, changed: () => undefined, end: () => undefined })
    let listened: unknown
    measured(() => void (listened = listener.listen(items)))
    await listened

    for (let held = 0; held < HELD_POLLS; held++) {
      const own = [items[0]!, items[held % ITEMS]!]
      measured(() => void polls.take({ items: own, ip: `10.1.${held}`, dueMs: 1e9, answer: () => undefined }))
      if (held % 100 === 0) await turn()
    }
    const clients = await polls.lists.clientsOf(keyOf(0))
    // The listener and the first poll, which is remembered, have the item too.
    expect(clients).toHaveLength(HELD_POLLS + 2)
    console.log(`The longest stop: ${longest.ms.toFixed(0)} ms.`)
    expect(longest.ms).toBeLessThan(LONGEST_STOP_MS)
  },
)
