import { defineRecordKind } from '../records/record-kind.ts'
import { number, object, oneOf, orNull, text } from '../records/shape.ts'
import type { RecordView } from '../records/record-tables.ts'
import type { Identity, SignedIn } from './identity.ts'

/** The role that may do everything. */
export const ADMINISTRATOR_ROLE = 'ROLE_ADMIN'

/** A user of this server. */
export interface User {
  readonly username: string
  /** The text that `Passwords` made: parameters, salt and hash. */
  readonly passwordHash: string
  /** The stamp of the change that set the password. A sign-in with another stamp no longer counts. */
  readonly credentialStamp: number
}

const credentials = object({ passwordHash: text, credentialStamp: number })

/** The users; the id of the record is the username. */
export const USER = defineRecordKind<User>('user', (json, id) => ({ username: id, ...credentials(json) }), {
  isSecret: true,
})

/** Whether a hash was imported, and its user has not signed in here yet: it is bcrypt. */
export function isImportedHash(passwordHash: string): boolean {
  return passwordHash.startsWith('$2')
}

/** A user has a role. */
export interface UserRole {
  readonly username: string
  readonly role: string
}

/** The roles of users; the id of the record is `idOf(username, role)`. */
export const USER_ROLE = defineRecordKind<UserRole>('user-role', object({ username: text, role: text }))

/**
 * How many users are administrators. One record, so that the loss of a row does not open the server. Two
 * servers that each remove one of the last two administrators write this same record.
 */
export const ADMINISTRATORS = defineRecordKind<{ readonly count: number }>(
  'administrators',
  object({ count: number }),
)

/** The id of the record of {@link ADMINISTRATORS}. */
export const IN_ALL = 'all'

/** An action that a role may take on a resource. `resource` has the syntax of http-compat.md section 7. */
export interface RolePermission {
  readonly role: string
  readonly resource: string
  readonly action: 'r' | 'w' | 'rw'
}

/** The permissions of roles; the id of the record is `idOf(role, canonicalResource(resource), action)`. */
export const ROLE_PERMISSION = defineRecordKind<RolePermission>(
  'permission',
  object<RolePermission>({ role: text, resource: text, action: oneOf(['r', 'w', 'rw']) }),
)

/** A key that signs tokens. The newest one signs; the others only verify. */
export interface SigningKey {
  /** 32 random bytes or more, base64url. */
  readonly secret: string
  /** The stamp of the change that made it. */
  readonly createdStamp: number
  /** Epoch ms until which a replaced key verifies: then its last token has expired. Null for the key that signs. */
  readonly verifiesUntilMs: number | null
  /** Keys made before this stamp had leaked when this key was made; 0: no leak is known. */
  readonly leakedBefore: number
}

/** The signing keys; the id of the record is the id of the key, which its tokens carry (`kid`). */
export const SIGNING_KEY = defineRecordKind<SigningKey>(
  'signing-key',
  object<SigningKey>({
    secret: text,
    createdStamp: number,
    verifiesUntilMs: orNull(number),
    leakedBefore: number,
  }),
  { isSecret: true },
)

/** A browser that is signed in. */
export interface Session {
  readonly username: string
  /** The `credentialStamp` of the user when the session began. */
  readonly credentialStamp: number
  /** Epoch ms. */
  readonly createdMs: number
  /** Epoch ms of its last use, written at most once a minute. */
  readonly usedMs: number
}

/** The sessions; the id of the record is a hash of the id that the browser has. */
export const SESSION = defineRecordKind<Session>(
  'session',
  object<Session>({ username: text, credentialStamp: number, createdMs: number, usedMs: number }),
  { isSecret: true },
)

/** The id of a record that several texts name together. */
export function idOf(...names: readonly string[]): string {
  return JSON.stringify(names)
}

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
