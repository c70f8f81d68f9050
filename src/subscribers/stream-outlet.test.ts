import { beforeEach, expect, test } from 'vitest'
import type { Change } from '../core/decisions/changes.ts'
import { ServiceWatch } from './service-watch.ts'
import type { StreamClient } from '../core/clients/stream-client.ts'
import { StreamOutlet } from './stream-outlet.ts'
import { STREAM_LIMITS, type StreamLimits, type SubscriptionRequest } from './stream-registry.ts'

const GREETED_MS = 500
const PUSHED_MS = 5
const RETRIED_MS = 1_000

/** A client that notes its pushes; each waits until the test acknowledges it or gives it up. */
class NotingClient implements StreamClient {
  readonly address = '10.0.0.1'
  readonly port = 5_000
  readonly agent = 'Nacos-Java-Client:v3.0.3'
  readonly app = 'shop'
  readonly lists: string[] = []
  readonly id: string
  readonly consumerIp: string
  readonly #onEnd: (() => void)[] = []
  readonly #unacked: ((acknowledged: boolean) => void)[] = []
  isQuick: boolean
  /** Whether the server has ended its connection. */
  hasEnded = false
  readonly end = (): void => void (this.hasEnded = true)

  constructor(id: string, { isQuick = true, consumerIp = '10.0.0.1' } = {}) {
    this.id = id
    this.isQuick = isQuick
    this.consumerIp = consumerIp
  }

