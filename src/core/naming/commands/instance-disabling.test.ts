import { expect, test } from 'vitest'
import { address, at, carryOut } from '../../core.test-support.ts'
import { State } from '../../engine/state.ts'
import { deregisterInstance, modifyInstance } from './instance-commands.ts'
import { forgetDisablings, INSTANCE_DISABLING } from './instance-disabling.ts'
import { registerInstance } from './register-instance.ts'

const serviceKey = { namespaceId: 'dev', groupedName: 'G@@s' }
const place = { serviceKey, address: address() }
const target = { ...place, ephemeral: undefined }
const actor = { user: 'ops', ip: '10.0.0.9' }
const registration = {
  ...place,
  ephemeral: true,
  weight: 1,
  enabled: true,
  healthy: undefined,
  metadata: {},
  app: '',
}

function startDisabled(): State {
  const state = new State(at(0).wallMs)
  carryOut(state, registerInstance(registration), at(0))
  switchTo(state, false, 1_000)
  return state
}

function switchTo(state: State, enabled: boolean, ms: number): void {
  const patch = { weight: undefined, enabled, metadata: undefined, maxMetadataBytes: 100, actor }
  carryOut(state, modifyInstance(target, patch), at(ms))
}

const kept = (state: State) => Array.from(state.records(INSTANCE_DISABLING), ([, value]) => value)

test('who has disabled an instance is kept until somebody enables it', () => {
  const state = startDisabled()
  expect(kept(state)).toEqual([{ ...place, atMs: at(1_000).wallMs, actor }])
  // Nothing changes.
  switchTo(state, false, 2_000)
  expect(kept(state)).toMatchObject([{ atMs: at(1_000).wallMs }])
  switchTo(state, true, 3_000)
  expect(kept(state)).toEqual([])
})

test('it can be read again from the store', () => {
  const [value] = kept(startDisabled())
  expect(INSTANCE_DISABLING.decode(JSON.parse(JSON.stringify(value)), 'id')).toEqual(value)
})

test('it is forgotten of instances that are gone or were registered again, and of no others', () => {
  const state = startDisabled()
  expect(forgetDisablings(state)).toEqual([])
  carryOut(state, deregisterInstance(target), at(2_000))
  const [forget] = forgetDisablings(state)
  carryOut(state, registerInstance({ ...registration, enabled: false }), at(3_000))
  carryOut(state, forget!, at(4_000))
  expect(kept(state)).toHaveLength(1)
  carryOut(state, registerInstance(registration), at(5_000))
  for (const command of forgetDisablings(state)) carryOut(state, command, at(6_000))
  expect(kept(state)).toEqual([])
})
