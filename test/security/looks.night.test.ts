/**
 * The looks of clients at gray versions with all limits that multiply at their largest, by processor time: no turn of the loop takes
 * more than 50 ms. `src/subscribers/looks.test.ts` judges the same operations by counts.
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { type ConfigItem, type ConfigKey, configKey } from '../../src/core/config/state/config-item.ts'
import { seenBy, viewedMd5, type ViewedState } from '../../src/core/config/state/config-view.ts'
import type { Viewer } from '../../src/core/config/state/viewer.ts'
import { checkedRule, type GrayRule } from '../../src/core/config/state/gray-rule.ts'
import { GRAY, type GrayItem, type GrayVersion } from '../../src/core/config/state/gray-version.ts'
import { LOOK_LIMITS } from '../../src/core/config/state/look-limits.ts'
import type { Change } from '../../src/core/decisions/changes.ts'
import { ConfigWatchers } from '../../src/subscribers/config-watchers.ts'

const ITEMS = 10_000
const HELD_POLLS = 18_000
/** The requests that one turn of the loop takes. */
const AT_ONCE = 100
const LONGEST_STOP_MS = 50
const MOST_RUNS = 3
setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const BY = { ip: '', user: null }
const keyOf = (index: number) => configKey('public', 'g', `item-${index}`)

/** The rules of an item: each look asks all of the conditions, whose values no client has. */
const RULES = {
  'the same ten rules': (version: number) => `v${version}`,
  'rules of their own, more than are kept read': (version: number, item: number) => `v${item}-${version}`,
}
const NO_TEXT = { md5: 'x', size: 1, textId: '', type: undefined, encryptedDataKey: '', comment: '' }
const NO_TIMES = { createdMs: 0, modifiedMs: 0, createdBy: BY, modifiedBy: BY }

function versionsOf(item: number, valueOf: (version: number, item: number) => string): GrayVersion[] {
  return Array.from({ length: LOOK_LIMITS.versions }, (_, version) => {
    const value = valueOf(version, item)
    const conditions = Array.from({ length: LOOK_LIMITS.conditions }, (_, index) => `l${index}=${value}`)
    const rule: GrayRule = { type: 'tagv2', version: '1.1.0', expr: conditions.join('||'), priority: 1 }
    // To check all of them takes a minute.
    if (item === 0) checkedRule(rule)
    return { name: `v${version}`, rule, id: item, ...NO_TIMES, ...NO_TEXT }
  })
}

/** `formal`: the md5 of formal versions. */
function stateOfLargest(
  valueOf: (version: number, item: number) => string,
  formal: ReadonlyMap<string, string>,
): ViewedState {
  const items = new Map(
    Array.from({ length: ITEMS }, (_, index): [string, GrayItem] => {
      const key = keyOf(index)
      return [key.text, { key, versions: versionsOf(index, valueOf) }]
    }),
  )
  const record = (kind: { name: string }, id: string) => (kind.name === GRAY.name ? items.get(id) : undefined)
  const config = ({ text }: ConfigKey) => {
    const md5 = formal.get(text)
    return md5 === undefined ? undefined : ({ md5 } as ConfigItem)
  }
  return { config, record: record as ViewedState['record'] }
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

/** The longest stop of the loop, in milliseconds, while clients with the largest limits come and are answered. */
async function longestStop(valueOf: (version: number, item: number) => string): Promise<number> {
  const formal = new Map<string, string>()
  const state = stateOfLargest(valueOf, formal)
  // The garbage of making the state is not part of a stop.
  collectGarbage()
  const { longest, measured, loop } = measuredLoop()
  const polls = new ConfigWatchers({
    md5Of: (key, who) => viewedMd5(state, key, who),
    seenBy: (key, who) => ({ ...seenBy(state, key, who), ip: who.ip }),
    loop,
  })
  const items = Array.from({ length: ITEMS }, (_, index) => ({ key: keyOf(index), md5: '', echo: '' }))
  let isAnswered = false
  const answer = (): void => void (isAnswered = true)
  measured(
    () => void polls.take({ items, ip: '10.0.0.1', giveWay: () => {}, dueMs: 0, waits: false, answer }),
  )
  while (!isAnswered) await turn()

  const labels = new Map(Array.from({ length: 200 }, (_, index) => [`l${index}`, 'c']))
  const who: Viewer = { ip: '10.0.0.2', labels }
  const listener = polls.join({ ip: who.ip, who, changed: () => undefined, end: () => undefined })
  let listened: unknown
  measured(() => void (listened = listener.listen(items)))
  await listened

  let answered = 0
  const hold = (held: number): void => {
    const own = [items[0]!, items[held % ITEMS]!]
    polls.take({
      items: own,
      ip: `10.1.${held}`,
      giveWay: () => {},
      dueMs: 1e9,
      answer: () => void answered++,
    })
  }
  for (let held = 0; held < HELD_POLLS; held += AT_ONCE) {
    measured(() => {
      for (let index = 0; index < AT_ONCE; index++) hold(held + index)
    })
    await turn()
  }
  const clients = await polls.lists.clientsOf(keyOf(0))
  // The listener and the first poll, which is remembered, have the item too.
  expect(clients).toHaveLength(HELD_POLLS + 2)
  // A change that no poll sees, and one that all see.
  polls.onChange({ kind: 'record-removed', recordKind: GRAY.name, id: keyOf(0).text, stamp: 1 })
  await polls.lists.watchersOf(keyOf(0))
  expect(answered).toBe(0)
  formal.set(keyOf(0).text, 'new')
  polls.onChange({ kind: 'config-published', item: { key: keyOf(0) } as ConfigItem } as Change)
  while (polls.size > 0) await turn()
  expect(answered).toBe(HELD_POLLS)
  return longest.ms
}

test.each(Object.entries(RULES))(
  'ten rules, 10,000 items and 18,000 held polls stop the loop for 50 ms at most: %s',
  { timeout: 600_000 },
  async (name, valueOf) => {
    // The least of some runs: other threads of the process, which collect garbage, count too.
    let least = Infinity
    for (let run = 0; run < MOST_RUNS && least >= LONGEST_STOP_MS; run++)
      least = Math.min(least, await longestStop(valueOf))
    console.log(`The longest stop with ${name}: ${least.toFixed(0)} ms.`)
    expect(least).toBeLessThan(LONGEST_STOP_MS)
  },
)
