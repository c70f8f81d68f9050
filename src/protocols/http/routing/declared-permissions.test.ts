import { expect, test } from 'vitest'
import { requirePermissions } from './declared-permissions.ts'
import { Guard } from '../../../operations/guard.ts'
import type { Operations } from '../../../operations/operations.ts'
import type { Route } from './route.ts'

const READ = { action: 'read', resource: 'config' } as const
const find = new Guard().operation({ permission: READ, resources: () => [], run: () => 1 })
const operations = { configs: { find } } as unknown as Operations
const route = (path: string, permission: unknown) => ({ method: 'GET', path, permission }) as Route

test('a route with the permission of an operation may be served', () => {
  expect(() => requirePermissions(operations, [route('/a', find.permission)])).not.toThrow()
})

test('a route for everybody must be in the list of open routes', () => {
  const permission = { action: 'read', resource: 'public' }
  expect(() => requirePermissions(operations, [route('/healthz', permission)])).not.toThrow()
  expect(() => requirePermissions(operations, [route('/contents', permission)])).toThrow('GET /contents')
})

test.each([undefined, {}, { ...READ }])(
  'a server with a route whose permission is %j does not start',
  (own) => {
    expect(() => requirePermissions(operations, [route('/a', own)])).toThrow(
      'The route GET /a does not have the permission of an operation.',
    )
  },
)

test.each([undefined, {}, { action: 'read' }])('nor with an operation whose permission is %j', (own) => {
  const undeclared = Object.assign(() => 1, { permission: own })
  const some = { configs: { find, undeclared } } as unknown as Operations
  expect(() => requirePermissions(some, [])).toThrow(
    'The operation configs.undeclared declares no permission.',
  )
})
