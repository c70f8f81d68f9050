import { array, assert, constantFrom, property, record, tuple } from 'fast-check'
import { expect, test } from 'vitest'
import { configKey } from '../config/state/config-item.ts'
import { at, carryOut, WALL_MS } from '../core.test-support.ts'
import { recordSaved } from '../records/record-kind.ts'
import { State } from '../engine/state.ts'
import { addAdministrator, addUser, type Allowed } from './access.test-support.ts'
import { addPermission, addRole, removePermission, removeRole, removeUser } from './access-commands.ts'
import { ROLE_PERMISSION } from './access-records.ts'
import type { Action, Resource } from './resource.ts'
import { AllRights, type Rights } from './rights.ts'

const ACTIONS: readonly Action[] = ['read', 'write']
const RESERVED = ['operator', 'backup', 'audit', 'access'] as const

function rightsWith(...permissions: Allowed[]): Rights {
  const state = new State(WALL_MS)
  addUser(state, 'u', permissions)
  return new AllRights(state).of('u')
}

function config(namespaceId: string, group: string, dataId: string): Resource {
  return { kind: 'config', key: configKey(namespaceId, group, dataId) }
}

function service(namespaceId: string, groupedName: string): Resource {
  return { kind: 'service', key: { namespaceId, groupedName } }
}

/** Which of both actions are allowed, as a permission spells them. */
function allowed(rights: Rights, resource: Resource): string {
  return ACTIONS.filter((action) => rights.allows(action, resource))
    .map((action) => action[0])
    .join('')
}

test('an administrator may do everything', () => {
  const state = new State(WALL_MS)
  addAdministrator(state, 'root')
  const rights = new AllRights(state).of('root')
  expect(rights.isAdministrator).toBe(true)
  const resources = [
    config('dev', 'G', 'd'),
    service('dev', 'G@@s'),
    { kind: 'namespace', namespaceId: 'dev' } as const,
    ...RESERVED.map((kind) => ({ kind })),
    { kind: 'metrics' } as const,
  ]
  expect(resources.map((resource) => allowed(rights, resource))).toEqual(resources.map(() => 'rw'))
})

test('a user without roles has an account and the list of namespaces, and nothing else', () => {
  const rights = new AllRights(new State(WALL_MS)).of('nobody')
  expect(rights.isAdministrator).toBe(false)
  const nothing: Resource[] = [
    config('public', 'G', 'd'),
    service('public', 'G@@s'),
    { kind: 'namespace', namespaceId: 'public' },
    { kind: 'some-configs', namespaceId: undefined },
    { kind: 'some-services', namespaceId: 'public' },
    { kind: 'metrics' },
    ...RESERVED.map((kind) => ({ kind })),
  ]
  expect(nothing.map((resource) => allowed(rights, resource))).toEqual(nothing.map(() => ''))
  expect(allowed(rights, { kind: 'own-account' })).toBe('rw')
  expect(allowed(rights, { kind: 'some-namespaces' })).toBe('rw')
})

test('no permission reaches resources for administrators alone', () => {
  const rights = rightsWith(['*:*:*', 'rw'], ['operator/metrics', 'rw'])
  expect(RESERVED.map((kind) => allowed(rights, { kind }))).toEqual(['', '', '', ''])
  expect(rights.isAdministrator).toBe(false)
})

test('reading needs r, writing needs w', () => {
  for (const action of ['r', 'w', 'rw'] as const) {
    const rights = rightsWith(['dev:G:config/d', action], ['dev:G:naming/s', action])
    expect(allowed(rights, config('dev', 'G', 'd'))).toBe(action)
    expect(allowed(rights, service('dev', 'G@@s'))).toBe(action)
  }
})

test('a permission is for one kind, and one without a kind for both', () => {
  const forConfigs = rightsWith(['dev:G:config/*', 'r'])
  expect([allowed(forConfigs, config('dev', 'G', 'x')), allowed(forConfigs, service('dev', 'G@@x'))]).toEqual(
    ['r', ''],
  )
  const forBoth = rightsWith(['dev:*:*', 'r'])
  expect([allowed(forBoth, config('dev', 'G', 'x')), allowed(forBoth, service('dev', 'G@@x'))]).toEqual([
    'r',
    'r',
  ])
  expect([allowed(forBoth, config('test', 'G', 'x')), allowed(forBoth, service('test', 'G@@x'))]).toEqual([
    '',
    '',
  ])
})

test('each part is compared by itself', () => {
  const rights = rightsWith(['dev:G*:config/app-*', 'r'])
  expect(allowed(rights, config('dev', 'G1', 'app-1'))).toBe('r')
  expect(allowed(rights, config('dev', 'G1:config', 'app-1'))).toBe('r')
  expect(allowed(rights, config('dev', 'H', 'app-1'))).toBe('')
  expect(allowed(rights, config('devG', 'G', 'app-1'))).toBe('')
  expect(allowed(rights, config('dev', 'G', 'x:config/app-1'))).toBe('')
})

