import { createHash } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import {
  address,
  at,
  carryOut,
  deregistered,
  livingState,
  ORDERS,
  registered,
  swept,
  WALL_MS,
} from '../../core/core.test-support.ts'
import { wholeText } from '../../core/text/long-text.ts'
import { updateMetadata } from '../../core/naming/commands/metadata-commands.ts'
import { updateService } from '../../core/naming/commands/service-commands.ts'
import { setSwitch } from '../../core/operator/set-switch.ts'
import type { Loop } from '../../core/work/sliced-work.ts'
import { State } from '../../core/engine/state.ts'
import type { ListFormat } from './list-format.ts'
import { InstanceListAnswers, type ListBody, type ListQuery } from './instance-list.ts'

const ALL: ListQuery = {
  key: ORDERS,
  format: 'svc',
  clustersText: '',
  clusters: [],
  healthyOnly: false,
  consumerIp: undefined,
  cacheMillis: 3_000,
}

interface ListView {
  readonly clusters: string
  readonly cacheMillis: number
  readonly lastRefTime: number
  readonly checksum: string
  readonly reachProtectionThreshold: boolean
  readonly hosts: {
    readonly port: number
    readonly healthy: boolean
    readonly instanceHeartBeatInterval: number
  }[]
}

/** A loop whose turns nobody takes: small lists are written at once. */
const IDLE: Loop = { now: () => 0, soon: () => {} }

/** The answers of each state of a test. */
const ANSWERS = new WeakMap<State, InstanceListAnswers>()

function answerOf(state: State, other: Partial<ListQuery> = {}): ListBody {
  const answers = ANSWERS.get(state) ?? new InstanceListAnswers(state, IDLE)
  ANSWERS.set(state, answers)
  return answers.answer({ ...ALL, ...other })!
}

const textOf = (state: State, other: Partial<ListQuery> = {}) => wholeText(answerOf(state, other)).toString()
const viewOf = (state: State, other: Partial<ListQuery> = {}) => JSON.parse(textOf(state, other)) as ListView
const portsOf = (view: ListView) => view.hosts.map(({ port }) => port)
const unchanged = { protectThreshold: undefined, metadata: undefined, selector: undefined }

let state: State
beforeEach(() => void (state = new State(WALL_MS)))

test('every field is there, in this order, with all 14 of a host', () => {
  registered(state, { metadata: { a: '"1"' }, weight: 0.5 }, at(7))
  const host =
    '{"instanceId":"10.0.0.1#80#DEFAULT#DEFAULT_GROUP@@orders","ip":"10.0.0.1","port":80,"weight":0.5,"healthy":true,' +
    '"enabled":true,"ephemeral":true,"clusterName":"DEFAULT","serviceName":"DEFAULT_GROUP@@orders",' +
    '"metadata":{"a":"\\"1\\""},"instanceHeartBeatInterval":5000,"instanceHeartBeatTimeOut":15000,' +
    '"ipDeleteTimeout":30000,"instanceIdGenerator":"simple"}'
  const checksum = createHash('md5').update(host).digest('hex')
  expect(textOf(state, { clustersText: ' DEFAULT,' })).toBe(
    '{"name":"DEFAULT_GROUP@@orders","groupName":"DEFAULT_GROUP","clusters":" DEFAULT,","cacheMillis":3000,' +
      `"hosts":[${host}],"lastRefTime":${WALL_MS + 7},"checksum":"${checksum}",` +
      '"allIPs":false,"reachProtectionThreshold":false,"valid":true}',
  )
})

describe('in the formats of /nacos', () => {
  const grouped = 'G@@a"serviceName":"b'
  const key = { namespaceId: 'public', groupedName: grouped }
  const state = new State(WALL_MS)
  registered(state, { serviceKey: key, metadata: { serviceName: '"serviceName":"x"' } })
  const hosts = (format: ListFormat) => JSON.parse(textOf(state, { key, format }))

  test('a host and the list have the fields of svc and of 1.4', () => {
    const { hosts: plain, checksum: _, ...list } = hosts('svc')
    expect(hosts('nacos-grouped')).toEqual({
      ...list,
      checksum: expect.any(String),
      dom: grouped,
      useSpecifiedURL: false,
      env: '',
      metadata: {},
      hosts: [{ ...plain[0], valid: true, marked: false }],
    })
  })

  test('names are bare where clients want them so', () => {
    const { hosts: withGroup, dom: _dom, checksum: _checksum, ...list } = hosts('nacos-grouped')
    expect(hosts('nacos-bare')).toEqual({
      ...list,
      checksum: expect.any(String),
      dom: 'a"serviceName":"b',
      hosts: [{ ...withGroup[0], serviceName: 'a"serviceName":"b' }],
    })
  })

  test('each format is kept apart', () => {
    const formats: ListFormat[] = ['svc', 'nacos-grouped', 'nacos-bare']
    const first = formats.map((format) => answerOf(state, { key, format }))
    const second = formats.map((format) => answerOf(state, { key, format }))
    expect(new Set(first).size).toBe(3)
    expect(second).toEqual(first)
  })

  test('an instance that is called healthy under protection is valid', () => {
    const other = new State(WALL_MS)
    registered(other, { address: address({ port: 1 }) })
    registered(other, { address: address({ port: 2 }), healthy: false })
    const valid = () =>
      JSON.parse(textOf(other, { format: 'nacos-bare' })).hosts.map((host: { valid: boolean }) => host.valid)
    expect(valid()).toEqual([true, false])
    carryOut(other, updateService(ORDERS, { ...unchanged, protectThreshold: 0.5 }), at(0))
    expect(valid()).toEqual([true, true])
  })
})

