import { beforeEach, describe, expect, test } from 'vitest'
import {
  address,
  at,
  beatPartsOf,
  carryOut,
  lastBeatMs,
  livenessOf,
  livingState,
  ORDERS,
  registered,
  registration,
} from '../../core.test-support.ts'
import { Draft } from '../../decisions/draft.ts'
import type { State } from '../../engine/state.ts'
import { beat } from './beat.ts'
import { expireEmptyServices, forgetExpiredMetadata } from '../commands/housekeeping.ts'
import { deregisterInstance, modifyInstance } from '../commands/instance-commands.ts'
import type { Publisher } from '../state/instance.ts'
import { updateMetadata } from '../commands/metadata-commands.ts'
import { registerInstance } from '../commands/register-instance.ts'

const everyone = () => true
const target = { serviceKey: ORDERS, address: address(), ephemeral: undefined }
const connection: Publisher = { kind: 'connection', id: 'c1' }
const keys = { a: '1' }
const remember = updateMetadata({
  serviceKey: ORDERS,
  consistencyType: undefined,
  instances: [{ ...address(), ephemeral: true }],
  keys,
  maxBytes: 1_000,
})

let state: State
beforeEach(() => void (state = livingState()))

describe('the queue', () => {
  test('holds an instance from its registration until it leaves', () => {
    registered(state)
    registered(state, { address: address({ port: 81 }) })
    expect(livenessOf(state).watched).toBe(2)
    carryOut(state, deregisterInstance(target), at(0))
    expect(livenessOf(state).watched).toBe(1)
    state.apply(livenessOf(state).sweep(at(30_000), everyone), at(30_000))
    expect(livenessOf(state).watched).toBe(0)
  })

  test('holds only instances whose publisher sends beats', () => {
    registered(state, { publisher: connection })
    registered(state, { ephemeral: false, address: address({ port: 81 }) })
    expect(livenessOf(state).watched).toBe(0)
    registered(state)
    expect(livenessOf(state).watched).toBe(1)
    registered(state, { publisher: connection })
    // The client that sends beats waits for the address.
    expect(livenessOf(state).watched).toBe(1)
    carryOut(
      state,
      deregisterInstance(target, () => 'kept'),
      at(0),
    )
    expect(livenessOf(state).watched).toBe(0)
  })
})

describe('the last beat', () => {
  test('of an instance is its registration or the beat after it, and no other change', () => {
    const instance = registered(state, {}, at(1_000))
    expect(lastBeatMs(state, instance)).toBe(1_000)
    beat(beatPartsOf(state), { serviceKey: ORDERS, ...address() }, at(2_000))
    expect(lastBeatMs(state, instance)).toBe(2_000)
    const patch = { weight: 2, enabled: undefined, metadata: keys, maxMetadataBytes: 100 }
    carryOut(state, modifyInstance(target, patch), at(3_000))
    expect(lastBeatMs(state, instance)).toBe(2_000)
    registered(state, { weight: 3 }, at(4_000))
    expect(lastBeatMs(state, instance)).toBe(4_000)
  })

  test('of an instance of a connection or an operator is not known, and a beat does not heal it', () => {
    const ofConnection = registered(state, { publisher: connection, healthy: false })
    const persistent = registered(state, { ephemeral: false, address: address({ port: 81 }) })
    const result = beat(beatPartsOf(state), { serviceKey: ORDERS, ...address() }, at(2_000))
    expect(result).toMatchObject({ kind: 'renewed', healed: [] })
    expect([ofConnection, persistent].map((one) => lastBeatMs(state, one))).toEqual([undefined, undefined])
  })
})

describe('a decision about a service that has been empty for long', () => {
  /** A service that is empty, and metadata that is without its instance, since 0 ms. */
  const abandoned = () => {
    const state = livingState()
    registered(state)
    carryOut(state, remember, at(0))
    carryOut(state, deregisterInstance(target), at(0))
    return state
  }
  const decisions = (state: ReturnType<typeof livingState>) => [
    ...expireEmptyServices(livenessOf(state), 0),
    ...forgetExpiredMetadata(livenessOf(state), 0),
  ]

  test('reads the times through its view', () => {
    const state = abandoned()
    const commands = decisions(state)
    expect(commands).toHaveLength(2)
    const view = new Draft(state)
    const kinds = commands.flatMap((command) => command.decide(view, at(0)).changes.map(({ kind }) => kind))
    expect(kinds).toEqual(['service-deleted', 'record-removed'])
  })

  test('sees the changes of the batch, also if the thing has left again', () => {
    const state = abandoned()
    const commands = decisions(state)
    const view = new Draft(state)
    for (const command of [registerInstance(registration()), deregisterInstance(target)])
      for (const change of command.decide(view, at(1)).changes) view.add(change)
    expect(commands.flatMap((command) => command.decide(view, at(1)).changes)).toEqual([])
  })

  test('is made once in a batch', () => {
    const state = abandoned()
    const commands = [...decisions(state), ...decisions(state)]
    const view = new Draft(state)
    let changes = 0
    for (const command of commands) {
      for (const change of command.decide(view, at(1)).changes) {
        view.add(change)
        changes++
      }
    }
    expect(changes).toBe(2)
  })
})
