import { describe, expect, test } from 'vitest'
import {
  address,
  at,
  carryOut,
  ORDERS,
  refusalOf,
  registered,
  registration,
} from '../../core.test-support.ts'
import { Draft } from '../../decisions/draft.ts'
import { State } from '../../engine/state.ts'
import { deregisterInstance } from '../commands/instance-commands.ts'
import { NO_NAMING_LIMITS, type NamingLimits } from './naming-sizes.ts'
import { registerInstance } from '../commands/register-instance.ts'
import { createService, deleteService } from '../commands/service-commands.ts'

const OTHER = { namespaceId: 'dev', groupedName: 'DEFAULT_GROUP@@orders' }
const NOTHING = { protectThreshold: undefined, metadata: undefined, selector: undefined }

function limited(limits: Partial<NamingLimits>): State {
  return new State(0, { ...NO_NAMING_LIMITS, ...limits })
}

function refused(state: State, other: Parameters<typeof registration>[0]): string | undefined {
  return refusalOf(() => registerInstance(registration(other)).decide(state, at(0)))
}

describe('at the limit of instances', () => {
  test('a new one is refused, and a known one still registers and changes', () => {
    const state = limited({ maxInstances: 1 })
    registered(state)
    expect(refused(state, { address: address({ port: 81 }) })).toBe('too-many-instances')
    expect(refused(state, { serviceKey: OTHER })).toBe('too-many-instances')
    registered(state, { weight: 5 })
    expect(state.instance(ORDERS, address())?.record.weight).toBe(5)
  })

  test('a new one is accepted after one is removed', () => {
    const state = limited({ maxInstances: 1 })
    registered(state)
    carryOut(state, deregisterInstance({ ...registration(), ephemeral: undefined }), at(0))
    registered(state, { address: address({ port: 81 }) })
  })

  test('of one namespace, other namespaces accept new ones', () => {
    const state = limited({ maxInstancesPerNamespace: 1 })
    registered(state)
    expect(refused(state, { address: address({ port: 81 }) })).toBe('too-many-instances')
    registered(state, { serviceKey: OTHER })
  })

  test('things of the same batch count', () => {
    const draft = new Draft(limited({ maxInstances: 1 }))
    for (const change of registerInstance(registration()).decide(draft, at(0)).changes) draft.add(change)
    const another = registerInstance(registration({ address: address({ port: 81 }) }))
    expect(refusalOf(() => another.decide(draft, at(0)))).toBe('too-many-instances')
  })
})

describe('at the limit of services', () => {
  test('no service is created, also not by a registration', () => {
    const state = limited({ maxServices: 1 })
    registered(state)
    expect(refused(state, { serviceKey: OTHER })).toBe('too-many-services')
    expect(refusalOf(() => createService(OTHER, NOTHING).decide(state, at(0)))).toBe('too-many-services')
    registered(state, { address: address({ port: 81 }) })
  })

  test('of one namespace, another namespace accepts one', () => {
    const state = limited({ maxServicesPerNamespace: 1 })
    registered(state)
    const more = { ...ORDERS, groupedName: 'DEFAULT_GROUP@@more' }
    expect(refused(state, { serviceKey: more })).toBe('too-many-services')
    carryOut(state, createService(OTHER, NOTHING), at(0))
    carryOut(state, deleteService(OTHER), at(0))
    expect(state.namingSizes.services.in('dev')).toBe(0)
  })
})
