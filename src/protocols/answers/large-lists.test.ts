import { beforeAll, describe, expect, test } from 'vitest'
import { address, at, deregistered, ORDERS, registered, WALL_MS } from '../../core/core.test-support.ts'
import { type LongText, wholeText } from '../../core/text/long-text.ts'
import { State } from '../../core/engine/state.ts'
import { InstanceListAnswers, type ListBody, type ListQuery } from './instance-list.ts'

const COUNT = 6_000
const ALL: ListQuery = {
  key: ORDERS,
  format: 'svc',
  clustersText: '',
  clusters: [],
  healthyOnly: false,
  consumerIp: undefined,
  cacheMillis: 3_000,
}

/** A loop whose turns the test takes. Its clock moves with every look, so that a slice is a few steps. */
class HandLoop {
  readonly turns: (() => void)[] = []
  #ms = 0
  readonly now = (): number => this.#ms++
  readonly soon = (run: () => void): void => void this.turns.push(run)

  /** Takes a turn; false if nobody waits for a turn. */
  turn(): boolean {
    const run = this.turns.shift()
    run?.()
    return run !== undefined
  }

  finish(): void {
    while (this.turn());
  }
}

function heavy(count: number, bytes: number, loop = new HandLoop()) {
  const state = new State(WALL_MS)
  for (let port = 1; port <= count; port++)
    registered(state, { address: address({ port }), metadata: { long: 'x'.repeat(bytes) } })
  return { state, loop, lists: new InstanceListAnswers(state, loop) }
}

function world(): { state: State; loop: HandLoop; lists: InstanceListAnswers } {
  const state = new State(WALL_MS)
  for (let port = 1; port <= COUNT; port++) registered(state, { address: address({ port }) })
  const loop = new HandLoop()
  return { state, loop, lists: new InstanceListAnswers(state, loop) }
}

const textOf = (body: ListBody | undefined): string => wholeText(body!).toString()
const viewOf = (body: ListBody | undefined) =>
  JSON.parse(textOf(body)) as { hosts: { port: number }[]; clusters: string }

describe('a large list', () => {
  let shared: ReturnType<typeof world>
  beforeAll(() => (shared = world()))

  test('is written over many turns, with the same text as at once', async () => {
    const { loop, state } = shared
    const lists = new InstanceListAnswers(state, loop)
    const answer = lists.answerInSlices(ALL)
    expect(answer).toBeInstanceOf(Promise)
    let turns = 0
    while (loop.turn()) turns++
    expect(turns).toBeGreaterThan(5)
    const atOnce = new InstanceListAnswers(state, loop).answer(ALL)
    expect(textOf(await answer) === textOf(atOnce)).toBe(true)
  })

  test('is kept: asked for again, it is there at once, also in other words', async () => {
    const { loop, lists } = shared
    const answer = lists.answerInSlices(ALL)
    loop.finish()
    await answer
    expect(lists.answerInSlices(ALL)).toHaveProperty('rest')
    expect(viewOf(lists.answerInSlices({ ...ALL, clustersText: ' ' }) as ListBody).clusters).toBe(' ')
  })

  test('shows the state at the time of the request, and is not kept after a change', async () => {
    const { state, loop, lists } = world()
    const answer = lists.answerInSlices(ALL)
    loop.turn()
    for (const port of [1, COUNT]) deregistered(state, { port }, at(1))
    const later = lists.answerInSlices(ALL)
    loop.finish()
    expect(viewOf(await answer).hosts).toHaveLength(COUNT)
    expect(viewOf(await later).hosts).toHaveLength(COUNT - 2)
    expect(viewOf(lists.answerInSlices(ALL) as ListBody).hosts).toHaveLength(COUNT - 2)
  })

  test('waits for the lists before it: each turn of the loop is one slice, however many are asked for', async () => {
    const { loop, lists } = world()
    const answers = [true, false].flatMap((healthyOnly) =>
      (['svc', 'grpc'] as const).map((format) => lists.answerInSlices({ ...ALL, format, healthyOnly })),
    )
    const unknown = lists.answerInSlices({ ...ALL, clusters: ['c0'], clustersText: 'c0' })
    let most = 0
    do most = Math.max(most, loop.turns.length)
    while (loop.turn())
    expect(most).toBe(1)
    for (const answer of answers) expect(viewOf(await answer).hosts).toHaveLength(COUNT)
    expect(viewOf(await unknown).hosts).toHaveLength(0)
  })

  test('of another service waits for one list, however many there are of the first service', async () => {
    const { state, loop, lists } = world()
    const other = { ...ORDERS, groupedName: 'DEFAULT_GROUP@@other' }
    for (let port = 1; port <= COUNT; port++)
      registered(state, { serviceKey: other, address: address({ port }) })
    const order: string[] = []
    const ask = (name: string, query: Partial<ListQuery>): void =>
      void Promise.resolve(lists.answerInSlices({ ...ALL, ...query })).then(() => order.push(name))
    for (const format of ['svc', 'grpc'] as const)
      for (const healthyOnly of [true, false]) ask('first', { format, healthyOnly })
    ask('other', { key: other })
    while (loop.turn()) for (let microtasks = 0; microtasks < 10; microtasks++) await Promise.resolve()
    expect(order).toEqual(['first', 'other', 'first', 'first', 'first'])
  })

  test('that waits shows the state when its turn comes', async () => {
    const { state, loop, lists } = world()
    const first = lists.answerInSlices(ALL)
    const second = lists.answerInSlices({ ...ALL, format: 'grpc' })
    loop.turn()
    deregistered(state, { port: 1 }, at(1))
    const third = lists.answerInSlices({ ...ALL, format: 'grpc' })
    loop.finish()
    expect(viewOf(await first).hosts).toHaveLength(COUNT)
    expect(viewOf(await second).hosts).toHaveLength(COUNT - 1)
    expect((await third) === (await second)).toBe(true)
    expect(lists.answerInSlices({ ...ALL, format: 'grpc' })).toBe(await second)
  })

  test('is written once for all who ask meanwhile, each in its own words', async () => {
    const { loop, lists } = world()
    const one = lists.answerInSlices(ALL)
    const other = lists.answerInSlices({ ...ALL, clustersText: ',' })
    expect(loop.turns).toHaveLength(1)
    loop.finish()
    expect(viewOf(await one).clusters).toBe('')
    expect(viewOf(await other).clusters).toBe(',')
  })
})

