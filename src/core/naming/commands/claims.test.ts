import { beforeEach, describe, expect, test } from 'vitest'
import {
  address,
  at,
  carryOut,
  livenessOf,
  livingState,
  ORDERS,
  registered,
  swept,
} from '../../core.test-support.ts'
import type { Change } from '../../decisions/changes.ts'
import type { State } from '../../engine/state.ts'
import { connectionPublisher, movedPublisher } from '../state/connection-publisher.ts'
import { BEATS, isSamePublisher, OPERATOR, type Publisher } from '../state/instance.ts'
import { beat } from '../liveness/beat.ts'
import { orphansLeave } from '../liveness/connection-processes.ts'
import { deregisterInstance, modifyInstance } from './instance-commands.ts'
import type { RegisterInstance } from './register-instance.ts'
import { replaceInstances } from './replace-instances.ts'

const SELF = 'here'
const [ONE, TWO, THREE] = ['1', '2', '3'].map((connectionId) =>
  connectionPublisher({ process: SELF, connectionId }),
) as [Publisher, Publisher, Publisher]
const OTHER = connectionPublisher({ process: 'gone', connectionId: '1' })

let state: State
beforeEach(() => {
  state = livingState(SELF)
})

function registers(publisher: Publisher, other: Partial<RegisterInstance> = {}, ms = 0): void {
  const isHttp = publisher.kind !== 'connection'
  const ephemeral = publisher.kind !== 'operator'
  registered(state, { ...(isHttp ? {} : { publisher }), ephemeral, ...other }, at(ms))
}

function leaves(publisher: Publisher, ms = 0): readonly Change[] {
  if (publisher.kind !== 'connection')
    return carried(
      deregisterInstance({ serviceKey: ORDERS, address: address(), ephemeral: undefined }, () => 'kept'),
      ms,
    )
  const replacement = { instances: [], leaving: [address()], takesOver: true, isGoodbye: true }
  return carried(replaceInstances({ serviceKey: ORDERS, publisher, ...replacement }), ms)
}

function carried(command: Parameters<typeof carryOut>[1], ms: number): readonly Change[] {
  const { changes } = command.decide(state, at(ms))
  state.apply(changes, at(ms))
  return changes
}

function owner(): Publisher | undefined {
  return state.instance(ORDERS, address())?.record.publisher
}

function waiting(): readonly Publisher[] {
  return state.instance(ORDERS, address())?.record.claims?.map(({ publisher }) => publisher) ?? []
}

describe('an address that several publish', () => {
  const kinds = { 'a connection': ONE, HTTP: BEATS, 'a persistent registration': OPERATOR }
  for (const [first, older] of Object.entries(kinds))
    for (const [second, newer] of Object.entries(kinds)) {
      if (older.kind !== 'connection' && newer.kind !== 'connection') continue
      test(`goes back from ${second} to ${first} in one change, as it was registered`, () => {
        registers(older, { weight: 3, metadata: { zone: 'a' }, enabled: false, app: 'x' })
        registers(older === newer ? TWO : newer, { weight: 7 })
        expect(owner()).toEqual(older === newer ? TWO : newer)
        const changes = leaves(older === newer ? TWO : newer)
        expect(changes).toMatchObject([{ kind: 'instance-saved', beat: false }])
        const { record, metadata, healthy } = state.instance(ORDERS, address())!
        expect(record).toMatchObject({ publisher: older, weight: 3, enabled: false, app: 'x' })
        expect([record.ephemeral, metadata, healthy]).toEqual([older !== OPERATOR, { zone: 'a' }, true])
        expect('claims' in record).toBe(false)
        leaves(older)
        expect(owner()).toBeUndefined()
      })
    }

  test('goes to the claim that was displaced last, and is nowhere twice', () => {
    for (const publisher of [ONE, BEATS, TWO, THREE, ONE]) registers(publisher)
    expect([owner(), waiting()]).toEqual([ONE, [THREE, TWO, BEATS]])
    leaves(TWO)
    expect([owner(), waiting()]).toEqual([ONE, [THREE, BEATS]])
    leaves(ONE)
    expect([owner(), waiting()]).toEqual([THREE, [BEATS]])
    leaves(BEATS)
    expect([owner(), waiting()]).toEqual([THREE, []])
  })

  test('is one address of HTTP, whichever kind: the last registration counts', () => {
    registers(BEATS)
    registers(OPERATOR)
    expect([owner(), waiting()]).toEqual([OPERATOR, []])
    registers(ONE)
    registers(BEATS)
    expect([owner(), waiting()]).toEqual([BEATS, [ONE]])
  })

  test('has a claim of no publisher that is known to have left, and of no imported instance', () => {
    registers(OTHER)
    registers(ONE, { isGone: (other) => isSamePublisher(other, OTHER) })
    expect(waiting()).toEqual([])
    registers(movedPublisher('importer'))
    registers(ONE)
    expect(waiting()).toEqual([])
  })

  test('has at most four claims, and 16 KiB of their metadata', () => {
    for (let id = 0; id < 9; id++) registers(connectionPublisher({ process: SELF, connectionId: `c${id}` }))
    expect(waiting()).toHaveLength(4)
    const metadata = { large: 'x'.repeat(8_000) }
    for (let id = 0; id < 5; id++)
      registers(connectionPublisher({ process: SELF, connectionId: `d${id}` }), { metadata })
    expect(waiting()).toHaveLength(2)
  })

  test.for(['', 'x'.repeat(8_000)])('keeps the claim of HTTP before those of connections', (large) => {
    registers(BEATS, { weight: 3 })
    const many = Array.from({ length: 7 }, (_, id) =>
      connectionPublisher({ process: SELF, connectionId: `c${id}` }),
    )
    for (const publisher of many) registers(publisher, { metadata: { large } })
    expect(waiting().at(-1)).toEqual(BEATS)
    for (const publisher of many.toReversed()) leaves(publisher)
    expect(state.instance(ORDERS, address())!.record).toMatchObject({ publisher: BEATS, weight: 3 })
  })

  test('counts the claims in the account of memory, and nothing once they are gone', () => {
    registers(ONE)
    const before = state.memory.of('instances').heap
    registers(TWO, { metadata: {} })
    expect(state.memory.of('instances').heap).toBeGreaterThan(before + 200)
    leaves(TWO)
    expect(state.memory.of('instances').heap).toBe(before)
  })

  test('keeps what an operator has set, whoever has it', () => {
    registers(BEATS)
    registers(ONE)
    const target = { serviceKey: ORDERS, address: address(), ephemeral: undefined }
    const patch = { weight: 9, enabled: false, metadata: { a: '1' }, maxMetadataBytes: 100 }
    carryOut(state, modifyInstance(target, patch), at(0))
    leaves(ONE)
    expect(state.instance(ORDERS, address())).toMatchObject({
      metadata: { a: '1' },
      record: { publisher: BEATS, weight: 9, enabled: false },
    })
    registers(TWO)
    registers(BEATS)
    carryOut(state, modifyInstance(target, { ...patch, weight: 4 }), at(0))
    leaves(BEATS)
    expect(state.instance(ORDERS, address())!.record).toMatchObject({ publisher: TWO, weight: 4 })
  })
})

