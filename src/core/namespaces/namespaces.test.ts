import { expect, test } from 'vitest'
import { at, carryOut, published, publishing, WALL_MS } from '../core.test-support.ts'
import { toNamespaceId, toTenant, NAMESPACE } from './namespace.ts'
import { State } from '../engine/state.ts'
import { createNamespace, deleteNamespace, updateNamespace } from './namespace-commands.ts'

const dev = { id: 'dev', showName: 'Development', desc: 'for us' }

test('absent, empty and public are one namespace, shown as the empty one', () => {
  expect([undefined, '', 'public', 'dev'].map(toNamespaceId)).toEqual(['public', 'public', 'public', 'dev'])
  expect([toTenant('public'), toTenant('dev')]).toEqual(['', 'dev'])
})

test('creating a namespace that exists is false, and public always exists', () => {
  const state = new State(WALL_MS)
  expect(carryOut(state, createNamespace(dev), at(0))).toBe(true)
  expect(carryOut(state, createNamespace({ ...dev, showName: 'other' }), at(0))).toBe(false)
  expect(carryOut(state, createNamespace({ ...dev, id: 'public' }), at(0))).toBe(false)
  expect(Array.from(state.records(NAMESPACE), ([, namespace]) => namespace)).toEqual([dev])
})

test('changing an unknown namespace, or public, is false', () => {
  const state = new State(WALL_MS)
  expect(carryOut(state, updateNamespace(dev), at(0))).toBe(false)
  expect(carryOut(state, updateNamespace({ ...dev, id: 'public' }), at(0))).toBe(false)
  carryOut(state, createNamespace(dev), at(0))
  expect(carryOut(state, updateNamespace({ ...dev, desc: '' }), at(0))).toBe(true)
  expect(state.record(NAMESPACE, 'dev')?.desc).toBe('')
})

test('a description that is not named stays as it is when the namespace is changed, not when that was asked', () => {
  const state = new State(WALL_MS)
  carryOut(state, createNamespace(dev), at(0))
  const asked = [
    updateNamespace({ ...dev, desc: 'for all' }),
    updateNamespace({ ...dev, showName: 'Dev', desc: undefined }),
  ]
  for (const command of asked) carryOut(state, command, at(0))
  expect(state.record(NAMESPACE, 'dev')).toEqual({ id: 'dev', showName: 'Dev', desc: 'for all' })
})

test('deleting is true for every namespace except public, and its items stay', () => {
  const state = new State(WALL_MS)
  carryOut(state, createNamespace(dev), at(0))
  const key = { ...publishing('').key, namespaceId: 'dev' }
  published(state, 'kept', key)
  const deletions = ['dev', 'dev', 'never', 'public'].map((id) => carryOut(state, deleteNamespace(id), at(0)))
  expect(deletions).toEqual([true, true, true, false])
  expect([
    state.recordCount(NAMESPACE),
    state.configs.countIn('dev'),
    String(state.config(key)?.content),
  ]).toEqual([0, 1, 'kept'])
})
