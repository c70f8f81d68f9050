import fc from 'fast-check'
import { expect, test } from 'vitest'
import { deleteConfig, publishConfig } from '../core/config/commands/publish-config.ts'
import { promoteGray, stopGray } from '../core/config/commands/end-gray.ts'
import {
  changeNaively,
  changes,
  grownExpr,
  KEY,
  type NaiveChange,
  type NaiveItem,
  naiveView,
  viewers,
} from '../core/config/commands/gray.test-support.ts'
import { growGray, publishGray } from '../core/config/commands/publish-gray.ts'
import { seenBy, viewedMd5 } from '../core/config/state/config-view.ts'
import { at, publishing, refusalOf, restartClock, WALL_MS } from '../core/core.test-support.ts'
import { type Command, timeOf } from '../core/decisions/decision.ts'
import { State } from '../core/engine/state.ts'
import { ConfigWatchers } from './config-watchers.ts'

const BY = { ip: '10.9.9.9', user: null }
const md5Of = (text: string | undefined): string => (text === undefined ? '' : `md5 of ${text}`)

function commandOf(change: NaiveChange, item: NaiveItem): Command<unknown> {
  switch (change.do) {
    case 'publish':
      return publishConfig(publishing(change.text, { key: KEY }))
    case 'publish-gray': {
      const { text, ...release } = change.gray
      const texts = { content: Buffer.from(text), md5: md5Of(text) }
      const facts = { type: undefined, encryptedDataKey: '', casMd5: undefined, operator: BY }
      return publishGray({ key: KEY, ...release, ...texts, ...facts })
    }
    case 'delete':
      return deleteConfig(KEY, BY)
    case 'stop':
      return stopGray({ key: KEY, name: change.name, operator: BY })
    case 'promote':
      return promoteGray({ key: KEY, name: change.name, operator: BY })
    case 'grow': {
      const gray = item.gray.get(change.name)
      return growGray({ key: KEY, name: change.name, expr: gray ? grownExpr(gray) : '1', operator: BY })
    }
  }
}

/** A server, as far as those who wait for changes of an item see it. */
function fixture() {
  const state = new State(WALL_MS)
  const waiting: (() => void)[] = []
  const loop = { now: () => 0, soon: (run: () => void) => void waiting.push(run) }
  const polls = new ConfigWatchers({
    md5Of: (key, who) => viewedMd5(state, key, who),
    seenBy: (key, who) => ({ ...seenBy(state, key, who), ip: who.ip }),
    loop,
  })
  const carryOut = (command: Command<unknown>): void => {
    const now = timeOf(command, state, () => at(0))
    const decided = command.decide(state, now).changes
    state.apply(decided, now)
    for (const change of decided) polls.onChange(change)
    while (waiting.length > 0) waiting.shift()!()
  }
  return { polls, carryOut }
}

test('who waits for an item is notified if, and only if, its view has changed', () => {
  fc.assert(
    fc.property(changes, fc.array(viewers, { minLength: 1, maxLength: 6 }), (all, clients) => {
      restartClock()
      const { polls, carryOut } = fixture()
      const item: NaiveItem = { formal: undefined, gray: new Map() }
      const notified = new Set<string>()
      const echo = ''
      for (const [index, who] of clients.entries()) {
        const changed = (): void => void notified.add(`stream ${index}`)
        void polls.join({ ip: who.ip, who, changed, end: () => {} }).listen([{ key: KEY, md5: '', echo }])
      }
      for (const change of all) {
        const before = clients.map((who) => naiveView(item, who))
        // A client of HTTP has no labels.
        const tagged = clients.map(({ ip, tag }) => ({ ip, tag }))
        const polled = tagged.map((who) => naiveView(item, who))
        const held = tagged.map((who, index) => {
          const answer = (): void => void notified.add(`poll ${index}`)
          const poll = {
            ...who,
            items: [{ key: KEY, md5: md5Of(polled[index]), echo }],
            dueMs: 1e9,
            answer,
            giveWay: () => {},
          }
          return polls.take(poll)
        })
        notified.clear()
        refusalOf(() => carryOut(commandOf(change, item)))
        changeNaively(item, change)
        const expected = clients.flatMap((who, index) => [
          ...(naiveView(item, who) === before[index] ? [] : [`stream ${index}`]),
          ...(naiveView(item, tagged[index]!) === polled[index] ? [] : [`poll ${index}`]),
        ])
        expect([...notified].toSorted()).toEqual(expected.toSorted())
        for (const handle of held) if (handle.kind === 'held') handle.handle.cancel()
      }
    }),
    { numRuns: 150 },
  )
})
