import { errors, jwtVerify, SignJWT } from 'jose'
import { SIGNING_KEY, type SigningKey, USER, type User, problemOf } from '../core/access/access-records.ts'
import type { Identity, NotSignedIn, SignedIn } from '../core/access/identity.ts'
import { ownText } from '../core/text/own-text.ts'
import { algorithmsOf, type OldTokenKey } from './old-token-key.ts'
import type { RecordView } from '../core/records/record-tables.ts'

/** Dependencies of tokens. */
export interface TokenParts {
  readonly records: RecordView
  /** Epoch ms. */
  readonly nowMs: () => number
  /** How long a token counts, ms. */
  readonly ttlMs: number
  /** The key of a server from which this one has taken over. */
  readonly oldKey?: OldTokenKey | undefined
}

/** A token, and how long it counts. */
export interface IssuedToken {
  readonly token: string
  readonly ttlSeconds: number
}

const ALGORITHM = 'HS256'
/** After a sign-in with a password, tokens are renewed for as long as a session of a browser may last. */
const RENEWED_FOR_MS = 12 * 60 * 60 * 1_000
/** No token of this server is as long. */
const MAX_LENGTH = 4_096
/** Verified tokens that are remembered, a few hundred bytes each. */
const MOST_REMEMBERED = 20_000

const INVALID: NotSignedIn = { kind: 'not-signed-in', code: 'token-invalid' }
const EXPIRED: NotSignedIn = { kind: 'not-signed-in', code: 'token-expired' }

/**
 * Signs access tokens (JWT, HS256) and verifies them. The claims of a token were true when it was signed; whether it
 * still counts is judged at each use (`problemOf`). A verified token is remembered, so that using it again costs no signature.
 */
export class Tokens {
  readonly #parts: TokenParts
  readonly #remembered = new Map<string, SignedIn>()

  constructor(parts: TokenParts) {
    this.#parts = parts
  }

  /** How long a token counts. */
  get ttlSeconds(): number {
    return Math.max(1, Math.floor(this.#parts.ttlMs / 1000))
  }

  /** A token for a user whose password was checked. */
  issue(user: User): Promise<IssuedToken> {
    return this.#sign(user, { signedInMs: this.#parts.nowMs(), ttlSeconds: this.ttlSeconds })
  }

  /**
   * A new token in place of an old one. Undefined if the old one does not count, in any mode of the server, or if its
   * user signed in too long ago.
   */
  renew(identity: SignedIn): Promise<IssuedToken> | undefined {
    const { records, nowMs } = this.#parts
    const user = records.record(USER, identity.username)
    if (user === undefined || problemOf(identity, records, nowMs()) !== undefined) return undefined
    const { signedInMs = 0 } = identity
    const leftSeconds = Math.floor((signedInMs + RENEWED_FOR_MS - nowMs()) / 1000)
    if (leftSeconds <= 0) return undefined
    return this.#sign(user, { signedInMs, ttlSeconds: Math.min(this.ttlSeconds, leftSeconds) })
  }

  async #sign(
    { username, credentialStamp }: User,
    { signedInMs, ttlSeconds }: { readonly signedInMs: number; readonly ttlSeconds: number },
  ): Promise<IssuedToken> {
    const [keyId, key] = this.#signingKey()
    const nowSeconds = Math.floor(this.#parts.nowMs() / 1000)
    const token = await new SignJWT({ stamp: credentialStamp, auth_time: Math.floor(signedInMs / 1000) })
      .setProtectedHeader({ alg: ALGORITHM, kid: keyId })
      .setSubject(username)
      .setIssuedAt(nowSeconds)
      .setExpirationTime(nowSeconds + ttlSeconds)
      .sign(secretOf(key))
    return { token, ttlSeconds }
  }

  /** The user of a token that was verified before. */
  known(token: string): SignedIn | undefined {
    return this.#remembered.get(token)
  }

  /** The user of a token: at once if it was verified before. */
  identify(token: string): Identity | Promise<Identity> {
    if (token.length > MAX_LENGTH) return INVALID
    return this.#remembered.get(token) ?? this.#verify(token)
  }

  async #verify(token: string): Promise<Identity> {
    try {
      const { payload, protectedHeader } = await jwtVerify(token, ({ kid }) => this.#keyOf(kid), {
        algorithms: [ALGORITHM],
        requiredClaims: ['sub', 'exp'],
        currentDate: new Date(this.#parts.nowMs()),
      })
      const { sub: username = '', exp = 0, iat = 0, stamp, auth_time: signedIn = iat } = payload
      if (typeof stamp !== 'number' || typeof signedIn !== 'number') return INVALID
      const expiresMs = exp * 1000
      const keyId = protectedHeader.kid ?? ''
      const keyStamp = this.#parts.records.record(SIGNING_KEY, keyId)?.createdStamp ?? 0
      return this.#remember(token, {
        kind: 'user',
        by: 'token',
        username,
        credentialStamp: stamp,
        expiresMs,
        signedInMs: signedIn * 1000,
        keyId,
        keyStamp,
      })
    } catch (error) {
      if (isOfOtherKey(error)) return this.#verifyOld(token)
      return identityOf(error)
    }
  }

  /** A token of the server from which this one has taken over has a user and an end, and nothing else counts. */
  async #verifyOld(token: string): Promise<Identity> {
    const { oldKey, nowMs } = this.#parts
    if (oldKey === undefined) return INVALID
    const { key, untilMs, sinceStamp: keyStamp } = oldKey
    try {
      const { payload } = await jwtVerify(token, key, {
        algorithms: algorithmsOf(key),
        requiredClaims: ['sub', 'exp'],
        currentDate: new Date(nowMs()),
      })
      const { sub: username = '', exp = 0 } = payload
      const expiresMs = Math.min(exp * 1000, untilMs)
      const identity = { kind: 'user', by: 'old-token', username, expiresMs, keyStamp } as const
      return this.#remember(token, { ...identity, credentialStamp: undefined })
    } catch (error) {
      return identityOf(error)
    }
  }

  #remember(token: string, identity: SignedIn): SignedIn {
    const remembered = this.#remembered
    if (remembered.size >= MOST_REMEMBERED) remembered.delete(remembered.keys().next().value ?? '')
    // A token is a piece of a request, which must not stay in memory with it.
    remembered.set(ownText(token), identity)
    return identity
  }

  #keyOf(keyId: string | undefined): Uint8Array {
    const key = keyId === undefined ? undefined : this.#parts.records.record(SIGNING_KEY, keyId)
    if (key === undefined) throw new errors.JWKSNoMatchingKey()
    return secretOf(key)
  }

  /** The newest key. */
  #signingKey(): readonly [id: string, key: SigningKey] {
    const keys = [...this.#parts.records.records(SIGNING_KEY)]
    const newest = keys.sort(([, one], [, other]) => other.createdStamp - one.createdStamp)[0]
    if (newest === undefined) throw new Error('There is no signing key.')
    return newest
  }
}

/** Whether no key of this server can have signed a token. */
function isOfOtherKey(error: unknown): boolean {
  return error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JOSEAlgNotAllowed
}

/** The identity after a failed verification: expired or invalid. Throws other errors. */
function identityOf(error: unknown): NotSignedIn {
  if (error instanceof errors.JWTExpired) return EXPIRED
  if (error instanceof errors.JOSEError) return INVALID
  throw error
}

function secretOf({ secret }: SigningKey): Uint8Array {
  return Buffer.from(secret, 'base64url')
}
