import type { RecordView } from '../records/record-tables.ts'
import {
  ADMINISTRATOR_ROLE,
  idOf,
  isImportedHash,
  SESSION,
  type Session,
  SIGNING_KEY,
  USER,
  type User,
  USER_ROLE,
} from './access-records.ts'
import type { Identity, SignedIn } from './identity.ts'

/** How long a session may be unused, ms. */
const SESSION_IDLE_MS = 30 * 60_000
/** How long a session may be used, ms. */
const SESSION_LONGEST_MS = 12 * 3_600_000

/** When a session ends at the latest, epoch ms. */
export function latestEndOf({ createdMs }: Session): number {
  return createdMs + SESSION_LONGEST_MS
}

/** Whether a session counts: it is in use, not too old, and its user has the same password as when it began. */
export function isSessionOpen(session: Session, records: RecordView, nowMs: number): boolean {
  const { username, credentialStamp, usedMs } = session
  return (
    nowMs < usedMs + SESSION_IDLE_MS &&
    nowMs < latestEndOf(session) &&
    records.record(USER, username)?.credentialStamp === credentialStamp
  )
}

/** Why an identity does not count. */
export type CredentialProblem = 'not-signed-in' | 'unknown-user' | 'token-invalid' | 'token-expired'

/**
 * Why an identity does not count now; undefined where it does. The facts of the sign-in are compared with the
 * present records. So a changed password or an ended session counts at once, also for requests that wait.
 */
export function problemOf(
  identity: Identity,
  records: RecordView,
  nowMs: number,
): CredentialProblem | undefined {
  switch (identity.kind) {
    case 'anonymous':
      return 'not-signed-in'
    case 'not-signed-in':
      return identity.code
    case 'user':
      return problemOfUser(identity, records, nowMs)
  }
}

function problemOfUser(
  identity: SignedIn,
  records: RecordView,
  nowMs: number,
): CredentialProblem | undefined {
  const { username, by, credentialStamp, expiresMs } = identity
  const user = records.record(USER, username)
  const isToken = by === 'token' || by === 'old-token'
  if (user === undefined) return isToken ? 'token-invalid' : 'unknown-user'
  const isCurrent = credentialStamp === undefined || credentialStamp === user.credentialStamp
  if (!isCurrent) return isToken ? 'token-invalid' : 'unknown-user'
  if (by === 'old-token' && !oldTokenCounts(identity, user, records)) return 'token-invalid'
  if (isToken && identity.lasts === true) return hasLeaked(identity, records) ? 'token-invalid' : undefined
  if (nowMs >= expiresMs) return 'token-expired'
  if (by === 'token') return keyCounts(identity, records, nowMs) ? undefined : 'token-invalid'
  if (by === 'session') return sessionCounts(identity, records, nowMs) ? undefined : 'token-expired'
  return undefined
}

/** Keys made before this stamp have leaked; 0: no leak is known. */
export function latestLeak(records: RecordView): number {
  let latest = 0
  for (const [, { leakedBefore }] of records.records(SIGNING_KEY)) latest = Math.max(latest, leakedBefore)
  return latest
}

/** An old key may be removed, so the key stamp in the token is compared. */
function hasLeaked({ keyStamp = 0 }: SignedIn, records: RecordView): boolean {
  return keyStamp < latestLeak(records)
}

/**
 * A token of an old server never counts for an administrator, and not with a password that was set here after its key
 * was accepted. An imported password is older than any token that was signed with it.
 */
function oldTokenCounts(identity: SignedIn, user: User, records: RecordView): boolean {
  const { username, keyStamp = 0 } = identity
  if (hasLeaked(identity, records)) return false
  if (records.record(USER_ROLE, idOf(username, ADMINISTRATOR_ROLE)) !== undefined) return false
  return user.credentialStamp <= keyStamp || isImportedHash(user.passwordHash)
}

function keyCounts(identity: SignedIn, records: RecordView, nowMs: number): boolean {
  const key = records.record(SIGNING_KEY, identity.keyId ?? '')
  if (key === undefined || hasLeaked(identity, records)) return false
  return key.verifiesUntilMs === null || nowMs < key.verifiesUntilMs
}

function sessionCounts({ sessionId = '' }: SignedIn, records: RecordView, nowMs: number): boolean {
  const session = records.record(SESSION, sessionId)
  return session !== undefined && isSessionOpen(session, records, nowMs)
}
