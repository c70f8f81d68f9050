import { array, assert, boolean, constant, integer, oneof, property, record } from 'fast-check'
import { expect, test } from 'vitest'
import type { Change } from '../core/decisions/changes.ts'
import { type ConfigItem, type ConfigKey, configKey } from '../core/config/state/config-item.ts'
import type { WatchedItem } from '../core/config/state/config-view.ts'
import { formalVersions } from './formal-versions.test-support.ts'
import { ConfigWatchers, type PollHandle, type Taken } from './config-watchers.ts'
import { NAMESPACE } from '../core/namespaces/namespace.ts'
import { recordRemoved } from '../core/records/record-kind.ts'

/** A small server with stored items. The test moves its clock and its event loop. */
function fixture(limits: { maxHeld?: number; maxWatched?: number } = {}) {
  const stored = new Map<string, string>()
  const waiting: (() => void)[] = []
  const clock = { nowMs: 0 }
  const loop = { now: () => clock.nowMs, soon: (run: () => void) => void waiting.push(run) }
  const polls = new ConfigWatchers({
    ...formalVersions((key) => stored.get(key.text) ?? ''),
    loop,
    ...limits,
  })
  const runSlice = () => waiting.shift()?.()
  const runAll = () => {
    while (waiting.length > 0) runSlice()
  }
  const change = (dataId: string, md5: string) => {
    const keyText = keyOf(dataId).text
    if (md5 === '') stored.delete(keyText)
    else stored.set(keyText, md5)
    polls.onChange(changeOf(dataId, md5))
  }
  return { polls, clock, waiting, runSlice, runAll, change, stored }
}

const keyOf = (dataId: string): ConfigKey => configKey('public', 'g', dataId)

/** A change with only the fields that long polls read. */
function changeOf(dataId: string, md5: string): Change {
  const key = keyOf(dataId)
  if (md5 === '') return { kind: 'config-deleted', key } as Change
  return { kind: 'config-published', item: { key, md5 } as ConfigItem } as Change
}

const watched = (dataId: string, md5: string): WatchedItem => {
  const key = keyOf(dataId)
  return { key, md5, echo: `${dataId} g` }
}

function handleOf(taken: Taken): PollHandle {
  return taken.kind === 'held' ? taken.handle : { cancel: () => {} }
}

function holdOne(polls: ConfigWatchers, items: WatchedItem[], dueMs = 30_000) {
  const answers: (readonly WatchedItem[])[] = []
  const taken = polls.take({
    items,
    ip: '10.0.0.1',
    giveWay: () => {},
    dueMs,
    answer: (changed) => void answers.push(changed),
  })
  return {
    answers,
    kind: taken.kind,
    handle: handleOf(taken),
    names: () => answers.map((each) => each.map((item) => item.key.dataId)),
  }
}

test('a poll that differs is returned with the items whose md5 differs; the md5 of an absent item is empty', () => {
  const { polls, change } = fixture()
  change('a', 'one')
  const items = [watched('a', 'one'), watched('a', 'old'), watched('none', ''), watched('none', 'old')]
  const poll = { items, ip: '10.0.0.1', dueMs: 1, answer: () => {}, giveWay: () => {} }
  expect(polls.take(poll)).toEqual({ kind: 'compared', changed: [items[1], items[3]] })
})

test('a held poll is answered with the differing items when an item is published, changed or deleted', () => {
  const { polls, change, runAll } = fixture()
  const made = holdOne(polls, [watched('a', ''), watched('b', '')])
  change('a', 'one')
  runAll()
  expect(made.names()).toEqual([['a']])
  const deleted = holdOne(polls, [watched('a', 'one')])
  change('a', '')
  runAll()
  expect(deleted.names()).toEqual([['a']])
  expect(polls.size).toBe(0)
})

test('a poll is answered once with all changes of a burst', () => {
  const { polls, change, runAll } = fixture()
  const poll = holdOne(polls, [watched('a', ''), watched('b', ''), watched('c', '')])
  change('c', 'one')
  change('a', 'one')
  runAll()
  expect(poll.names()).toEqual([['a', 'c']])
})

test('the poll of an item that is changed back stays held', () => {
  const { polls, change, runAll } = fixture()
  const poll = holdOne(polls, [watched('a', '')])
  change('a', 'one')
  change('a', '')
  runAll()
  expect(poll.answers).toEqual([])
  expect(polls.size).toBe(1)
})

test('a poll that was compared and stays held can be answered by the next change, or cancelled', async () => {
  const { polls, change, runAll } = fixture()
  const stays = holdOne(polls, [watched('a', ''), watched('b', '')])
  const leaves = holdOne(polls, [watched('a', '')])
  change('a', 'one')
  change('a', '')
  runAll()
  const listed = polls.lists.watchersOf(keyOf('a'))
  runAll()
  expect([...(await listed)]).toEqual([['10.0.0.1', '']])
  leaves.handle.cancel()
  change('a', 'two')
  change('b', 'two')
  runAll()
  expect(stays.names()).toEqual([['a', 'b']])
  expect(leaves.answers).toEqual([])
  expect(polls.counts()).toMatchObject({ held: 0, watched: 0, changed: 1, left: 1 })
})

