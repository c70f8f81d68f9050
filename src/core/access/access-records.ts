import { defineRecordKind } from '../records/record-kind.ts'
import { number, object, oneOf, orNull, text } from '../records/shape.ts'

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
