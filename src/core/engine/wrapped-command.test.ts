import { expect, test } from 'vitest'
import type { Command } from '../decisions/decision.ts'
import { at } from '../core.test-support.ts'
import { State } from './state.ts'
import { WrappedCommand } from './wrapped-command.ts'

const state = new State(0)
const decision = { changes: [], durability: 'local', outcome: 7 } as const

test('a wrapped command passes on every field', () => {
  // Required: a new field of commands does not compile until it is here, too.
  const command: Required<Command<number>> = {
    subject: 'a',
    surelySyncs: () => true,
    decide: () => decision,
    stamps: () => 3,
    growsBy: 5,
    takesNames: true,
  }
  const wrapped = new WrappedCommand(command)
  expect([wrapped.subject, wrapped.growsBy, wrapped.takesNames]).toEqual(['a', 5, true])
  expect([wrapped.surelySyncs(state), wrapped.stamps(state)]).toEqual([true, 3])
  expect(wrapped.decide(state, at(0))).toBe(decision)
})

test('fields that a command does not have mean the same around it', () => {
  const wrapped = new WrappedCommand({ subject: 'a', decide: () => decision })
  expect([wrapped.growsBy, wrapped.takesNames]).toEqual([undefined, false])
  expect([wrapped.surelySyncs(state), wrapped.stamps(state)]).toEqual([false, 1])
})
