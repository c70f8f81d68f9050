import type { RefusalCode } from '../../core/refusal.ts'

/** The status of each refusal. `/nacos` differs in a few, see nacos-errors.ts. */
export const STATUS_OF = {
  'config-not-found': 404,
  'config-changed': 409,
  'history-not-found': 404,
  'history-not-yours': 403,
  'service-not-found': 404,
  'service-exists': 400,
  'service-not-empty': 400,
  'instance-not-found': 404,
  'adding-disabled': 403,
  'cluster-not-found': 404,
  'checker-not-none': 400,
  'namespace-not-found': 404,
  'switch-unknown': 400,
  'invalid-parameter': 400,
  'missing-parameter': 400,
  'malformed-request': 400,
  'too-large': 413,
  'too-many': 400,
  'unknown-path': 404,
  'unknown-method': 405,
  'server-status': 503,
  'store-unavailable': 500,
  stopping: 503,
} as const satisfies Record<RefusalCode, number>

/** What a refusal is called in a list of problems: short, and the same every time. */
export const TITLE_OF = {
  'config-not-found': 'No such configuration item',
  'config-changed': 'The configuration item has changed',
  'history-not-found': 'No such history record',
  'history-not-yours': 'The history record belongs to another item',
  'service-not-found': 'No such service',
  'service-exists': 'The service exists already',
  'service-not-empty': 'The service has instances',
  'instance-not-found': 'No such instance',
  'adding-disabled': 'No new instances are taken',
  'cluster-not-found': 'No such cluster',
  'checker-not-none': 'The cluster is health-checked',
  'namespace-not-found': 'No such namespace',
  'switch-unknown': 'No such switch',
  'invalid-parameter': 'A parameter is not valid',
  'missing-parameter': 'A parameter is missing',
  'malformed-request': 'The request cannot be read',
  'too-large': 'The request is too large',
  'too-many': 'The request has too many parts',
  'unknown-path': 'No such path',
  'unknown-method': 'The path has no such method',
  'server-status': 'The server does not serve this now',
  'store-unavailable': 'The store cannot be written',
  stopping: 'The server is stopping',
} as const satisfies Record<RefusalCode, string>

/** The headers that a refusal's answer has besides those of every answer. */
export function headersOfRefusal(code: RefusalCode, allowed: string | undefined): Record<string, string> {
  return code === 'unknown-method' && allowed !== undefined ? { Allow: allowed } : {}
}