test('if the server stops during a walk, every poll is answered once', () => {
  const { polls, clock, change, runSlice, runAll } = fixture()
  let answers = 0
  const answer = () => {
    clock.nowMs += 1
    answers++
  }
  for (let number = 0; number < 20; number++)
    polls.take({ items: [watched('a', '')], ip: '10.0.0.1', giveWay: () => {}, dueMs: 30_000, answer })
  change('a', 'one')
  runSlice()
  expect(answers).toBeLessThan(20)
  polls.answerAll()
  runAll()
  expect(answers).toBe(20)
  expect(polls.size).toBe(0)
})

test('changes of other items and other kinds of change answer no poll', () => {
  const { polls, change, waiting, runAll } = fixture()
  holdOne(polls, [watched('a', '')])
  runAll()
  change('b', 'one')
  polls.onChange(recordRemoved(NAMESPACE, 'a', 0))
  expect(waiting).toHaveLength(0)
})

test('a poll without a change is answered with nothing, at most a bucket after its timeout', () => {
  const { polls, runAll } = fixture()
  const poll = holdOne(polls, [watched('a', '')], 29_550)
  polls.tick(29_549)
  runAll()
  expect(poll.answers).toEqual([])
  polls.tick(29_650)
  runAll()
  expect(poll.answers).toEqual([[]])
})

test('a poll that times out is answered with changes that it was not compared with yet', () => {
  const { polls, runAll, stored } = fixture()
  const poll = holdOne(polls, [watched('a', '')], 100)
  stored.set(keyOf('a').text, 'one')
  polls.tick(100)
  runAll()
  expect(poll.names()).toEqual([['a']])
})

test('a poll without items is held until its timeout', () => {
  const { polls, runAll } = fixture()
  const poll = holdOne(polls, [], 100)
  polls.tick(200)
  runAll()
  expect(poll.answers).toEqual([[]])
})

test('a cancelled poll is never answered', () => {
  const { polls, change, runAll } = fixture()
  const woken = holdOne(polls, [watched('a', '')])
  const due = holdOne(polls, [watched('a', '')], 100)
  change('a', 'one')
  polls.tick(100)
  woken.handle.cancel()
  due.handle.cancel()
  due.handle.cancel()
  runAll()
  polls.answerAll()
  expect([...woken.answers, ...due.answers]).toEqual([])
  expect(polls.size).toBe(0)
})

test('polls beyond the limits of polls and items are refused', () => {
  const few = fixture({ maxHeld: 1 })
  holdOne(few.polls, [])
  expect(holdOne(few.polls, []).kind).toBe('too-many')
  const small = fixture({ maxWatched: 3 })
  holdOne(small.polls, [watched('a', ''), watched('b', '')]).handle.cancel()
  holdOne(small.polls, [watched('a', ''), watched('b', '')])
  expect(holdOne(small.polls, [watched('a', ''), watched('b', '')]).kind).toBe('too-many')
})

test('when the server stops, held polls and later ones are answered with nothing', () => {
  const { polls } = fixture()
  const held = holdOne(polls, [watched('a', '')])
  polls.answerAll()
  const late = holdOne(polls, [watched('a', '')])
  expect(held.answers).toEqual([[]])
  expect(late.answers).toEqual([[]])
  expect(polls.size).toBe(0)
})

test('the watchers of an item and the items of an address are listed', async () => {
  const { polls, stored, runAll } = fixture()
  stored.set(keyOf('a').text, 'x')
  holdOne(polls, [watched('a', 'x'), watched('b', '')])
  stored.set(keyOf('a').text, 'y')
  polls.take({ items: [watched('a', 'y')], ip: '10.0.0.2', giveWay: () => {}, dueMs: 1, answer: () => {} })
  const lists = [polls.lists.watchersOf(keyOf('a')), polls.lists.watchersOf(keyOf('none'))] as const
  const items = polls.lists.watchedBy('10.0.0.1')
  runAll()
  expect([...(await lists[0])]).toEqual([
    ['10.0.0.1', 'x'],
    ['10.0.0.2', 'y'],
  ])
  expect((await lists[1]).size).toBe(0)
  expect((await items).map((item) => item.key.dataId)).toEqual(['a', 'b'])
})

