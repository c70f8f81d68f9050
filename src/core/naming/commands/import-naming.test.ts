import { beforeEach, expect, test } from 'vitest'
import { address, at, carryOut, ORDERS, registration, WALL_MS } from '../../core.test-support.ts'
import { State } from '../../engine/state.ts'
import { importInstance, importService, type ImportedService } from './import-naming.ts'
import { updateService } from './service-commands.ts'

const PLAIN: ImportedService = {
  key: ORDERS,
  protectThreshold: 0,
  metadata: {},
  selector: { type: 'none' },
  clusters: [],
}
const CLUSTER = {
  name: 'c1',
  healthChecker: { type: 'NONE' },
  checkPort: 81,
  useInstancePort4Check: false,
  metadata: { a: '1', b: '2' },
} as const
const SET: ImportedService = { ...PLAIN, protectThreshold: 0.5, clusters: [CLUSTER] }

let state: State
beforeEach(() => void (state = new State(WALL_MS)))

const take = (service: ImportedService, overwrite = false) =>
  carryOut(state, importService(service, overwrite), at(0)).outcome

test('a service comes with its clusters, and is the same in another order of fields', () => {
  expect(take(SET)).toBe('taken')
  expect(state.service(ORDERS)).toMatchObject({
    protectThreshold: 0.5,
    madeBy: 'operator',
    clusters: { c1: CLUSTER },
  })
  const turned = { ...CLUSTER, metadata: { b: '2', a: '1' } }
  expect(take({ ...SET, clusters: [turned] })).toBe('unchanged')
})

test('a service without settings may leave when it is empty, and takes settings that come later', () => {
  expect(take(PLAIN)).toBe('taken')
  expect(state.service(ORDERS)?.madeBy).toBe('registration')
  expect(take(SET)).toBe('taken')
})

test('settings that were made here stay, unless they are overwritten', () => {
  take(SET)
  const other = { protectThreshold: 0.7, metadata: undefined, selector: undefined }
  carryOut(state, updateService(ORDERS, other), at(1))
  expect(take(SET)).toBe('kept')
  expect(take(SET, true)).toBe('taken')
  expect(state.service(ORDERS)?.protectThreshold).toBe(0.5)
})

test('an instance that is registered otherwise stays, unless it is overwritten', () => {
  const instance = { ...registration({ metadata: { z: '1' } }), ephemeral: false }
  const taken = (weight: number, overwrite = false) =>
    carryOut(state, importInstance({ ...instance, weight }, { overwrite, importer: 'p1' }), at(0)).outcome
  expect([taken(1), taken(1), taken(2), taken(2, true)]).toEqual(['taken', 'unchanged', 'kept', 'taken'])
  expect(state.instance(ORDERS, address())?.record).toMatchObject({
    weight: 2,
    publisher: { kind: 'operator' },
  })
})
