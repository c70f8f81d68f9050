import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/** The signed parts of a message between servers, besides its body. */
export interface SignedParts {
  /** A question must not pass as an answer, or an answer as a question. */
  readonly kind: 'question' | 'answer'
  /** The process that is asked: a message for another process, or for an earlier process in its place, does not count. */
  readonly process: string
  /** The name of the question. */
  readonly question: string
  /** A new value for each question: an earlier answer does not count. */
  readonly nonce: string
  /** `digestOf` the body. */
  readonly digest: string
}

/** The headers of a signed message. */
export const HEADERS = {
  nonce: 'x-waypost-nonce',
  digest: 'x-waypost-digest',
  signature: 'x-waypost-signature',
} as const

/** A nonce that was never used. */
export function newNonce(): string {
  return randomBytes(16).toString('hex')
}

/** The digest that a signature covers in place of the body, so that it can be checked before the body is read. */
export function digestOf(body: Uint8Array): string {
  return createHash('sha256').update(body).digest('hex')
}

/** The signature of a message, by the secret that all servers of an installation share. */
export function signatureOf(secret: string, parts: SignedParts): string {
  const { kind, process, question, nonce, digest } = parts
  return createHmac('sha256', secret)
    .update(JSON.stringify([kind, process, question, nonce, digest]))
    .digest('hex')
}

/** Whether two texts are equal. It takes as long wherever they differ. */
export function isEqualText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}
