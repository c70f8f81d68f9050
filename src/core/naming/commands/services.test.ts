import { beforeEach, describe, expect, test } from 'vitest'
import {
  address,
  at,
  carryOut,
  livenessOf,
  livingState,
  ORDERS,
  refusalOf,
  registered,
  registration,
  WALL_MS,
} from '../../core.test-support.ts'
import { State } from '../../engine/state.ts'
import { expireEmptyServices } from './housekeeping.ts'
import { deregisterInstance } from './instance-commands.ts'
import { registerInstance } from './register-instance.ts'
import { createService, deleteService, saveCluster, updateService } from './service-commands.ts'
import { isChecked } from '../state/checked.ts'
import { DEFAULT_SWITCHES } from '../../switches/switches.ts'

const settings = (other: object = {}) => ({
  protectThreshold: undefined,
  metadata: undefined,
  selector: undefined,
  ...other,
})
const target = { serviceKey: ORDERS, address: address(), ephemeral: undefined }

let state: State
beforeEach(() => void (state = new State(WALL_MS)))

test('a service made by an operator stays, empty or not, and takes both kinds', () => {
  const state = livingState()
  carryOut(state, createService(ORDERS, settings({ protectThreshold: 0.5, metadata: { a: '1' } })), at(0))
  registered(state)
  registered(state, { address: address({ port: 81 }), ephemeral: false })
  expect(state.instanceCount(ORDERS)).toBe(2)
  carryOut(state, deregisterInstance(target), at(0))
  carryOut(state, deregisterInstance({ ...target, address: address({ port: 81 }) }), at(0))
  expect(expireEmptyServices(livenessOf(state), 1e9)).toEqual([])
  expect(state.service(ORDERS)).toMatchObject({
    protectThreshold: 0.5,
    metadata: { a: '1' },
    selector: { type: 'none' },
  })
})

test('one that an operator has changed or configured stays as well', () => {
  for (const command of [
    updateService(ORDERS, settings({ metadata: { a: '1' } })),
    saveCluster(ORDERS, {
      name: 'DEFAULT',
      healthChecker: { type: 'NONE' },
      checkPort: 80,
      useInstancePort4Check: true,
      metadata: {},
    }),
  ]) {
    const state = livingState()
    registered(state)
    carryOut(state, command, at(0))
    carryOut(state, deregisterInstance(target), at(0))
    expect(expireEmptyServices(livenessOf(state), 1e9)).toEqual([])
  }
})

test('the settings of all clusters of a service have a limit; at it, they can be replaced by smaller ones', () => {
  const cluster = (name: string, letters: number) =>
    saveCluster(ORDERS, {
      name,
      healthChecker: { type: 'NONE' },
      checkPort: 80,
      useInstancePort4Check: true,
      metadata: { a: 'x'.repeat(letters) },
    })
  carryOut(state, createService(ORDERS, settings()), at(0))
  for (let index = 0; index < 5; index++) carryOut(state, cluster(`c${index}`, 100_000), at(0))
  expect(refusalOf(() => carryOut(state, cluster('more', 30_000), at(0)))).toBe('invalid-parameter')
  carryOut(state, cluster('c0', 50_000), at(0))
  carryOut(state, cluster('more', 30_000), at(0))
})

test('making a service twice, changing or deleting an unknown one, and deleting one with instances are refused', () => {
  const code = (command: Parameters<typeof carryOut>[1]) => refusalOf(() => carryOut(state, command, at(0)))
  expect([code(updateService(ORDERS, settings())), code(deleteService(ORDERS))]).toEqual([
    'service-not-found',
    'service-not-found',
  ])
  registered(state)
  expect([code(createService(ORDERS, settings())), code(deleteService(ORDERS))]).toEqual([
    'service-exists',
    'service-not-empty',
  ])
  carryOut(state, deregisterInstance(target), at(0))
  expect([code(deleteService(ORDERS)), state.services.size]).toEqual([undefined, 0])
})