  push(list: Buffer | string): Promise<boolean> {
    this.lists.push(list.toString())
    if (this.isQuick) return Promise.resolve(true)
    return new Promise((resolve) => this.#unacked.push(resolve))
  }

  onEnd(ended: () => void): void {
    this.#onEnd.push(ended)
  }

  leave(): void {
    for (const ended of this.#onEnd.splice(0)) ended()
  }

  /** How many callbacks wait for the end. */
  get watchedBy(): number {
    return this.#onEnd.length
  }

  /** Acknowledges the oldest push, or lets its time end. */
  async answer(acknowledged: boolean): Promise<void> {
    this.#unacked.shift()?.(acknowledged)
    await settled()
  }

  get unacked(): number {
    return this.#unacked.length
  }
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

/** The list of a service whose list is longer than clients take. */
const TOO_LONG = 'too long'

/** A server in miniature: the list of each service is a text; clock, timers and loop are moved by hand. */
function fixture(limits: Partial<StreamLimits> = {}) {
  const lists = new Map<string, string>()
  const clock = { nowMs: 0 }
  const timers: { atMs: number; run: () => void }[] = []
  const waiting: (() => void)[] = []
  const server = { enabled: true, made: 0, tooLarge: [] as string[] }
  /** Lists that are made later: the test says when, or that they cannot be made. */
  const later = { is: false, make: [] as { done: () => void; fail: (error: Error) => void }[] }
  const loop = {
    now: () => clock.nowMs,
    soon: (run: () => void) => void waiting.push(run),
    after: (ms: number, run: () => void) => void timers.push({ atMs: clock.nowMs + ms, run }),
  }
  const streams = new StreamOutlet({
    listOf: ({ key, clusters, consumerIp = '' }) => {
      server.made++
      const text = lists.get(key.groupedName) ?? ''
      const list = text === TOO_LONG ? undefined : `${clusters}|${text}${consumerIp}`
      if (!later.is) return list
      return new Promise((resolve, reject) => later.make.push({ done: () => resolve(list), fail: reject }))
    },
    isPersonal: (key) => key.groupedName === 'g@@selected',
    loop,
    enabled: () => server.enabled,
    onTooLarge: ({ groupedName }) => void server.tooLarge.push(groupedName),
    limits: { ...STREAM_LIMITS, ...limits },
  })
  const watch = new ServiceWatch({ loop })
  watch.add(streams)
  const runAll = async () => {
    for (let run = waiting.shift(); run !== undefined; run = waiting.shift()) {
      run()
      await settled()
    }
  }
  const pass = async (ms: number) => {
    clock.nowMs += ms
    for (const timer of timers.splice(0)) {
      if (timer.atMs <= clock.nowMs) timer.run()
      else timers.push(timer)
    }
    await runAll()
  }
  const change = (list: string, service = 'g@@s') => {
    lists.set(service, list)
    watch.onChange(changeOf(service))
  }
  return { streams, server, later, clock, pass, change }
}

function changeOf(groupedName: string): Change {
  return { kind: 'instance-health-changed', serviceKey: { namespaceId: 'public', groupedName } } as Change
}

function wanting(
  client: StreamClient,
  more: Partial<SubscriptionRequest> & { service?: string } = {},
): SubscriptionRequest {
  const { service = 'g@@s', ...others } = more
  return { client, key: { namespaceId: 'public', groupedName: service }, clusters: '', ...others }
}

/** Lets new subscribers have their first push, and forgets it. */
async function greeted({ pass }: ReturnType<typeof fixture>, ...clients: NotingClient[]): Promise<void> {
  await pass(GREETED_MS)
  for (const client of clients) {
    while (client.unacked > 0) await client.answer(true)
    client.lists.length = 0
  }
}

let at: ReturnType<typeof fixture>
beforeEach(() => void (at = fixture()))

test('a change reaches the subscribers of its service, and no others', async () => {
  const [one, other, elsewhere] = [new NotingClient('1'), new NotingClient('2'), new NotingClient('3')]
  at.streams.subscribe(wanting(one, { clusters: 'b,a' }))
  at.streams.subscribe(wanting(other, { service: 'g@@other' }))
  at.streams.subscribe(wanting(elsewhere, { key: { namespaceId: 'dev', groupedName: 'g@@s' } }))
  await greeted(at, one, other, elsewhere)
  at.change('now')
  await at.pass(PUSHED_MS)
  expect([one.lists, other.lists, elsewhere.lists]).toEqual([['b,a|now'], [], []])
})

test('a new subscriber gets a push besides its answer, unless a change came first', async () => {
  const client = new NotingClient('1')
  at.change('before')
  at.streams.subscribe(wanting(client))
  await at.pass(GREETED_MS - 1)
  expect(client.lists).toEqual([])
  await at.pass(1)
  expect(client.lists).toEqual(['|before'])
  const later = new NotingClient('2')
  at.streams.subscribe(wanting(later))
  at.change('after')
  await at.pass(PUSHED_MS)
  await at.pass(GREETED_MS)
  expect(later.lists).toEqual(['|after'])
})

test('of 500 changes while a push is not acknowledged, one push brings the last', async () => {
  const client = new NotingClient('1', { isQuick: false })
  at.streams.subscribe(wanting(client))
  await greeted(at, client)
  for (let count = 1; count <= 500; count++) {
    at.change(String(count))
    await at.pass(PUSHED_MS)
  }
  expect(client.lists).toEqual(['|1'])
  await client.answer(true)
  await at.pass(0)
  expect(client.lists).toEqual(['|1', '|500'])
  await client.answer(true)
  await at.pass(10_000)
  expect(client.lists).toHaveLength(2)
})

test('a client that does not acknowledge delays no other', async () => {
  const [slow, quick] = [new NotingClient('1', { isQuick: false }), new NotingClient('2')]
  at.streams.subscribe(wanting(slow))
  at.streams.subscribe(wanting(quick))
  await greeted(at, slow, quick)
  for (const list of ['a', 'b', 'c']) {
    at.change(list)
    await at.pass(PUSHED_MS)
  }
  expect(slow.lists).toEqual(['|a'])
  expect(quick.lists).toEqual(['|a', '|b', '|c'])
})

test('a push without an ack is sent again after a second, with the state of that moment', async () => {
  const client = new NotingClient('1', { isQuick: false })
  at.streams.subscribe(wanting(client))
  await greeted(at, client)
  at.change('first')
  await at.pass(PUSHED_MS)
  await client.answer(false)
  at.change('second')
  await at.pass(RETRIED_MS)
  expect(client.lists).toEqual(['|first', '|second'])
  expect(at.streams.counts()).toMatchObject({ sent: 3, acked: 1, failed: 1 })
})

test('a client that never acknowledges is left alone after ten pushes, until the next change', async () => {
  const client = new NotingClient('1', { isQuick: false })
  at.streams.subscribe(wanting(client))
  for (let count = 0; count < 20; count++) {
    await at.pass(RETRIED_MS)
    await client.answer(false)
  }
  expect(client.lists).toHaveLength(10)
  at.change('later')
  await at.pass(PUSHED_MS)
  await client.answer(true)
  await at.pass(60_000)
  expect(client.lists.slice(10)).toEqual(['|later'])
})

test('after unsubscribing, and after the end of its connection, a client gets nothing', async () => {
  const [first, second] = [new NotingClient('1'), new NotingClient('2', { isQuick: false })]
  at.streams.subscribe(wanting(first))
  at.streams.subscribe(wanting(first, { clusters: 'a' }))
  at.streams.subscribe(wanting(second))
  await greeted(at, first, second)
  at.streams.unsubscribe(wanting(first))
  at.change('one')
  await at.pass(PUSHED_MS)
  expect([first.lists, second.lists]).toEqual([['a|one'], ['|one']])
  first.leave()
  second.leave()
  await second.answer(false)
  at.change('two')
  await at.pass(RETRIED_MS)
  expect([first.lists.length, second.lists.length]).toEqual([1, 1])
  expect(at.streams.counts().subscribers).toBe(0)
  expect(at.streams.list({ namespaceId: 'public', groupedName: 'g@@s' })).toEqual([])
})

test('a client that may no longer read the service gets no pushes', async () => {
  const client = new NotingClient('1')
  let isAllowed = true
  at.streams.subscribe(wanting(client, { isAllowed: () => isAllowed }))
  await greeted(at, client)
  isAllowed = false
  at.change('secret')
  await at.pass(PUSHED_MS)
  expect(client.lists).toEqual([])
  isAllowed = true
  at.change('open')
  await at.pass(PUSHED_MS)
  expect(client.lists).toEqual(['|open'])
})

test('changes while pushes are switched off are pushed when they are on again', async () => {
  const client = new NotingClient('1')
  at.streams.subscribe(wanting(client))
  await greeted(at, client)
  at.server.enabled = false
  at.change('one')
  await at.pass(PUSHED_MS)
  at.streams.tick()
  await at.pass(1_000)
  expect(client.lists).toEqual([])
  at.server.enabled = true
  at.streams.tick()
  await at.pass(0)
  expect(client.lists).toEqual(['|one'])
})

test('with a label selector, each subscriber gets its own list', async () => {
  const clients = ['10.0.0.8', '10.0.0.9'].map((consumerIp) => new NotingClient(consumerIp, { consumerIp }))
  for (const client of clients) at.streams.subscribe(wanting(client, { service: 'g@@selected' }))
  await greeted(at, ...clients)
  at.change('for ', 'g@@selected')
  await at.pass(PUSHED_MS)
  expect(clients.map(({ lists }) => lists)).toEqual([['|for 10.0.0.8'], ['|for 10.0.0.9']])
})

test('large lists go to a client one after the other', async () => {
  const client = new NotingClient('1', { isQuick: false })
  const services = Array.from({ length: 10 }, (_, index) => `g@@s${index}`)
  for (const service of services) at.streams.subscribe(wanting(client, { service }))
  await greeted(at, client)
  for (const service of services) at.change('x'.repeat(100_000), service)
  await at.pass(PUSHED_MS)
  expect(client.unacked).toBe(2)
  for (let count = 0; count < 10; count++) {
    await client.answer(true)
    await at.pass(0)
    expect(client.unacked).toBeLessThanOrEqual(2)
  }
  expect(client.lists).toHaveLength(10)
})

test('a list that takes long to make is sent once it is made, and then the changes meanwhile', async () => {
  const client = new NotingClient('1')
  at.streams.subscribe(wanting(client))
  await greeted(at, client)
  at.later.is = true
  at.change('one')
  await at.pass(PUSHED_MS)
  at.change('two')
  await at.pass(PUSHED_MS)
  expect([client.lists, at.later.make.length]).toEqual([[], 1])
  at.later.is = false
  at.later.make[0]!.done()
  await settled()
  await at.pass(0)
  expect(client.lists).toEqual(['|one', '|two'])
})

test('a list that could not be made is made again after a second', async () => {
  const client = new NotingClient('1')
  at.streams.subscribe(wanting(client))
  await greeted(at, client)
  at.later.is = true
  at.change('one')
  await at.pass(PUSHED_MS)
  at.later.is = false
  at.later.make[0]!.fail(new Error('no'))
  await settled()
  await at.pass(RETRIED_MS)
  expect(client.lists).toEqual(['|one'])
})

test.each([false, true])(
  'a list that no client takes is not sent, and the next one is (later: %s)',
  async (isLater) => {
    const client = new NotingClient('1')
    at.streams.subscribe(wanting(client))
    await greeted(at, client)
    at.later.is = isLater
    at.change(TOO_LONG)
    await at.pass(PUSHED_MS)
    at.later.make.forEach(({ done }) => done())
    at.later.is = false
    await at.pass(RETRIED_MS)
    expect([client.lists.length, at.streams.counts().tooLarge]).toEqual([0, 1])
    expect(at.server.tooLarge).toEqual(['g@@s'])
    at.change('short')
    await at.pass(PUSHED_MS)
    expect(client.lists).toEqual(['|short'])
  },
)

test.each([
  [{ ofConnection: 2 }, 'This connection has 2 subscriptions'],
  [{ inAll: 2 }, 'There are 2 subscriptions'],
])(
  'beyond the limits %j a subscription is refused, and those that are there stay',
  async (limits, message) => {
    const at = fixture(limits)
    const client = new NotingClient('1')
    at.streams.subscribe(wanting(client))
    at.streams.subscribe(wanting(client, { service: 'g@@other' }))
    at.streams.subscribe(wanting(client))
    expect(() => at.streams.subscribe(wanting(client, { service: 'g@@third' }))).toThrow(
      expect.objectContaining({ code: 'too-many-subscriptions', message: expect.stringContaining(message) }),
    )
    at.streams.unsubscribe(wanting(client))
    at.streams.subscribe(wanting(client, { service: 'g@@third' }))
    expect(at.streams.counts().subscribers).toBe(2)
  },
)

test('a client that subscribes again and again is watched once', () => {
  const client = new NotingClient('1')
  for (let count = 0; count < 100; count++) {
    at.streams.subscribe(wanting(client))
    at.streams.unsubscribe(wanting(client))
  }
  expect(client.watchedBy).toBe(1)
})

test('spellings of clusters of a service are limited', () => {
  const at = fixture({ variantsOfService: 2 })
  const client = new NotingClient('1')
  at.streams.subscribe(wanting(client, { clusters: 'a' }))
  at.streams.subscribe(wanting(client, { clusters: 'b' }))
  expect(() => at.streams.subscribe(wanting(client, { clusters: 'c' }))).toThrow(/2 spellings of clusters/)
})

test('subscribers are listed with their own facts', () => {
  at.streams.subscribe(wanting(new NotingClient('1'), { clusters: 'a,b' }))
  const facts = {
    address: '10.0.0.1',
    port: 5_000,
    toldIp: '10.0.0.1',
    agent: 'Nacos-Java-Client:v3.0.3',
    app: 'shop',
  }
  const named = { clusters: 'a,b', namespaceId: 'public', groupedName: 'g@@s' }
  expect(at.streams.list({ namespaceId: 'public', groupedName: 'g@@s' })).toEqual([{ ...facts, ...named }])
})
