import type { Permission } from '../../../operations/authorisation.ts'
import type { Operations } from '../../../operations/operations.ts'
import type { Route } from './route.ts'

/** Routes that are answered without an operation: they show nothing that belongs to anybody. */
const WITHOUT_OPERATION: ReadonlySet<string> = new Set([
  'GET /healthz',
  'GET /readyz',
  'GET /openapi.json',
  'GET /nacos/v1/console/server/state',
  'GET /nacos/v1/console/health/liveness',
  'GET /nacos/v1/console/health/readiness',
  'GET /nacos/v2/console/health/liveness',
  'GET /nacos/v2/console/health/readiness',
  'GET /nacos/v3/admin/core/state/liveness',
  'GET /nacos/v3/admin/core/state/readiness',
  'GET /nacos/v1/cs/health',
  'GET /nacos/actuator/health',
])

/**
 * Throws an Error that names an operation without a declared permission, or a route without the permission of an
 * operation. So the server does not start with one. The types say the same; this holds also where they were evaded.
 */
export function requirePermissions(operations: Operations, routes: readonly Route[]): void {
  const declared = declaredBy(operations)
  for (const { method, path, permission } of routes) {
    const name = `${method} ${path}`
    if (!declared.has(permission) && !WITHOUT_OPERATION.has(name) && !isOfConsole(method, path))
      throw new Error(`The route ${name} does not have the permission of an operation.`)
  }
}

/** The files of the console, and the addresses that lead there: they are the same for everybody. */
function isOfConsole(method: string, path: string): boolean {
  return method === 'GET' && (LEADING_THERE.has(path) || path.startsWith('/ui/'))
}

const LEADING_THERE: ReadonlySet<string> = new Set(['/', '/ui', '/nacos', '/nacos/', '/nacos/index.html'])

function declaredBy(operations: Operations): ReadonlySet<unknown> {
  const declared = new Set<unknown>()
  for (const [part, ofPart] of Object.entries(operations))
    for (const [name, operation] of Object.entries(ofPart as object)) {
      const { permission } = operation as { permission?: Partial<Permission> }
      if (permission?.action === undefined || permission.resource === undefined)
        throw new Error(`The operation ${part}.${name} declares no permission.`)
      declared.add(permission)
    }
  return declared
}