test('names are compared as they are used: with their case, and a service without its group', () => {
  const rights = rightsWith(['dev:G:naming/orders', 'r'])
  const names = ['G@@orders', 'g@@orders', 'G@@Orders', 'G@@orders2', 'H@@G@@orders']
  expect(names.map((name) => allowed(rights, service('dev', name)))).toEqual(['r', '', '', '', ''])
})

test('the empty namespace of a permission is public', () => {
  const rights = rightsWith([':G:config/d', 'r'])
  expect(allowed(rights, config('public', 'G', 'd'))).toBe('r')
})

test('a namespace may be read by those who may read something in it, and written by administrators', () => {
  const rights = rightsWith(['dev:G:naming/s', 'r'], ['test:*:*', 'w'])
  const namespaces = ['dev', 'test', 'public'].map((namespaceId) =>
    allowed(rights, { kind: 'namespace', namespaceId }),
  )
  expect(namespaces).toEqual(['r', '', ''])
})

test('a list is allowed where something in it can be', () => {
  const rights = rightsWith(['dev:G:config/d', 'r'], ['t*:*:naming/s', 'w'])
  const lists = (kind: 'some-configs' | 'some-services') =>
    ['dev', 'test', 'public', undefined].map((namespaceId) => allowed(rights, { kind, namespaceId }))
  expect(lists('some-configs')).toEqual(['r', '', '', 'r'])
  expect(lists('some-services')).toEqual(['', 'w', '', 'w'])
})

test('monitoring may be permitted', () => {
  expect(allowed(rightsWith(['operator/metrics', 'r']), { kind: 'metrics' })).toBe('r')
  expect(allowed(rightsWith(['operator/metrics', 'w']), { kind: 'metrics' })).toBe('')
  expect(allowed(rightsWith(['*:*:*', 'rw']), { kind: 'metrics' })).toBe('')
})

test('a change by an administrator counts at once', () => {
  const state = new State(WALL_MS)
  const all = new AllRights(state)
  const may = () => all.of('u').allows('read', config('dev', 'G', 'd'))
  const permission = { role: 'us', resource: 'dev:*:*', action: 'r' } as const
  addUser(state, 'u')
  const seen = [may()]
  for (const command of [
    addPermission(permission),
    removePermission(permission),
    addPermission(permission),
    removeRole('us', 'u'),
    addRole({ username: 'u', role: 'us' }),
    removeUser('u'),
  ]) {
    carryOut<unknown>(state, command, at(0))
    seen.push(may())
  }
  expect(seen).toEqual([false, true, false, true, false, true, false])
})

test('a stored permission that cannot be read allows nothing, and the others count', () => {
  const state = new State(WALL_MS)
  addUser(state, 'u', [['dev:*:*', 'r']])
  const value = { role: 'us', resource: 'of a later version', action: 'rw' } as const
  state.apply([recordSaved(ROLE_PERMISSION, { id: 'later', value, stamp: 1 })], at(0))
  const rights = new AllRights(state).of('u')
  expect(allowed(rights, config('dev', 'G', 'd'))).toBe('r')
})

/** Permissions and items of a few letters, so that they often meet. */
const part = array(constantFrom('a', 'b', ':', '*'), { minLength: 1, maxLength: 3 }).map((all) =>
  all.join(''),
)
const namespacePart = constantFrom('a', 'b', '*', 'a*', '')
const anyPermission = record({
  namespace: namespacePart,
  group: part,
  kind: constantFrom('config/', 'naming/', ''),
  name: part,
  action: constantFrom('r' as const, 'w' as const, 'rw' as const),
}).map((one) => (one.kind === '' ? { ...one, name: '*' } : one))
const anyItem = tuple(
  constantFrom('a', 'b', 'ab', 'public'),
  part.map((text) => text.replaceAll('*', 'a')),
  part.map((text) => text.replaceAll('*', 'b')),
)

test('permissions allow the same as a naive comparison of their parts', () => {
  assert(
    property(array(anyPermission, { maxLength: 6 }), anyItem, (permissions, [namespaceId, group, name]) => {
      const rights = rightsWith(
        ...permissions.map((one): Allowed => [
          `${one.namespace}:${one.group}:${one.kind}${one.name}`,
          one.action,
        ]),
      )
      const model = (kind: string, letter: string): boolean =>
        permissions.some(
          (one) =>
            one.action.includes(letter) &&
            (one.kind === kind || one.kind === '') &&
            fits(one.namespace === '' ? 'public' : one.namespace, namespaceId) &&
            fits(one.group, group) &&
            fits(one.name, name),
        )
      for (const [action, letter] of [
        ['read', 'r'],
        ['write', 'w'],
      ] as const) {
        expect(rights.allows(action, config(namespaceId, group, name))).toBe(model('config/', letter))
        expect(rights.allows(action, service(namespaceId, `${group}@@${name}`))).toBe(
          model('naming/', letter),
        )
      }
    }),
    { numRuns: 500 },
  )
})

function fits(pattern: string, text: string): boolean {
  return new RegExp(`^${pattern.replace(/\*+/g, '.*')}$`).test(text)
}
