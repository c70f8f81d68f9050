import { describe, expect, test } from 'vitest'
import type { Change } from '../core/decisions/changes.ts'
import { type ConfigItem, configKey } from '../core/config/state/config-item.ts'
import { grayFor, type WatchedItem } from '../core/config/state/config-view.ts'
import type { Viewer } from '../core/config/state/viewer.ts'
import type { GrayItem, GrayVersion } from '../core/config/state/gray-version.ts'
import { checkedRule } from '../core/config/state/gray-rule.ts'
import { LOOK_LIMITS } from '../core/config/state/look-limits.ts'
import { reportFaultsTo } from '../core/unexpected.ts'
import { ConfigWatchers, type Poll, type Taken } from './config-watchers.ts'

/** The default of max-listening-items, and the held polls of the attack that this answers. */
const ITEMS_OF_POLL = 10_000
const HELD_POLLS = 18_000
/** A look with all versions and conditions at their largest, of rules that are kept read and of others, rounded up. */
const LOOK_MS = 0.03
const LOOK_AT_TEXTS_MS = 0.5
/** The longest stop that is allowed. */
const LONGEST_STOP_MS = 50
const LOOKS_OF_STOP = LONGEST_STOP_MS / LOOK_MS
/** For tests with a million watched items. */
const LONG_MS = 60_000
/** The time of a turn in which very many clients are answered. */
const BUSY_MS = 300

const keyOf = (name: string | number) => configKey('public', 'g', `item-${name}`)
const itemOf = (name: string | number, md5 = '', echo = `${name}`): WatchedItem => ({
  key: keyOf(name),
  md5,
  echo,
})
const itemsFrom = (first: number, count: number): WatchedItem[] =>
  Array.from({ length: count }, (_, index) => itemOf(first + index))
const ignored = (): void => undefined

/** Watchers whose looks are counted. A look takes its time on the clock of the test, so slices end by counts. */
function fixture(lookMs = LOOK_MS) {
  const stored = new Map<string, string>()
  const waiting: (() => void)[] = []
  const counts = { looks: 0, mostInTurn: 0, turns: 0 }
  let nowMs = 0
  const look = (keyText: string): string => {
    counts.looks++
    if (keyText === keyOf('broken').text) throw new Error('broken')
    nowMs += lookMs
    return stored.get(keyText) ?? ''
  }
  const polls = new ConfigWatchers({
    md5Of: ({ text }) => look(text),
    seenBy: ({ text }, { ip }) => ({ md5: look(text), ip }),
    loop: { now: () => nowMs, soon: (run) => void waiting.push(run) },
  })
  /** One turn of the loop: everything that waited when it began. */
  const turn = (run: () => void = ignored): void => {
    const before = counts.looks
    run()
    for (const each of waiting.splice(0)) each()
    counts.turns++
    counts.mostInTurn = Math.max(counts.mostInTurn, counts.looks - before)
  }
  const quiet = (): void => {
    while (waiting.length > 0) turn()
  }
  /** Turns of a loop that has much else to do. */
  const busyUntilQuiet = (): void => {
    while (waiting.length > 0) {
      turn()
      nowMs += BUSY_MS
    }
  }
  const change = (name: string | number, md5: string): void => {
    stored.set(keyOf(name).text, md5)
    polls.onChange({ kind: 'config-published', item: { key: keyOf(name), md5 } as ConfigItem } as Change)
  }
  const began = (): void => void Object.assign(counts, { looks: 0, mostInTurn: 0, turns: 0 })
  const settle = async <T>(promise: Promise<T>): Promise<T> => {
    let isDone = false
    const done = promise.finally(() => (isDone = true))
    done.catch(ignored)
    while (!isDone) {
      turn()
      await new Promise((resolve) => setImmediate(resolve))
    }
    return done
  }
  return { polls, counts, turn, quiet, busyUntilQuiet, change, began, settle, stored }
}

type Fixture = ReturnType<typeof fixture>