describe('a change of claims alone', () => {
  test('is no new list, and nobody hears of it', () => {
    registers(ONE)
    registers(TWO)
    const entry = state.services.get(ORDERS)!
    const before = [entry.version, entry.lastRefMs]
    state.takeUnseen()
    const changes = leaves(ONE)
    expect(changes).toHaveLength(1)
    expect(state.takeUnseen()).toEqual(changes)
    expect([entry.version, entry.lastRefMs]).toEqual(before)
    expect(waiting()).toEqual([])
  })

  test('is none when the list differs too', () => {
    registers(ONE)
    registers(TWO)
    leaves(TWO)
    expect(state.takeUnseen()).toEqual([])
  })
})

describe('a claim of HTTP', () => {
  const beats = (ms: number): unknown =>
    beat({ state, liveness: livenessOf(state) }, { serviceKey: ORDERS, ...address() }, at(ms))

  test('waits under its own silence, and is dropped before it can return', () => {
    registers(BEATS, {}, 0)
    registers(ONE, {}, 20_000)
    swept(state, 29_999)
    expect(waiting()).toEqual([BEATS])
    swept(state, 30_000)
    expect([owner(), waiting()]).toEqual([ONE, []])
    leaves(ONE, 30_001)
    expect(owner()).toBeUndefined()
  })

  test('stays while it beats, by its own times', () => {
    registers(BEATS, { metadata: { 'preserved.ip.delete.timeout': '5000' } }, 0)
    registers(ONE, {}, 1_000)
    for (let ms = 4_000; ms <= 40_000; ms += 4_000) {
      beats(ms)
      swept(state, ms + 3_999)
    }
    leaves(ONE, 44_000)
    expect([owner(), state.instance(ORDERS, address())!.healthy]).toEqual([BEATS, true])
    swept(state, 45_000)
    expect(owner()).toBeUndefined()
  })

  test('is not made by a beat', () => {
    registers(ONE)
    beats(1_000)
    expect(waiting()).toEqual([])
  })

  test('gives way to the connection when it is silent', () => {
    registers(ONE)
    registers(BEATS)
    swept(state, 30_000)
    expect([owner(), waiting()]).toEqual([ONE, []])
    expect(livenessOf(state).watched).toBe(0)
  })
})

describe('a claim of a process that is gone', () => {
  test('leaves with the orphans, and the address stays with who lives', () => {
    registers(OTHER)
    registers(ONE)
    const { processes } = livenessOf(state)
    const look = (ms: number): void =>
      processes.look(ms, { isAlive: (process) => process === SELF, isCertain: true })
    look(0)
    expect(processes.instancesOf('gone')).toBe(1)
    const [orphan] = processes.takeOrphans(40_000, 10, () => true)
    const leaving = { leaves: (one: Publisher) => processes.isDue(one, 40_000), stamp: at(40_000).stamp }
    state.apply(orphansLeave(state, orphan!, leaving), at(40_000))
    expect([owner(), waiting(), processes.instancesOf('gone')]).toEqual([ONE, [], 0])
  })

  test('of an owner that is gone, a living claim takes over', () => {
    registers(ONE)
    registers(OTHER)
    const instance = state.instance(ORDERS, address())!
    state.apply(orphansLeave(state, instance, { leaves: (one) => one === OTHER, stamp: at(0).stamp }), at(0))
    expect([owner(), livenessOf(state).processes.takeLost()]).toEqual([ONE, []])
  })
})
