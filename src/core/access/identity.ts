/** The identity of a caller, as far as its credentials show it. */
export type Identity = Anonymous | NotSignedIn | SignedIn

/** The caller sent no credentials. */
export interface Anonymous {
  readonly kind: 'anonymous'
}

/** The caller sent credentials that do not count. */
export interface NotSignedIn {
  readonly kind: 'not-signed-in'
  readonly code: 'unknown-user' | 'token-invalid' | 'token-expired'
  /** The user that is there and whose password was wrong: for the audit alone. */
  readonly username?: string
}

/**
 * The caller is this user, according to its credentials. They are judged each time they are used: the user
 * may be gone, the password changed, the key or the session ended.
 */
export interface SignedIn {
  readonly kind: 'user'
  readonly username: string
  /** `old-token`: a token of the server from which this one has taken over (docs/decisions/0059). */
  readonly by: 'token' | 'old-token' | 'password' | 'session' | 'certificate'
  /** `User.credentialStamp` when the password was checked; undefined for a certificate. */
  readonly credentialStamp: number | undefined
  /** Epoch ms; Infinity where it has no end of its own. */
  readonly expiresMs: number
  /** When the user of a token signed in with a password, epoch ms. */
  readonly signedInMs?: number
  /** The id of the signing key of a token. */
  readonly keyId?: string
  /** When that key was made (`SigningKey.createdStamp`); of an old token, since when its key is accepted. */
  readonly keyStamp?: number
  /** True for messages that a connection is sent as long as it lasts: an expired token still counts. */
  readonly lasts?: boolean
  /** The id of the record of a session. */
  readonly sessionId?: string
}

export const ANONYMOUS: Anonymous = Object.freeze({ kind: 'anonymous' })