describe('in the format of gRPC', () => {
  test('the list has the bare name of its service, no checksum, and nothing is null', () => {
    registered(state, { metadata: { a: '1' } })
    const { hosts, lastRefTime } = viewOf(state)
    const text = textOf(state, { format: 'grpc', clustersText: 'DEFAULT, ', cacheMillis: 10_000 })
    expect(JSON.parse(text)).toEqual({
      name: 'orders',
      groupName: 'DEFAULT_GROUP',
      clusters: 'DEFAULT, ',
      cacheMillis: 10_000,
      hosts,
      lastRefTime,
      checksum: '',
      allIps: false,
      allIPs: false,
      reachProtectionThreshold: false,
      valid: true,
    })
    expect(text).not.toContain('null')
  })

  test('an unknown service is an empty list without a checksum', () => {
    expect(viewOf(new State(WALL_MS), { format: 'grpc' })).toMatchObject({
      name: 'orders',
      hosts: [],
      checksum: '',
    })
  })
})

test('an unknown service is an empty list', () => {
  const view = viewOf(new State(WALL_MS))
  expect(view).toMatchObject({ hosts: [], lastRefTime: WALL_MS, reachProtectionThreshold: false })
  expect(view.checksum).toBe(createHash('md5').update('').digest('hex'))
})

test('a host has the timing of its metadata', () => {
  const metadata = {
    'preserved.heart.beat.interval': '1000',
    'preserved.heart.beat.timeout': '2000',
    'preserved.ip.delete.timeout': '3000',
    'preserved.instance.id.generator': 'snowflake',
  }
  registered(state, { metadata })
  expect(viewOf(state).hosts[0]).toMatchObject({
    instanceHeartBeatInterval: 1_000,
    instanceHeartBeatTimeOut: 2_000,
    ipDeleteTimeout: 3_000,
    instanceIdGenerator: 'simple',
  })
})

describe('a kept list', () => {
  test('answers equal queries, with the same bytes', () => {
    registered(state)
    expect(answerOf(state)).toBe(answerOf(state))
    expect(viewOf(state, { cacheMillis: 10_000 }).cacheMillis).toBe(10_000)
    expect(viewOf(state, { clustersText: ',', clusters: [] }).clusters).toBe(',')
    expect(viewOf(state).clusters).toBe('')
  })

  test('never answers another query', () => {
    registered(state, { address: address({ port: 1 }) })
    registered(state, { address: address({ port: 2, cluster: 'b' }), healthy: false })
    for (let round = 0; round < 2; round++) {
      expect(portsOf(viewOf(state))).toEqual([1, 2])
      expect(portsOf(viewOf(state, { healthyOnly: true }))).toEqual([1])
      expect(portsOf(viewOf(state, { clusters: ['b'], clustersText: 'b' }))).toEqual([2])
      expect(portsOf(viewOf(state, { clusters: ['b'], clustersText: 'b', healthyOnly: true }))).toEqual([])
      expect(portsOf(viewOf(state, { clusters: ['none'], clustersText: 'none' }))).toEqual([])
      expect(portsOf(viewOf(state, { clusters: ['b', 'DEFAULT'], clustersText: 'b,DEFAULT' }))).toEqual([
        1, 2,
      ])
    }
  })

  test('ends with each change, and lastRefTime moves on then and only then', () => {
    const state = livingState()
    registered(state)
    const before = viewOf(state)
    expect(viewOf(state, { healthyOnly: true }).lastRefTime).toBe(before.lastRefTime)
    registered(state, { weight: 2 })
    const after = viewOf(state)
    expect(after.lastRefTime).toBeGreaterThan(before.lastRefTime)
    expect(after.checksum).not.toBe(before.checksum)
    swept(state, 15_000)
    expect(viewOf(state).hosts[0]?.healthy).toBe(false)
    deregistered(state, {}, at(15_000))
    expect(viewOf(state)).toMatchObject({ hosts: [] })
  })

  test('ends when clientBeatInterval is set, also when a change comes between', () => {
    registered(state, { address: address({ port: 1 }) })
    viewOf(state)
    carryOut(state, setSwitch('clientBeatInterval', '7000', true), at(0))
    expect(viewOf(state).hosts[0]?.instanceHeartBeatInterval).toBe(7_000)
    carryOut(state, setSwitch('clientBeatInterval', '8000', true), at(0))
    registered(state, { address: address({ port: 2 }) })
    expect(viewOf(state).hosts.map((host) => host.instanceHeartBeatInterval)).toEqual([8_000, 8_000])
  })

  test('stays bounded however many sets of clusters are asked for', () => {
    // Answers of this size are buffers, which can be compared by identity.
    const metadata = { long: 'x'.repeat(17_000) }
    for (let turn = 0; turn < 40; turn++)
      registered(state, { address: address({ port: turn, cluster: `c${turn}` }), metadata })
    for (let turn = 0; turn < 40; turn++) {
      expect(portsOf(viewOf(state, { clusters: [`c${turn}`] }))).toEqual([turn])
    }
    const isKept = (turn: number) =>
      answerOf(state, { clusters: [`c${turn}`] }) === answerOf(state, { clusters: [`c${turn}`] })
    expect(Array.from({ length: 40 }, (_, turn) => isKept(turn))).toEqual([
      ...Array.from({ length: 32 }, () => true),
      ...Array.from({ length: 8 }, () => false),
    ])
  })
})

