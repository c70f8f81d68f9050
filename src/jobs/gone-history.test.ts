import { expect, test } from 'vitest'
import { CONFIG_COMMENT, DELETED_CONFIG } from '../core/config/state/config-comment.ts'
import { deleteConfig, publishConfig } from '../core/config/commands/publish-config.ts'
import { configKey } from '../core/config/state/config-item.ts'
import { at, carryOut, publishing } from '../core/core.test-support.ts'
import type { Command } from '../core/decisions/decision.ts'
import { State } from '../core/engine/state.ts'
import { GoneHistory } from './gone-history.ts'

const keyOf = (dataId: string) => configKey('public', 'G', dataId)
const BY = { ip: '10.0.0.1', user: 'ann' }

/** A state with a deleted item and an item, each with a comment; the store has only the records of `kept`. */
function startWith(kept: (state: State) => number[]) {
  const state = new State(0)
  carryOut(state, publishConfig(publishing('one', { key: keyOf('gone') })), at(0))
  carryOut(state, deleteConfig(keyOf('gone'), BY, { comment: 'why' }), at(1_000))
  carryOut(state, publishConfig(publishing('two', { key: keyOf('a'), comment: 'new' })), at(2_000))
  const execute = <T>(command: Command<T>) => carryOut(state, command, at(100_000))
  const engine = { execute, mostAtOnce: 20 }
  const historyThere = async (ids: readonly number[]) => ids.filter((id) => kept(state).includes(id))
  const gone = new GoneHistory({ state, engine, store: { reads: () => ({ historyThere }) } })
  const left = () => ({
    deleted: Array.from(state.records(DELETED_CONFIG), ([, { key }]) => key.dataId),
    comments: Array.from(state.records(CONFIG_COMMENT), ([, { comment }]) => comment),
  })
  return { gone, left, nowMs: at(0).wallMs }
}

/** The records of the changes that have comments. */
function recordsOf(state: State): number[] {
  return Array.from(state.records(CONFIG_COMMENT), ([id]) => Number(id))
}

test('records that are younger than the retention stay', async () => {
  const { gone, left, nowMs } = startWith((state) => [...recordsOf(state)])
  await gone.forgetBefore(nowMs)
  expect(left()).toEqual({ deleted: ['gone'], comments: ['why', 'new'] })
})

test('a deleted item goes with its age, and a comment with its record', async () => {
  const { gone, left, nowMs } = startWith((state) => [state.config(keyOf('a'))!.historyId])
  await gone.forgetBefore(nowMs + 50_000)
  expect(left()).toEqual({ deleted: [], comments: ['new'] })
})

test('a deleted item goes too when its record was removed because history takes too much', async () => {
  const { gone, left, nowMs } = startWith((state) => [state.config(keyOf('a'))!.historyId])
  await gone.forgetBefore(nowMs)
  expect(left()).toEqual({ deleted: [], comments: ['new'] })
})
