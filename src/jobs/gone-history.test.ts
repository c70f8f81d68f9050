import { expect, test } from 'vitest'
import { DELETED_CONFIG } from '../core/config/state/deleted-config.ts'
import { deleteConfig, publishConfig } from '../core/config/commands/publish-config.ts'
import { configKey } from '../core/config/state/config-item.ts'
import { at, carryOut, publishing } from '../core/core.test-support.ts'
import type { Command } from '../core/decisions/decision.ts'
import { State } from '../core/engine/state.ts'
import { GoneHistory } from './gone-history.ts'

const keyOf = (dataId: string) => configKey('public', 'G', dataId)
const BY = { ip: '10.0.0.1', user: 'ann' }

/** A state with an item that was deleted after a second. `hasRecord`: the store has the record of the deletion. */
function startWith({ hasRecord }: { hasRecord: boolean }) {
  const state = new State(0)
  carryOut(state, publishConfig(publishing('one', { key: keyOf('gone') })), at(0))
  carryOut(state, deleteConfig(keyOf('gone'), BY), at(1_000))
  const execute = <T>(command: Command<T>) => carryOut(state, command, at(100_000))
  const engine = { execute, mostAtOnce: 20 }
  const historyThere = async (ids: readonly number[]) => (hasRecord ? ids : [])
  const gone = new GoneHistory({ state, engine, store: { reads: () => ({ historyThere }) } })
  const left = () => Array.from(state.records(DELETED_CONFIG), ([, { key }]) => key.dataId)
  return { gone, left, nowMs: at(0).wallMs }
}

test.each([
  ['stays while it is younger than the retention', { hasRecord: true, forgottenMs: 0 }, ['gone']],
  ['goes with its age', { hasRecord: true, forgottenMs: 50_000 }, []],
  [
    'goes when its record was removed because history takes too much',
    { hasRecord: false, forgottenMs: 0 },
    [],
  ],
])('a deleted item %s', async (_, { forgottenMs, ...there }, expected) => {
  const { gone, left, nowMs } = startWith(there)
  await gone.forgetBefore(nowMs + forgottenMs)
  expect(left()).toEqual(expected)
})