test('an update changes the named settings and keeps the rest', () => {
  carryOut(state, createService(ORDERS, settings({ protectThreshold: 0.5, metadata: { a: '1' } })), at(0))
  carryOut(state, updateService(ORDERS, settings({ metadata: { b: '2' } })), at(0))
  expect(state.service(ORDERS)).toMatchObject({ protectThreshold: 0.5, metadata: { b: '2' } })
  carryOut(state, updateService(ORDERS, settings({ protectThreshold: 0 })), at(0))
  expect(state.service(ORDERS)).toMatchObject({ protectThreshold: 0, metadata: { b: '2' } })
})

describe('lastRefMs', () => {
  const refOf = (state: State) => state.services.get(ORDERS)?.lastRefMs ?? 0

  test('is the time of the last change, and does not move without one', () => {
    registered(state, {}, at(5_000))
    expect(refOf(state)).toBe(WALL_MS + 5_000)
    expect(refOf(state)).toBe(WALL_MS + 5_000)
  })

  test('strictly increases, also if the clock stops or goes back, and over deletion', () => {
    let last = state.services.floorMs
    const steps = [
      () => registered(state, {}, at(1_000)),
      () => registered(state, { weight: 2 }, at(1_000)),
      () => registered(state, { weight: 3 }, at(-9_000)),
      () => carryOut(state, deregisterInstance(target), at(-9_000)),
      () => registered(state, {}, at(-9_000)),
    ]
    for (const [turn, step] of steps.entries()) {
      step()
      expect(refOf(state), `step ${turn}`).toBeGreaterThan(last)
      last = refOf(state)
    }
    carryOut(state, deregisterInstance(target), at(-9_000))
    last = refOf(state)
    carryOut(state, deleteService(ORDERS), at(-9_000))
    expect(state.services.floorMs).toBe(last)
    registered(state, {}, at(-9_000))
    expect(refOf(state)).toBeGreaterThan(last)
  })

  test('does not depend on who has read it', () => {
    const read = new State(WALL_MS)
    const unread = new State(WALL_MS)
    for (let port = 1; port <= 5; port++) {
      for (const state of [read, unread]) registered(state, { address: address({ port }) }, at(1_000))
      expect(refOf(read)).toBe(WALL_MS + 999 + port)
    }
    expect(refOf(unread)).toBe(refOf(read))
  })

  test('moves once for all changes of a revision', () => {
    const changes = Array.from({ length: 5_000 }, (_, port) => {
      const settings = registration({ address: address({ port }) })
      return registerInstance(settings).decide(state, at(1_000)).changes
    })
    state.apply(changes.flat(), at(1_000))
    expect(refOf(state)).toBe(WALL_MS + 1_000)
  })
})

test('names are given sorted, by group or all, and are new after each change', () => {
  const make = (groupedName: string) =>
    carryOut(state, createService({ ...ORDERS, groupedName }, settings()), at(0))
  make('B@@x')
  make('A@@y')
  expect(state.services.names('public', undefined)).toEqual(['A@@y', 'B@@x'])
  make('A@@b')
  expect(state.services.names('public', undefined)).toEqual(['A@@b', 'A@@y', 'B@@x'])
  expect(state.services.names('public', 'A')).toEqual(['A@@b', 'A@@y'])
  carryOut(state, deleteService({ ...ORDERS, groupedName: 'A@@y' }), at(0))
  expect(state.services.names('public', 'A')).toEqual(['A@@b'])
  expect(state.services.names('public', 'none')).toEqual([])
  expect(state.services.names('dev', undefined)).toEqual([])
  make('none@@late')
  expect(state.services.names('public', 'none')).toEqual(['none@@late'])
})

test('the white list is checked while checks are off, by either name', () => {
  const off = { ...DEFAULT_SWITCHES, healthCheckEnabled: false }
  expect(isChecked(DEFAULT_SWITCHES, ORDERS)).toBe(true)
  expect(isChecked(off, ORDERS)).toBe(false)
  expect(isChecked({ ...off, healthCheckWhiteList: ['orders'] }, ORDERS)).toBe(true)
  expect(isChecked({ ...off, healthCheckWhiteList: ['DEFAULT_GROUP@@orders'] }, ORDERS)).toBe(true)
  expect(isChecked({ ...off, healthCheckWhiteList: ['other'] }, ORDERS)).toBe(false)
})
