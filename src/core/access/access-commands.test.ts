import { beforeEach, expect, test } from 'vitest'
import { at, carryOut, EngineWorld, refusalOf, WALL_MS, watched } from '../core.test-support.ts'
import type { Command } from '../decisions/decision.ts'
import { recordRemoved, recordSaved } from '../records/record-kind.ts'
import { Refusal } from '../refusal.ts'
import { State } from '../engine/state.ts'
import { addAdministrator, addUser } from './access.test-support.ts'
import {
  addPermission,
  addRole,
  createFirstAdministrator,
  createUser,
  hasAdministrator,
  removePermission,
  removeRole,
  removeUser,
  replaceHash,
  setPassword,
} from './access-commands.ts'
import {
  ADMINISTRATOR_ROLE,
  ADMINISTRATORS,
  idOf,
  IN_ALL,
  ROLE_PERMISSION,
  SESSION,
  USER,
  USER_ROLE,
} from './access-records.ts'

const ANN = { username: 'ann', passwordHash: 'h1' }

function run<T>(state: State, command: Command<T>): T {
  return carryOut(state, command, at(0))
}

function refused(state: State, command: Command<unknown>): string | undefined {
  return refusalOf(() => run(state, command))
}

/** The users and roles that there are. */
function rolesIn(state: State): string[] {
  return Array.from(state.records(USER_ROLE), ([, { username, role }]) => `${username} ${role}`)
}

let state: State
beforeEach(() => void (state = new State(WALL_MS)))

test('a user is made once', () => {
  run(state, createUser(ANN))
  expect(refused(state, createUser({ ...ANN, passwordHash: 'h2' }))).toBe('user-exists')
  expect(state.record(USER, 'ann')).toMatchObject(ANN)
})

test('a new password ends earlier sign-ins, a new hash of the same password does not', () => {
  run(state, createUser(ANN))
  const first = state.record(USER, 'ann')!.credentialStamp
  expect(run(state, replaceHash('ann', { old: 'h1', new: 'h1 with better parameters' }))).toBe(true)
  expect(state.record(USER, 'ann')).toEqual({
    username: 'ann',
    passwordHash: 'h1 with better parameters',
    credentialStamp: first,
  })
  run(state, setPassword({ username: 'ann', passwordHash: 'h2' }))
  expect(state.record(USER, 'ann')!.credentialStamp).toBeGreaterThan(first)
})

test('a hash is replaced only where the password has not changed meanwhile', () => {
  run(state, createUser(ANN))
  run(state, setPassword({ username: 'ann', passwordHash: 'h2' }))
  expect(run(state, replaceHash('ann', { old: 'h1', new: 'h3' }))).toBe(false)
  expect(run(state, replaceHash('bob', { old: 'h1', new: 'h3' }))).toBe(false)
  expect(state.record(USER, 'ann')?.passwordHash).toBe('h2')
})

test('a password is replaced by its user only while it is the one that was shown', () => {
  run(state, createUser(ANN))
  const { credentialStamp } = state.record(USER, 'ann')!
  run(state, setPassword({ username: 'ann', passwordHash: 'set by an administrator' }))
  expect(refused(state, setPassword({ username: 'ann', passwordHash: 'h2' }, credentialStamp))).toBe(
    'unknown-user',
  )
  expect(state.record(USER, 'ann')?.passwordHash).toBe('set by an administrator')
})

test('a user leaves with its roles and sessions, and others keep theirs', () => {
  for (const username of ['ann', 'bob']) {
    addUser(state, username)
    const value = { username, credentialStamp: 1, createdMs: 0, usedMs: 0 }
    state.apply([recordSaved(SESSION, { id: `session of ${username}`, value, stamp: 1 })], at(0))
  }
  run(state, removeUser('ann'))
  expect([state.record(USER, 'ann'), state.record(USER, 'bob')?.username]).toEqual([undefined, 'bob'])
  expect(rolesIn(state)).toEqual(['bob bobs'])
  expect(Array.from(state.records(SESSION), ([id]) => id)).toEqual(['session of bob'])
})

test('changes of an unknown user are refused', () => {
  const commands = [setPassword(ANN), removeUser('ann'), addRole({ username: 'ann', role: 'r' })]
  expect(commands.map((command) => refused(state, command))).toEqual([
    'user-not-found',
    'user-not-found',
    'user-not-found',
  ])
})