describe('a list of few instances with much metadata', () => {
  test('is written over many turns, about 64 KiB at once', async () => {
    const { loop, lists, state } = heavy(200, 8_000)
    const answer = lists.answerInSlices(ALL)
    let turns = 0
    while (loop.turn()) turns++
    expect(turns).toBeGreaterThan(4)
    const text = (await answer) as LongText
    expect(Math.max(...text.rest.map(({ length }) => length))).toBeLessThan(80_000)
    expect(textOf(text) === textOf(new InstanceListAnswers(state, loop).answer(ALL))).toBe(true)
  })

  test('is the same bytes for all who ask, in whatever words', async () => {
    const { loop, lists } = heavy(200, 8_000)
    const answers = [ALL, { ...ALL, clustersText: ',' }].map((query) => lists.answerInSlices(query))
    loop.finish()
    const later = lists.answerInSlices({ ...ALL, clustersText: ' ' })
    const [one, other, third] = (await Promise.all([...answers, later])) as LongText[]
    expect(other!.rest).toBe(one!.rest)
    expect(third!.rest).toBe(one!.rest)
    expect(other!.head.equals(one!.head)).toBe(false)
  })

  test('ends once it is longer than it may be, and is not begun again before a change', async () => {
    const { loop, lists, state } = heavy(1_600, 8_000)
    const grpc = { ...ALL, format: 'grpc' } as const
    const answers = [lists.answerInSlices(grpc), lists.answerInSlices({ ...grpc, clustersText: ',' })]
    let turns = 0
    while (loop.turn()) turns++
    for (const answer of answers) expect(await answer).toBeUndefined()
    expect(lists.answerInSlices(grpc)).toBeUndefined()
    expect(loop.turns).toEqual([])
    // Other formats may be longer.
    const svc = lists.answerInSlices(ALL)
    loop.finish()
    expect(viewOf(await svc).hosts).toHaveLength(1_600)
    for (let port = 1; port <= 400; port++) deregistered(state, { port }, at(1))
    const shorter = lists.answerInSlices(grpc)
    loop.finish()
    expect(viewOf(await shorter).hosts).toHaveLength(1_200)
  })

  test('is not written at all where it has to fit a datagram', () => {
    const { lists } = heavy(200, 8_000)
    expect(lists.answer(ALL, 1024 * 1024)).toBeUndefined()
  })
})