function hold(server: Fixture, items: readonly WatchedItem[], dueMs?: number) {
  return holdPoll(server, { items, ...(dueMs !== undefined && { dueMs }) }).answers
}

function holdPoll({ polls, turn }: Fixture, poll: Pick<Poll, 'items'> & Partial<Poll>) {
  const answers: string[][] = []
  const answer = (changed: readonly WatchedItem[]) => void answers.push(changed.map(({ echo }) => echo))
  const take = (): Taken => polls.take({ ip: '10.0.0.1', dueMs: 1e9, ...poll, answer, giveWay: () => {} })
  let taken: Taken | undefined
  turn(() => (taken = take()))
  if (taken?.kind === 'compared') answer(taken.changed)
  return { answers, cancel: () => void (taken?.kind === 'held' && taken.handle.cancel()) }
}

/** As many polls as may be held, with as many items as may be watched: all have the first item. */
function holdMost(server: Fixture, dueMs?: number): number {
  const ofEach = Math.floor(LOOK_LIMITS.watchedItems / HELD_POLLS)
  const items = itemsFrom(0, ofEach)
  for (let held = 0; held < HELD_POLLS; held++) hold(server, items, dueMs)
  server.quiet()
  expect(server.polls.counts()).toMatchObject({ held: HELD_POLLS, watched: HELD_POLLS * ofEach })
  return HELD_POLLS * ofEach
}

describe('no turn of the loop has more looks than 50 ms allow, and no item is looked at more often than it must', () => {
  test('a poll of the most items', () => {
    const server = fixture()
    const answers = hold(server, [...itemsFrom(0, ITEMS_OF_POLL - 1), itemOf('last', 'old')])
    server.quiet()
    expect(answers).toEqual([['last']])
    expect(server.counts.looks).toBe(ITEMS_OF_POLL)
    expect(server.counts.mostInTurn).toBeLessThan(LOOKS_OF_STOP)
  })

  test.each([LOOK_MS, LOOK_AT_TEXTS_MS])(
    'many polls of many items in one turn, with looks of %f ms',
    (lookMs) => {
      const server = fixture(lookMs)
      server.turn(() => {
        for (let number = 0; number < 100; number++)
          server.polls.take({
            items: itemsFrom(number * 1_000, 1_000),
            ip: '',
            giveWay: () => {},
            dueMs: 1e9,
            answer: ignored,
          })
      })
      server.quiet()
      expect(server.polls.size).toBe(100)
      expect(server.counts.looks).toBe(100 * 1_000)
      expect(server.counts.mostInTurn).toBeLessThan(LONGEST_STOP_MS / lookMs)
    },
  )

  test('a poll that names one item most often is one look, and its answer names it as often, in its order', () => {
    const server = fixture()
    server.stored.set(keyOf('one').text, 'new')
    const items = Array.from({ length: ITEMS_OF_POLL }, (_, index) =>
      itemOf('one', index % 2 === 0 ? 'old' : 'new', `${index}`),
    )
    const [answer] = (() => {
      const answers = hold(server, items)
      server.quiet()
      return answers
    })()
    expect(answer).toEqual(items.filter(({ md5 }) => md5 === 'old').map(({ echo }) => echo))
    expect(server.counts.looks).toBe(1)
  })

  test('a listener of the most items, and another viewer of its connection', async () => {
    const server = fixture()
    const reports: string[] = []
    const changed = ({ echo }: WatchedItem) => void reports.push(echo)
    const listener = server.polls.join({ ip: '', changed, end: ignored })
    const listened = listener.listen([...itemsFrom(0, ITEMS_OF_POLL - 1), itemOf('last', 'old')])
    expect(await server.settle(listened as Promise<readonly WatchedItem[]>)).toMatchObject([{ echo: 'last' }])
    expect(server.counts.looks).toBe(ITEMS_OF_POLL)
    server.began()
    server.turn(() => listener.compareAll())
    server.quiet()
    expect(server.counts.looks).toBe(ITEMS_OF_POLL)
    expect(server.counts.mostInTurn).toBeLessThan(LOOKS_OF_STOP)
    expect(reports).toEqual([])
  })

  test('a change of the item that the most polls have, while the loop is busy', { timeout: LONG_MS }, () => {
    const server = fixture()
    const watched = holdMost(server)
    server.began()
    server.change(0, 'new')
    server.busyUntilQuiet()
    expect(server.polls.size).toBe(0)
    // All items of the polls: an answer names all that differ.
    expect(server.counts.looks).toBe(watched)
    expect(server.counts.mostInTurn).toBeLessThan(LOOKS_OF_STOP)
  })

  test(
    'the clients of an item of the most polls, a change that is taken back, and the timeout of all',
    { timeout: LONG_MS },
    async () => {
      const server = fixture()
      const watched = holdMost(server, 1_000_000)
      server.began()
      const clients = await server.settle(server.polls.lists.clientsOf(keyOf(0)))
      expect([clients.length, server.counts.looks]).toEqual([HELD_POLLS, HELD_POLLS])
      server.change(0, 'new')
      server.change(0, '')
      server.quiet()
      // One more look of each poll.
      expect(server.counts.looks).toBe(2 * HELD_POLLS)
      server.polls.tick(2_000_000)
      server.quiet()
      expect(server.counts.looks).toBe(2 * HELD_POLLS + watched)
      expect(server.counts.mostInTurn).toBeLessThan(LOOKS_OF_STOP)
      server.began()
      const remembered = await server.settle(server.polls.lists.clientsOf(keyOf(0)))
      expect(remembered.length).toBe(Math.floor((LOOK_LIMITS.rememberedItems * HELD_POLLS) / watched))
      // Polls that do not have the item are not looked at.
      expect(await server.settle(server.polls.lists.clientsOf(keyOf('none')))).toEqual([])
      expect(server.counts.looks).toBe(remembered.length)
      expect(server.counts.mostInTurn).toBeLessThan(LOOKS_OF_STOP)
    },
  )
})