test('a user who need not exist may be removed twice at once', () => {
  addUser(state, 'ann')
  const asked = [removeUser('ann', false), removeUser('ann', false)]
  expect(asked.map((command) => run(state, command))).toEqual([false, false])
  expect(state.record(USER, 'ann')).toBeUndefined()
})

test('the first administrator is made with user and role together, and never again', () => {
  const decision = createFirstAdministrator(ANN).decide(state, at(0))
  expect(decision.changes.map((change) => change.kind === 'record-saved' && change.recordKind)).toEqual([
    'user',
    'user-role',
    'administrators',
  ])
  expect(hasAdministrator(state)).toBe(false)
  state.apply(decision.changes, at(0))
  expect(hasAdministrator(state)).toBe(true)
  expect(refused(state, createFirstAdministrator({ username: 'eve', passwordHash: 'h' }))).toBe(
    'administrator-exists',
  )
})

test('a user who is there already can become the first administrator, with the new password', () => {
  addUser(state, 'ann')
  run(state, createFirstAdministrator(ANN))
  expect(state.record(USER, 'ann')?.passwordHash).toBe('h1')
  expect(rolesIn(state)).toEqual(['ann anns', 'ann ROLE_ADMIN'])
})

test('the last administrator cannot be removed, whichever way', () => {
  addAdministrator(state, 'ann')
  addUser(state, 'bob')
  const ways = [
    removeUser('ann'),
    removeRole(ADMINISTRATOR_ROLE, 'ann'),
    removeRole(ADMINISTRATOR_ROLE, undefined),
  ]
  expect(ways.map((way) => refused(state, way))).toEqual(ways.map(() => 'last-administrator'))
  addAdministrator(state, 'eve')
  run(state, removeUser('ann'))
  expect(refused(state, removeUser('eve'))).toBe('last-administrator')
  expect(refused(state, removeRole(ADMINISTRATOR_ROLE, undefined))).toBe('last-administrator')
})

test('an administrator whose user is lost does not count as one that stays', () => {
  addAdministrator(state, 'ann')
  const value = { username: 'lost', role: ADMINISTRATOR_ROLE }
  state.apply([recordSaved(USER_ROLE, { id: idOf('lost', ADMINISTRATOR_ROLE), value, stamp: 1 })], at(0))
  expect(refused(state, removeUser('ann'))).toBe('last-administrator')
})

test('administrators are counted, so that losing the role of one does not make the server look new', () => {
  const counts = [
    createFirstAdministrator(ANN),
    createUser({ username: 'bob', passwordHash: 'h' }),
    addRole({ username: 'bob', role: ADMINISTRATOR_ROLE }),
    addRole({ username: 'bob', role: ADMINISTRATOR_ROLE }),
    addRole({ username: 'bob', role: 'other' }),
    removeRole('other', 'bob'),
    removeRole(ADMINISTRATOR_ROLE, 'ann'),
  ].map((command) => {
    carryOut<unknown>(state, command, at(0))
    return state.record(ADMINISTRATORS, IN_ALL)?.count
  })
  expect(counts).toEqual([1, 1, 2, 2, 2, 2, 1])
  state.apply([recordRemoved(USER_ROLE, idOf('bob', ADMINISTRATOR_ROLE), 1)], at(0))
  expect(hasAdministrator(state)).toBe(true)
  expect(refused(state, createFirstAdministrator(ANN))).toBe('administrator-exists')
})

test('of two administrators who are removed in one batch, one stays', async () => {
  const world = new EngineWorld()
  addAdministrator(world.state, 'ann')
  addAdministrator(world.state, 'bob')
  const removals = ['ann', 'bob'].map((username) => watched(world.engine.execute(removeUser(username))))
  await world.quiet()
  expect(removals.map(({ error }) => error instanceof Refusal && error.code)).toEqual([
    false,
    'last-administrator',
  ])
})

test('a role that a user has already, or does not have, changes nothing', () => {
  addUser(state, 'ann')
  expect(addRole({ username: 'ann', role: 'anns' }).decide(state, at(0)).changes).toEqual([])
  expect(removeRole('other', 'ann').decide(state, at(0)).changes).toEqual([])
  expect(removeRole('other', undefined).decide(state, at(0)).changes).toEqual([])
})

