import type { Refusal, RefusalCode } from '../../../core/refusal.ts'
import { javaParamCheck } from '../../parameters/java-param-check.ts'

/** The codes of errors that concern the message or its connection, and not what it asks for. */
export const TRANSPORT = {
  notServing: 300,
  notSetUp: 301,
  unknownType: 302,
  unreadable: 502,
  overLimit: 503,
} as const

/** The errorCode of each refusal. Clients know 300 (no such item), 403 (sign in again), 409 and 500; the others are shown. */
const ERROR_CODE_OF = {
  forbidden: 403,
  'not-signed-in': 403,
  'unknown-user': 403,
  'token-invalid': 403,
  'token-expired': 403,
  'wrong-code': 403,
  'sign-in-slowed': 429,
  'administrator-exists': 409,
  'last-administrator': 400,
  'user-exists': 400,
  'user-not-found': 404,
  'role-not-found': 404,
  'config-not-found': 300,
  'config-changed': 500,
  'history-not-found': 404,
  'history-not-yours': 403,
  'service-not-found': 404,
  'service-exists': 400,
  'service-not-empty': 400,
  'instance-not-found': 404,
  'client-not-found': 404,
  'instance-connected': 409,
  'adding-disabled': 403,
  'too-many-services': 429,
  'too-many-instances': 429,
  'too-many-subscriptions': 429,
  'cluster-not-found': 404,
  'checker-not-none': 400,
  'namespace-not-found': 404,
  'switch-unknown': 400,
  'invalid-parameter': 400,
  'missing-parameter': 400,
  'malformed-request': 400,
  'too-large': 413,
  'too-many': 400,
  'too-many-patterns': 50_310,
  'too-many-matches': 50_311,
  'too-deep': 400,
  'too-many-headers': 431,
  'too-many-requests': 429,
  'too-many-searches': 429,
  'too-many-connections': 503,
  'too-slow': 408,
  'body-memory': 503,
  'content-memory': 507,
  'cross-site': 403,
  'unknown-host': 421,
  'unknown-path': 404,
  'unknown-method': 405,
  'server-status': 503,
  'store-full': 507,
  'store-unavailable': 500,
  'cut-off': 503,
  'backup-refused': 409,
  'backup-failed': 500,
  stopping: 503,
} as const satisfies Record<RefusalCode, number>

/** The texts that clients of these generations know. */
const KNOWN_TEXTS: Partial<Record<RefusalCode, string>> = {
  'config-not-found': 'config data not exist',
  'config-changed': 'Cas publish fail, server md5 may have changed.',
  forbidden: 'authorization failed!',
  'not-signed-in': 'unknown user!',
  'unknown-user': 'unknown user!',
  'token-invalid': 'token invalid!',
  'token-expired': 'token expired!',
}

/** An error as a client gets it. */
export interface SentError {
  readonly errorCode: number
  readonly message: string
}

/** A refusal as a client gets it. */
export function sentError({ code, message, facts }: Refusal): SentError {
  const checked = code === 'invalid-parameter' ? javaParamCheck(facts) : undefined
  const known = checked === undefined ? KNOWN_TEXTS[code] : `Param check invalid:${checked}`
  return { errorCode: ERROR_CODE_OF[code], message: known ?? message }
}
