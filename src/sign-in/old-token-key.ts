/** A key with which another server has signed tokens. It only verifies here. */
export interface OldTokenKey {
  readonly key: Uint8Array
  /** Its tokens count until then, epoch ms. */
  readonly untilMs: number
  /** Since when it is accepted (`Stamps`). A password that was set here later ends the tokens of its user. */
  readonly sinceStamp: number
}

/** A shorter key is not safe for any of the algorithms (RFC 7518, section 3.2). */
const LEAST_BYTES = 32

/** Keys that everybody knows: they were the default, or are in the documents of the old servers. */
const PUBLISHED = ['SecretKey0123456789', 'ThisIsMyCustomSecretKey0123456']

/** The algorithms, and how many bytes a key must have. */
const ALGORITHMS = [
  ['HS256', 32],
  ['HS384', 48],
  ['HS512', 64],
] as const

/**
 * The key in a secret as the other servers are given it: Base64, or else the text itself. Throws an Error for one that
 * is too short or published.
 */
export function oldKeyOf(secret: string): Uint8Array {
  const key = bytesOf(secret)
  const texts = [secret, Buffer.from(key).toString('latin1')]
  if (PUBLISHED.some((known) => texts.some((text) => text.startsWith(known))))
    throw new Error(
      'The secret of accept-token-secret is published, as a default or in documents: everybody can sign with it. ' +
        'Start without it; clients sign in again with their passwords.',
    )
  if (key.length < LEAST_BYTES)
    throw new Error(
      `The secret of accept-token-secret has a key of ${key.length} bytes: it must have at least ${LEAST_BYTES}.`,
    )
  return key
}

/** The algorithms for a key of this length. Servers of 1.x always sign with HS256, later ones with the longest. */
export function algorithmsOf(key: Uint8Array): string[] {
  return ALGORITHMS.filter(([, least]) => key.length >= least).map(([name]) => name)
}

function bytesOf(secret: string): Uint8Array {
  const isBase64 = /^[A-Za-z0-9+/]+={0,2}$/.test(secret)
  return isBase64 ? Buffer.from(secret, 'base64') : Buffer.from(secret, 'utf8')
}