describe('no change falls between the slices of a comparison', () => {
  test.each([0, 256, ITEMS_OF_POLL - 1])('of a poll, whose item %i changes', (changed) => {
    const server = fixture()
    const answers = hold(server, itemsFrom(0, ITEMS_OF_POLL))
    server.change(changed, 'new')
    server.quiet()
    expect(answers).toEqual([[`${changed}`]])
  })

  test.each([0, 256, ITEMS_OF_POLL - 1])('of a listener, whose item %i changes', async (index) => {
    const server = fixture()
    const known: string[] = []
    const changed = ({ echo }: WatchedItem) => void known.push(echo)
    const listened = server.polls.join({ ip: '', changed, end: ignored }).listen(itemsFrom(0, ITEMS_OF_POLL))
    server.turn()
    server.change(index, 'new')
    const differing = await server.settle(listened as Promise<readonly WatchedItem[]>)
    expect([...known, ...differing.map(({ echo }) => echo)]).toEqual([`${index}`])
  })

  test('of a poll whose item changes and changes back', () => {
    const server = fixture()
    const answers = hold(server, itemsFrom(0, ITEMS_OF_POLL))
    server.change(0, 'new')
    server.turn()
    server.change(0, '')
    server.quiet()
    expect(answers).toEqual([])
    server.change(0, 'new')
    server.quiet()
    expect(answers).toEqual([['0']])
  })
})

