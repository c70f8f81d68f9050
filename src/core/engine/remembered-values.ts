import { isStamp, LATEST_MS } from '../decisions/stamps.ts'
import { NOTED_MEMORY } from '../records/memory-limits.ts'
import { fieldsOf, map, number, object, type Shape, ShapeError, text, wholeNumber } from '../records/shape.ts'

/** A small value that servers remember: a text under a name. */
export interface RememberedKind<T> {
  readonly name: string
  /** Throws a ShapeError for a text that no server writes. Its message shows nothing of the text: it may be a secret. */
  readonly read: (text: string) => T
}

/**
 * The secrets of the peer channel. A rotation has three steps: a next secret exists; it is in use and the previous one
 * still counts; it is alone. All servers must know a step before the next step.
 */
export interface StoredSecrets {
  /** Names the installation in the ids of events. It is made of the first secret, and stays. */
  readonly origin: string
  readonly inUse: string
  /** Will be in use: it is accepted already. */
  readonly next?: string
  /** Was in use: it is still accepted. */
  readonly previous?: string
}

/** No process has as much memory. */
const MOST_BYTES = 2 ** 50
const bytes: Shape<number> = (value) => {
  if (number(value) >= 0 && number(value) <= MOST_BYTES) return number(value)
  throw new ShapeError('must be a number of bytes')
}

/** The secrets of the peer channel: 32 random bytes each, in base64url. */
export const PEER_SECRETS: RememberedKind<StoredSecrets> = {
  name: 'peer-secret',
  read: (stored) => {
    const fields = fieldsOf(jsonOf(stored))
    const secret = matching(/^[\w-]{43}$/, '32 bytes in base64url')
    const given = (name: string): boolean => fields[name] !== undefined
    return object<StoredSecrets>({
      origin: matching(/^[0-9a-f]{12}$/, '12 hexadecimal digits'),
      inUse: secret,
      ...(given('next') && { next: secret }),
      ...(given('previous') && { previous: secret }),
    } as never)(fields)
  },
}

/** The id of the key that seals secrets in etcd. */
export const SECRETS_KEY: RememberedKind<string> = {
  name: 'secrets-key',
  read: matching(/^[A-Za-z0-9][\w-]{0,31}\.[0-9a-f]{8}$/, 'the id of a key'),
}

/** The history clock, epoch ms: it ages records, and does not jump with the wall clock. */
export const HISTORY_CLOCK: RememberedKind<number> = {
  name: 'history-clock-ms',
  read: (stored) => {
    const ms = Number(matching(/^\d{1,13}(\.\d+)?$/, 'a time in milliseconds')(stored))
    if (ms > LATEST_MS) throw new ShapeError('must be a time before the year 2100')
    return ms
  },
}

/** How many elections there were. */
export const TERM: RememberedKind<number> = {
  name: 'term',
  read: (stored) => Number(matching(/^\d{1,15}$/, 'a number of at most 15 digits')(stored)),
}

/** The memory that the data take. */
export const STORED_MEMORY: RememberedKind<{ readonly heap: number; readonly external: number }> = {
  name: NOTED_MEMORY,
  read: (stored) => object({ heap: bytes, external: bytes })(jsonOf(stored)),
}

/** Since which stamp, and until when in epoch ms, tokens of an old server are accepted. */
export interface OldTokensAccepted {
  readonly sinceStamp: number
  readonly untilMs: number
}

/** See {@link OldTokensAccepted}. */
export const OLD_TOKENS: RememberedKind<OldTokensAccepted> = {
  name: 'old-tokens',
  read: (stored) =>
    object<OldTokensAccepted>({ sinceStamp: aStamp, untilMs: wholeNumber(0, LATEST_MS) })(jsonOf(stored)),
}

/** The digests of the records that imports have written, in several values. */
export function importMarks(value: number): RememberedKind<Record<string, string>> {
  return { name: `imported-${value}`, read: (stored) => map(text)(jsonOf(stored)) }
}

const KINDS: readonly RememberedKind<unknown>[] = [
  PEER_SECRETS,
  SECRETS_KEY,
  HISTORY_CLOCK,
  TERM,
  STORED_MEMORY,
  OLD_TOKENS,
]

/** Throws a ShapeError if no server writes this text under the name. Names that this version does not know are not judged. */
export function judgeRemembered(name: string, stored: string): void {
  const kind = /^imported-\d+$/.test(name) ? importMarks(0) : KINDS.find((one) => one.name === name)
  kind?.read(stored)
}

/** The value in a text; undefined: there is no text, or no server writes it. */
export function readOrNone<T>({ read }: RememberedKind<T>, stored: string | undefined): T | undefined {
  if (stored === undefined) return undefined
  try {
    return read(stored)
  } catch (error) {
    if (error instanceof ShapeError) return undefined
    throw error
  }
}

const aStamp: Shape<number> = (value) => {
  if (isStamp(value)) return value
  throw new ShapeError('must be a stamp')
}

function matching(pattern: RegExp, what: string): Shape<string> {
  return (value) => {
    if (typeof value === 'string' && pattern.test(value)) return value
    throw new ShapeError(`must be ${what}`)
  }
}

function jsonOf(stored: string): unknown {
  try {
    return JSON.parse(stored)
  } catch {
    throw new ShapeError('must be JSON')
  }
}
