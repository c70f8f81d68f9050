import { expect, test } from 'vitest'
import { at, carryOut } from '../core.test-support.ts'
import { State } from '../engine/state.ts'
import { NAMESPACE_LOOK, setNamespaceLook } from './namespace.ts'

test('a look is kept, also of public, until it is plain again', () => {
  const state = new State(0)
  carryOut(state, setNamespaceLook('public', { color: 'red', isProtected: true }), at(0))
  expect(state.record(NAMESPACE_LOOK, 'public')).toEqual({ color: 'red', isProtected: true })
  carryOut(state, setNamespaceLook('public', { color: '', isProtected: false }), at(1))
  expect(state.recordCount(NAMESPACE_LOOK)).toBe(0)
})

test('the same look changes nothing', () => {
  const state = new State(0)
  carryOut(state, setNamespaceLook('dev', { color: 'red', isProtected: false }), at(0))
  expect(setNamespaceLook('dev', { color: 'red', isProtected: false }).decide(state, at(1)).changes).toEqual(
    [],
  )
})

test('fields that are not named stay as they are when the look is changed, not when that was asked', () => {
  const state = new State(0)
  const asked = [
    setNamespaceLook('dev', { color: 'red', isProtected: undefined }),
    setNamespaceLook('dev', { color: undefined, isProtected: true }),
  ]
  for (const command of asked) carryOut(state, command, at(0))
  expect(state.record(NAMESPACE_LOOK, 'dev')).toEqual({ color: 'red', isProtected: true })
})