describe('a comparison in slices', () => {
  const MANY = itemsFrom(0, ITEMS_OF_POLL)

  test('ends with its connection: nothing more is looked at, and nothing is kept', () => {
    const server = fixture()
    const { answers, cancel } = holdPoll(server, { items: MANY })
    server.turn()
    cancel()
    const { looks } = server.counts
    server.change(0, 'new')
    server.quiet()
    expect([answers, server.counts.looks]).toEqual([[], looks])
    expect(server.polls.counts()).toMatchObject({ held: 0, watched: 0, left: 1 })
  })

  test('ends with its listener', async () => {
    const server = fixture()
    const listener = server.polls.join({ ip: '', changed: ignored, end: ignored })
    const listened = listener.listen([itemOf(0, 'old'), ...MANY])
    server.turn()
    listener.leave()
    const { looks } = server.counts
    await server.settle(listened as Promise<unknown>)
    expect([server.counts.looks, server.polls.counts().listened]).toEqual([looks, 0])
  })

  test('answers a poll whose time is over, or that does not wait, only when all is compared', () => {
    const server = fixture()
    const items = [...MANY, itemOf('last', 'old')]
    const due = hold(server, items, 1)
    const passing = holdPoll(server, { items: MANY, waits: false }).answers
    server.turn(() => server.polls.tick(1_000))
    expect([due, passing]).toEqual([[], []])
    server.quiet()
    expect([due, passing]).toEqual([[['last']], [[]]])
  })

  test('names repeated items as often, in the order of the poll, also when they change meanwhile', () => {
    const server = fixture()
    const items = [itemOf('last', '', 'a'), ...MANY, itemOf(0, '', 'b'), itemOf('last', '', 'c')]
    const answers = hold(server, items)
    server.change('last', 'new')
    server.change(0, 'new')
    server.quiet()
    expect(answers).toEqual([['a', '0', 'b', 'c']])
  })

  test('is over when the server stops: each poll is answered once', () => {
    const server = fixture()
    const answers = hold(server, MANY)
    server.polls.answerAll()
    server.quiet()
    expect(answers).toEqual([[]])
  })

  test('that fails ends its poll or its listener, and no other one', async () => {
    const faults: unknown[] = []
    reportFaultsTo({ caught: (_, error) => void faults.push(error), fatal: ignored })
    const server = fixture()
    const [failing, other] = [
      hold(server, [...MANY, itemOf('broken')]),
      hold(server, [...MANY, itemOf('last', 'old')]),
    ]
    let ends = 0
    const listener = server.polls.join({ ip: '', changed: ignored, end: () => void ends++ })
    const listened = listener.listen([...MANY, itemOf('broken')])
    await expect(server.settle(listened as Promise<unknown>)).rejects.toThrow('broken')
    listener.compareAll()
    server.quiet()
    expect([failing, other, faults.length, ends]).toEqual([[[]], [['last']], 1, 0])
    reportFaultsTo(undefined)
  })
})

/** Labels that count how often a rule asks for one. */
class CountedLabels extends Map<string, string> {
  asked = 0

  override get(label: string): string | undefined {
    this.asked++
    return super.get(label)
  }
}

const BY = { ip: '', user: null }

function largestItem(value: string): GrayItem {
  const conditions = Array.from({ length: LOOK_LIMITS.conditions }, (_, index) => `l${index}=${value}`)
  const rule = checkedRule({ type: 'tagv2', version: '1.1.0', expr: conditions.join('||'), priority: 1 })
  const versions = Array.from({ length: LOOK_LIMITS.versions }, (_, index): GrayVersion => {
    const facts = { md5: '', size: 1, textId: '', type: undefined, encryptedDataKey: '', comment: '' }
    return {
      name: `v${index}`,
      rule,
      id: index,
      createdMs: 0,
      modifiedMs: 0,
      createdBy: BY,
      modifiedBy: BY,
      ...facts,
    }
  })
  return { key: keyOf('gray'), versions }
}

test('a look asks each condition of each version at most once, and no condition when it is repeated', () => {
  const labels = new CountedLabels(Array.from({ length: 200 }, (_, index) => [`l${index}`, 'c']))
  const who: Viewer = { ip: '', labels }
  const item = largestItem('b')
  expect(grayFor(item, who)).toBeUndefined()
  expect(labels.asked).toBe(LOOK_LIMITS.conditions * LOOK_LIMITS.versions)
  expect(grayFor(item, { ...who })).toBeUndefined()
  expect(labels.asked).toBe(LOOK_LIMITS.conditions * LOOK_LIMITS.versions)
  expect(grayFor(largestItem('c'), who)?.name).toBe('v0')
})