test('a role is taken from one user, or deleted with its permissions', () => {
  for (const username of ['ann', 'bob', 'eve']) {
    addUser(state, username)
    run(state, addRole({ username, role: 'shared' }))
  }
  run(state, addPermission({ role: 'shared', resource: 'dev:*:*', action: 'r' }))
  run(state, addPermission({ role: 'anns', resource: 'dev:*:*', action: 'r' }))
  run(state, removeRole('shared', 'ann'))
  expect([
    rolesIn(state).filter((text) => text.endsWith('shared')),
    state.recordCount(ROLE_PERMISSION),
  ]).toEqual([['bob shared', 'eve shared'], 2])
  run(state, removeRole('shared', undefined))
  expect(rolesIn(state)).toEqual(['ann anns', 'bob bobs', 'eve eves'])
  expect(Array.from(state.records(ROLE_PERMISSION), ([, { role }]) => role)).toEqual(['anns'])
})

test('a permission needs a role that somebody has, and a resource that can be read', () => {
  addUser(state, 'ann')
  const permission = { role: 'anns', resource: 'dev:*:*', action: 'r' } as const
  expect(refused(state, addPermission({ ...permission, role: 'others' }))).toBe('role-not-found')
  expect(refused(state, addPermission({ ...permission, resource: 'dev' }))).toBe('invalid-parameter')
  run(state, addPermission(permission))
  expect(addPermission(permission).decide(state, at(0)).changes).toEqual([])
})

test('a permission is removed however its resource is spelled', () => {
  addUser(state, 'ann', [[':G:config/**', 'r']])
  expect(Array.from(state.records(ROLE_PERMISSION), ([, { resource }]) => resource)).toEqual([':G:config/**'])
  const removed = { role: 'anns', resource: 'public:G:config/*', action: 'r' } as const
  run(state, removePermission({ ...removed, action: 'w' }))
  expect(state.recordCount(ROLE_PERMISSION)).toBe(1)
  run(state, removePermission(removed))
  expect(state.recordCount(ROLE_PERMISSION)).toBe(0)
})

test('a role of very many users goes in parts, and its permissions go first', () => {
  const state = new State(0)
  const changes = Array.from({ length: 100 }, (_, index) => {
    const value = { username: `u${index}`, role: 'many' }
    return recordSaved(USER_ROLE, { id: idOf(value.username, value.role), value, stamp: 1 })
  })
  const value = { role: 'many', resource: '*:*:*', action: 'rw' } as const
  state.apply([...changes, recordSaved(ROLE_PERMISSION, { id: 'p', value, stamp: 1 })], at(0))
  const removed = [run(state, removeRole('many', undefined))]
  expect([...state.records(ROLE_PERMISSION)]).toHaveLength(0)
  expect(rolesIn(state)).toHaveLength(21)
  for (let part = 0; part < 2; part++) removed.push(run(state, removeRole('many', undefined)))
  expect(removed).toEqual([true, false, false])
  expect(rolesIn(state)).toEqual([])
})

test("a user of very many roles goes in parts: its roles first, the administrators' role before all", () => {
  const state = new State(0)
  addAdministrator(state, 'ann')
  addAdministrator(state, 'bob')
  for (let role = 0; role < 100; role++) run(state, addRole({ username: 'ann', role: `r${role}` }))
  expect(run(state, removeUser('ann'))).toBe(true)
  expect(state.record(USER, 'ann')).toBeDefined()
  expect(rolesIn(state)).not.toContain(`ann ${ADMINISTRATOR_ROLE}`)
  expect(run(state, removeUser('ann'))).toBe(false)
  expect([state.record(USER, 'ann'), rolesIn(state)]).toEqual([undefined, [`bob ${ADMINISTRATOR_ROLE}`]])
})

test('the last administrator is refused before anything is removed', () => {
  const state = new State(0)
  addAdministrator(state, 'ann')
  for (let role = 0; role < 100; role++) run(state, addRole({ username: 'ann', role: `r${role}` }))
  expect(refused(state, removeUser('ann'))).toBe('last-administrator')
  expect(rolesIn(state)).toHaveLength(101)
})