describe('in a service whose hosts are kept one by one', () => {
  const many = () => {
    const state = new State(WALL_MS)
    for (let port = 1; port <= 40; port++) registered(state, { address: address({ port }) })
    return state
  }
  /** The answer of a server that has kept nothing. */
  const freshText = (state: State) => wholeText(new InstanceListAnswers(state, IDLE).answer(ALL)!).toString()

  test('a list shows every change of a host and of the hosts there are', () => {
    const state = many()
    const batch = { serviceKey: ORDERS, consistencyType: undefined, maxBytes: 1_000 }
    const instances = [{ ...address({ port: 4 }), ephemeral: true }]
    const changes: ((ms: number) => unknown)[] = [
      () => registered(state, { address: address({ port: 2 }), weight: 9 }),
      (ms) => deregistered(state, { port: 3 }, at(ms)),
      (ms) => carryOut(state, updateMetadata({ ...batch, instances, keys: { a: '1' } }), at(ms)),
      () => registered(state, { address: address({ port: 5 }), healthy: false }),
      (ms) => deregistered(state, { port: 6 }, at(ms)),
      () => registered(state, { address: address({ port: 6 }), metadata: { again: '1' } }),
      (ms) => carryOut(state, setSwitch('clientBeatInterval', '7000', true), at(ms)),
      (ms) => deregistered(state, { port: 7 }, at(ms)),
    ]
    for (const [index, change] of changes.entries()) {
      const before = textOf(state)
      change(index)
      expect(textOf(state)).not.toBe(before)
      expect(textOf(state)).toBe(freshText(state))
      expect(textOf(state, { healthyOnly: true })).toBe(textOf(state, { healthyOnly: true }))
    }
  })

  test('protection is shown while it lasts', () => {
    const state = many()
    registered(state, { address: address({ port: 5 }), healthy: false })
    const healthy = () => viewOf(state).hosts.filter((host) => host.healthy).length
    expect(healthy()).toBe(39)
    carryOut(state, updateService(ORDERS, { ...unchanged, protectThreshold: 1 }), at(0))
    expect(healthy()).toBe(40)
    carryOut(state, updateService(ORDERS, { ...unchanged, protectThreshold: 0 }), at(0))
    expect(healthy()).toBe(39)
  })
})

test('a list that was forgotten for others in use is answered again', () => {
  const keys = ['a', 'b', 'c'].map((name) => ({ namespaceId: 'public', groupedName: `G@@${name}` }))
  for (const serviceKey of keys) registered(state, { serviceKey })
  const answers = new InstanceListAnswers(state, IDLE, 1)
  const texts = () => keys.map((key) => wholeText(answers.answer({ ...ALL, key })!).toString())
  expect(texts()).toEqual(texts())
})

test('under protection all are called healthy, and are themselves again after it', () => {
  registered(state, { address: address({ port: 1 }) })
  registered(state, { address: address({ port: 2 }), healthy: false })
  carryOut(state, updateService(ORDERS, { ...unchanged, protectThreshold: 0.5 }), at(0))
  for (const healthyOnly of [true, false]) {
    const view = viewOf(state, { healthyOnly })
    expect(view.reachProtectionThreshold).toBe(true)
    expect(view.hosts.map(({ healthy }) => healthy)).toEqual([true, true])
  }
  carryOut(state, updateService(ORDERS, { ...unchanged, protectThreshold: 0.4 }), at(0))
  expect(viewOf(state).hosts.map(({ healthy }) => healthy)).toEqual([true, false])
})

test('a selector by label is read for each consumer', () => {
  registered(state, { address: address({ ip: '10.0.0.1', port: 1 }), metadata: { zone: 'a' } })
  registered(state, { address: address({ ip: '10.0.0.2', port: 2 }), metadata: { zone: 'b' } })
  const selector = { type: 'label', expression: 'CONSUMER.label.zone = PROVIDER.label.zone' } as const
  carryOut(state, updateService(ORDERS, { ...unchanged, selector }), at(0))
  expect(portsOf(viewOf(state, { consumerIp: '10.0.0.1' }))).toEqual([1])
  expect(portsOf(viewOf(state, { consumerIp: '10.0.0.2' }))).toEqual([2])
  expect(portsOf(viewOf(state))).toEqual([1, 2])
})
