import { beforeEach, describe, expect, test } from 'vitest'
import { createUser, removeUser } from '../access/access-commands.ts'
import { SESSION, USER } from '../access/access-records.ts'
import { beginSession } from '../access/session-commands.ts'
import { configKey } from '../config/state/config-item.ts'
import { deleteConfig, publishConfig } from '../config/commands/publish-config.ts'
import { at, microtasks, ORDERS, publishing, registration, watched, address } from '../core.test-support.ts'
import type { Command } from '../decisions/decision.ts'
import { Follower } from './follower.ts'
import { ModelAccess } from './model-access.test-support.ts'
import { ModelStore } from './model-store.test-support.ts'
import { deregisterInstance, modifyInstance } from '../naming/commands/instance-commands.ts'
import { registerInstance } from '../naming/commands/register-instance.ts'
import { SharedEngine } from './shared-engine.ts'
import { Stamps } from '../decisions/stamps.ts'
import { SharedFollower } from './shared-follower.ts'
import { State } from './state.ts'

/** A server on the model store. */
class Server {
  readonly state = new State(at(0).wallMs)
  readonly access: ModelAccess
  readonly engine: SharedEngine
  readonly reports: string[] = []
  nowMs = 0
  #deferred: (() => void)[] = []

  constructor(store: ModelStore) {
    this.access = new ModelAccess(store)
    const stamps = new Stamps()
    const clock = () => ({ ...at(0), stamp: stamps.next(at(0).wallMs) })
    const follower = new Follower(this.state, { clock, stamps, feed: { publishChanges: () => {} } })
    const shared = new SharedFollower(follower, stamps)
    this.access.follow({ applied: (commit) => shared.applied(commit), reloaded: () => {} })
    this.engine = new SharedEngine({
      follower,
      store: this.access,
      clock,
      loop: { now: () => this.nowMs, soon: (run) => this.#deferred.push(run) },
      report: (_error, what) => this.reports.push(what),
    })
  }

  contentOf(dataId: string): string | undefined {
    return this.state.config(configKey('public', 'G', dataId))?.content.toString()
  }

  execute<T>(command: Command<T>) {
    return watched(this.engine.execute(command))
  }

  /** Decides and sends the waiting commands. */
  async send(): Promise<void> {
    while (this.#deferred.length > 0) {
      const deferred = this.#deferred
      this.#deferred = []
      for (const run of deferred) run()
      await microtasks()
    }
  }

  /** Everything that waits is sent, written, delivered and answered. */
  async settle(): Promise<void> {
    await this.send()
    while (this.access.underway > 0 || this.access.lag > 0) {
      this.access.arrive()
      this.access.deliver()
      await microtasks()
      await this.send()
    }
  }
}

let store: ModelStore
let one: Server
let two: Server
beforeEach(() => {
  store = new ModelStore()
  one = new Server(store)
  two = new Server(store)
})

const publish = (content: string, other = {}) => publishConfig(publishing(content, other))
const theItem = configKey('public', 'G', 'a')
const remove = () => deleteConfig(theItem, { ip: '10.9.9.9', user: null })

test('a command is answered when the server knows its revision', async () => {
  const outcome = one.execute(publish('x'))
  await one.send()
  one.access.arrive()
  await microtasks()
  expect(outcome).toEqual({ waits: true })
  one.access.deliver()
  await microtasks()
  expect(one.contentOf('a')).toBe('x')
  expect(outcome).toEqual({ value: true, waits: false })
})

test('every server is notified of it', async () => {
  one.execute(publish('x'))
  await one.settle()
  expect(two.contentOf('a')).toBeUndefined()
  await two.settle()
  expect(two.contentOf('a')).toBe('x')
})

describe('a decision on a state that has changed meanwhile', () => {
  test('is made again: of two compare-and-sets of one version, one fails', async () => {
    one.execute(publish('first'))
    await one.settle()
    await two.settle()
    const casMd5 = 'md5 of first'
    const a = one.execute(publish('from one', { casMd5 }))
    const b = two.execute(publish('from two', { casMd5 }))
    await Promise.all([one.send(), two.send()])
    one.access.arrive()
    two.access.arrive()
    await Promise.all([one.settle(), two.settle()])
    expect(a.value).toBe(true)
    expect(b.error).toMatchObject({ code: 'config-changed' })
    expect([one.contentOf('a'), two.contentOf('a')]).toEqual(['from one', 'from one'])
    expect(two.engine.counts.conflicts).toBe(1)
  })

  test('is made again: two new items of one name have one creation', async () => {
    const outcomes = [one.execute(publish('1')), two.execute(publish('2'))]
    await Promise.all([one.send(), two.send()])
    await one.settle()
    await two.settle()
    expect(outcomes.map(({ value }) => value)).toEqual([true, true])
    const ops = store.commits.flatMap(({ changes }) => changes.map((change) => 'op' in change && change.op))
    expect(ops).toEqual(['I', 'U'])
  })

  test('concerns only its own unit', async () => {
    one.execute(publish('x'))
    await one.settle()
    const stale = two.execute(publish('y'))
    const other = two.execute(publish('z', { key: configKey('public', 'G', 'b') }))
    await two.send()
    two.access.arrive()
    while (two.access.lag > 0) two.access.deliver()
    await microtasks()
    expect(other.value).toBe(true)
    expect(stale.waits).toBe(true)
    await two.settle()
    expect(stale.value).toBe(true)
  })
})

describe('a negative answer', () => {
  test('is confirmed by the store: a server that lags does not say that an item is not there', async () => {
    one.execute(publish('x'))
    await one.settle()
    const outcome = two.execute(remove())
    await two.settle()
    expect(outcome.value).toBe(true)
    expect(two.contentOf('a')).toBeUndefined()
    expect(store.commits).toHaveLength(2)
  })

  test('writes nothing', async () => {
    const outcome = one.execute(remove())
    await one.settle()
    expect(outcome.value).toBe(true)
    expect(store.commits).toEqual([])
  })
})

test('commands of one subject are one unit, decided in their order', async () => {
  const outcomes = ['1', '2', '3'].map((content) => one.execute(publish(content)))
  await one.send()
  expect(one.access.underway).toBe(1)
  await one.settle()
  expect(outcomes.map(({ value }) => value)).toEqual([true, true, true])
  expect(store.commits).toHaveLength(1)
  expect(store.commits[0]?.changes).toHaveLength(3)
})

test('more changes than a unit may have are several units', async () => {
  const places = Array.from({ length: 50 }, (_, index) => address({ port: index + 1 }))
  for (const place of places) one.execute(registerInstance(registration({ address: place })))
  await one.settle()
  expect(one.state.instanceCount(ORDERS)).toBe(50)
  expect(Math.max(...store.commits.map(({ changes }) => changes.length))).toBeLessThanOrEqual(20)
})

test('a service is made once by registrations at two servers', async () => {
  one.execute(registerInstance(registration()))
  two.execute(registerInstance(registration({ address: address({ port: 81 }) })))
  await Promise.all([one.send(), two.send()])
  await one.settle()
  await two.settle()
  await one.settle()
  const kinds = store.commits.flatMap(({ changes }) => changes.map(({ kind }) => kind))
  expect(kinds).toEqual(['service-saved', 'instance-saved', 'instance-saved'])
  expect([one, two].map(({ state }) => state.instanceCount(ORDERS))).toEqual([2, 2])
})

describe('a store that cannot be reached', () => {
  test('refuses changes and negative answers', async () => {
    one.access.fault = 'unavailable'
    const outcomes = [one.execute(publish('x')), two.execute(publish('y')), one.execute(remove())]
    one.nowMs = 1_500
    await one.settle()
    await two.settle()
    expect(outcomes.map(({ error }) => (error as { code?: string } | undefined)?.code)).toEqual([
      'store-unavailable',
      undefined,
      'store-unavailable',
    ])
    expect(store.commits).toHaveLength(1)
  })

  test('may have written a change without an answer: the feed brings it', async () => {
    one.access.fault = 'lost'
    const outcome = one.execute(publish('x'))
    await one.settle()
    expect(outcome.error).toMatchObject({ code: 'store-unavailable' })
    expect(one.contentOf('a')).toBe('x')
  })
})

describe('a change that nobody waits for', () => {
  const health = (healthy: boolean) => ({
    kind: 'instance-health-changed' as const,
    serviceKey: ORDERS,
    address: address(),
    serial: 1,
    healthy,
    stamp: at(0).stamp,
  })

  test('is made where the instance is as it was', async () => {
    one.execute(registerInstance(registration()))
    await one.settle()
    one.engine.applyBehind([health(false)])
    await one.settle()
    expect(one.state.instance(ORDERS, address())?.healthy).toBe(false)
  })

  test('is not made where the instance has changed or left', async () => {
    one.execute(registerInstance(registration()))
    await one.settle()
    await two.settle()
    two.execute(registerInstance(registration({ weight: 2 })))
    await two.settle()
    one.engine.applyBehind([health(false)])
    await one.settle()
    expect(one.state.instance(ORDERS, address())?.healthy).toBe(true)
    one.engine.applyBehind([health(false)])
    one.execute(deregisterInstance({ serviceKey: ORDERS, address: address(), ephemeral: undefined }))
    await one.settle()
    expect(one.state.instanceCount(ORDERS)).toBe(0)
    expect(one.reports).toEqual([])
  })
})

test('a closed engine takes no commands, and has answered the earlier ones', async () => {
  const outcome = one.execute(publish('x'))
  const closed = watched(one.engine.close())
  const late = one.execute(publish('y'))
  await one.settle()
  expect(outcome.value).toBe(true)
  expect(closed.waits).toBe(false)
  expect(late.error).toMatchObject({ code: 'stopping' })
})

describe('commands that are decided together', () => {
  test('make an instance that is registered and changed in one revision known everywhere', async () => {
    one.execute(registerInstance(registration()))
    const target = { serviceKey: ORDERS, address: address(), ephemeral: undefined }
    const patch = { weight: 2, enabled: undefined, metadata: undefined, maxMetadataBytes: 1_000 }
    one.execute(modifyInstance(target, patch))
    await one.settle()
    await two.settle()
    expect(store.commits).toHaveLength(1)
    expect(two.state.instance(ORDERS, address())?.record.weight).toBe(2)
  })

  test('do not change in one commit a thing that another one has read', async () => {
    one.execute(createUser({ username: 'ann', passwordHash: 'hash' }))
    await one.settle()
    const { credentialStamp } = one.state.record(USER, 'ann')!
    one.execute(beginSession({ id: 's', username: 'ann', credentialStamp }))
    one.execute(removeUser('ann'))
    await one.settle()
    expect(one.state.record(SESSION, 's')).toBeUndefined()
  })
})

test.each([
  [1, 10],
  [16 * 1024, 10],
  [128 * 1024, 4],
  [2 * 1024 * 1024, 1],
])('a command may change fewer things if each has up to %i bytes: %i', (mostBytesOfOne, most) => {
  const { state, access } = one
  const clock = () => at(0)
  const feed = { publishChanges: () => {} }
  const engine = new SharedEngine({
    follower: new Follower(state, { clock, stamps: new Stamps(), feed }),
    store: access,
    clock,
    loop: { now: () => 0, soon: () => {} },
    report: () => {},
    mostBytesOfOne,
  })
  expect(engine.mostAtOnce).toBe(most)
})