test('10,000 polls are answered oldest first, in slices of at most 10 ms', () => {
  const { polls, clock, waiting, runSlice, change } = fixture()
  const order: number[] = []
  for (let number = 0; number < 10_000; number++) {
    const answer = () => {
      clock.nowMs += 0.023
      order.push(number)
    }
    polls.take({ items: [watched('a', '')], ip: '10.0.0.1', giveWay: () => {}, dueMs: 30_000, answer })
  }
  change('a', 'one')
  let longestMs = 0
  while (waiting.length > 0) {
    const startedMs = clock.nowMs
    runSlice()
    longestMs = Math.max(longestMs, clock.nowMs - startedMs)
  }
  expect(longestMs).toBeLessThan(10)
  expect(order).toEqual(Array.from({ length: 10_000 }, (_, number) => number))
})

test('a client that polls again during the walk is not answered twice for one change', () => {
  const { polls, change, runAll } = fixture()
  let answers = 0
  const poll = (md5: string) => {
    polls.take({
      items: [watched('a', md5)],
      ip: '10.0.0.1',
      giveWay: () => {},
      dueMs: 30_000,
      answer: () => again(),
    })
  }
  const again = () => {
    answers++
    if (answers < 100) poll('one')
  }
  poll('')
  poll('')
  change('a', 'one')
  runAll()
  expect(answers).toBe(2)
  expect(polls.size).toBe(2)
})

test('a watcher never misses the last state, for any order of changes, polls and slices', () => {
  const dataId = integer({ min: 0, max: 3 }).map(String)
  const step = oneof(
    record({
      kind: constant('change' as const),
      dataId,
      md5: oneof(constant(''), constant('x'), constant('y')),
    }),
    record({ kind: constant('slice' as const), passMs: integer({ min: 0, max: 20 }) }),
    record({ kind: constant('tick' as const), passMs: integer({ min: 0, max: 400 }) }),
    record({ kind: constant('leave' as const), client: integer({ min: 0, max: 4 }), back: boolean() }),
  )
  assert(
    property(array(step, { maxLength: 150 }), (steps) => {
      const { polls, clock, runSlice, runAll, change, stored } = fixture()
      const clients = Array.from({ length: 5 }, (_, index) => watcher(polls, stored, { clock, index }))
      for (const each of steps) {
        if (each.kind === 'change') change(each.dataId, each.md5)
        else if (each.kind === 'leave') clients[each.client]?.leave(each.back)
        else {
          clock.nowMs += each.passMs
          if (each.kind === 'slice') runSlice()
          else polls.tick(clock.nowMs)
        }
      }
      runAll()
      const here = clients.filter((client) => client.isHere())
      for (const client of here) expect(client.known()).toEqual(client.stored())
      expect(polls.size).toBe(here.length)
    }),
    { numRuns: 500 },
  )
})

/** A client like the libraries: it polls, reads the items that changed, and polls again. */
function watcher(
  polls: ConfigWatchers,
  stored: Map<string, string>,
  { clock, index }: { clock: { nowMs: number }; index: number },
) {
  const mine = ['0', '1', '2', '3'].filter((_, bit) => (index + 1) & (1 << bit))
  const md5s = new Map<string, string>()
  let handle: PollHandle | undefined
  const storedMd5 = (dataId: string) => stored.get(keyOf(dataId).text) ?? ''
  const read = (changed: readonly WatchedItem[]) => {
    for (const item of changed) md5s.set(item.key.dataId, storedMd5(item.key.dataId))
  }
  const poll = () => {
    const items = mine.map((dataId) => watched(dataId, md5s.get(dataId) ?? ''))
    const answer = (changed: readonly WatchedItem[]) => {
      read(changed)
      poll()
    }
    const taken = polls.take({
      items,
      ip: `10.0.0.${index}`,
      giveWay: () => {},
      dueMs: clock.nowMs + 300,
      answer,
    })
    handle = handleOf(taken)
    if (taken.kind === 'compared') answer(taken.changed)
  }
  poll()
  return {
    isHere: () => handle !== undefined,
    leave: (back: boolean) => {
      handle?.cancel()
      handle = undefined
      if (back) poll()
    },
    known: () => mine.map((dataId) => md5s.get(dataId) ?? ''),
    stored: () => mine.map(storedMd5),
  }
}

test('a held poll is listed with since when it is held', async () => {
  const { polls, clock, runAll } = fixture()
  clock.nowMs = 5
  holdOne(polls, [watched('a', '')])
  clock.nowMs = 12
  const listed = polls.lists.clientsOf(keyOf('a'))
  runAll()
  await Promise.resolve()
  runAll()
  expect(await listed).toMatchObject([{ via: 'poll', seenAgoMs: 7 }])
})

test('a client that sends something while the list is made was seen now', async () => {
  const { polls, clock, runAll } = fixture()
  const changed = (): void => {}
  // Without `heardMs` its last message is always from now.
  void polls.join({ ip: '10.0.0.1', changed, end: changed }).listen([watched('a', '')])
  const listed = polls.lists.clientsOf(keyOf('a'))
  clock.nowMs = 5
  runAll()
  await Promise.resolve()
  runAll()
  expect(await listed).toMatchObject([{ via: 'stream', seenAgoMs: 0 }])
})
