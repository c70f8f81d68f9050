import { beforeEach, expect, test } from 'vitest'
import { at, carryOut, refusalOf, WALL_MS } from '../core.test-support.ts'
import { State } from '../engine/state.ts'
import { hasAdministrator, replaceHash } from './access-commands.ts'
import { USER } from './access-records.ts'
import { importPermission, importRole, importUser } from './import-access.ts'

const HASH = '$2a$10$one'
let state: State
beforeEach(() => void (state = new State(WALL_MS)))

const take = (passwordHash: string, overwrite = false, isAdministrator = false) =>
  carryOut(state, importUser({ username: 'ann', passwordHash, isAdministrator }, overwrite), at(0)).outcome

test('a hash that an import brought is replaced by another import until the first sign-in', () => {
  expect([take(HASH), take(HASH), take('$2a$10$two')]).toEqual(['taken', 'unchanged', 'taken'])
  carryOut(state, replaceHash('ann', { old: '$2a$10$two', new: 'scrypt$…' }), at(1))
  expect(take('$2a$10$three')).toBe('kept')
  expect(take('$2a$10$three', true)).toBe('taken')
  expect(state.record(USER, 'ann')?.passwordHash).toBe('$2a$10$three')
})

test('a user becomes an administrator only if it is named', () => {
  take(HASH)
  const administrator = { username: 'ann', role: 'ROLE_ADMIN' }
  const role = importRole(administrator, false)
  expect(refusalOf(() => role.decide(state, at(0)))).toBe('forbidden')
  expect(hasAdministrator(state)).toBe(false)
  expect(take(HASH, false, true)).toBe('taken')
  expect(hasAdministrator(state)).toBe(true)
  expect([carryOut(state, role, at(0)).outcome, take(HASH, false, true)]).toEqual(['unchanged', 'unchanged'])
  expect(carryOut(state, importRole(administrator, true), at(0)).outcome).toBe('unchanged')
})

test('roles need their user, and permissions a user with the role', () => {
  const role = importRole({ username: 'ann', role: 'devs' }, false)
  const permission = importPermission({ role: 'devs', resource: ':*:*', action: 'r' })
  expect(refusalOf(() => role.decide(state, at(0)))).toBe('user-not-found')
  expect(refusalOf(() => permission.decide(state, at(0)))).toBe('role-not-found')
  take(HASH)
  const outcomes = [role, role, permission, permission].map((one) => carryOut(state, one, at(0)).outcome)
  expect(outcomes).toEqual(['taken', 'unchanged', 'taken', 'unchanged'])
})

test('an administrator of here keeps the password, unless the plan names the user as one', () => {
  take(HASH, false, true)
  carryOut(state, replaceHash('ann', { old: HASH, new: 'scrypt$…' }), at(1))
  expect(take('$2a$10$of-another-ann', true)).toBe('kept')
  expect(state.record(USER, 'ann')?.passwordHash).toBe('scrypt$…')
  expect(take('$2a$10$of-this-ann', true, true)).toBe('taken')
})
