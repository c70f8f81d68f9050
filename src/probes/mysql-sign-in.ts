import { constants, createHash, publicEncrypt } from 'node:crypto'
import { down, up, type Conversation, type CheckerOf } from './conversation.ts'
import type { DriverStream } from './driver-stream.ts'

/** Answers one message of the server; null sends nothing. */
type MessageAnswer = (message: Buffer) => Buffer | null

/** The methods of sign-in that this server answers itself, in the form that the driver expects. */
export type SignInMethods = Record<string, () => MessageAnswer>

const SCRAMBLE_BYTES = 20
const FAST_PATH_DONE = 3
const FULL_PATH_ASKED = 4
const NO_PASSWORD = Buffer.of(0)
/** A sign-in has three at most. */
const MOST_MESSAGES = 8

/**
 * The methods that this server knows. The writer of an instance chooses its address, so any host may ask for the
 * password. It gets the password only over verified TLS, or encrypted with the key of the checker. Without both, a
 * server that asks is up: it works, and nothing more can be found.
 */
export function signInMethods(
  talk: Conversation,
  stream: DriverStream,
  checker: CheckerOf<'MYSQL'>,
): SignInMethods {
  const { pwd, publicKey } = checker
  const refuse = (method: string): null => {
    talk.conclude(up(`not signed in: ${method} asks for the password itself, which needs publicKey or ca`))
    return null
  }
  const show = (method: string, scramble: Buffer | undefined): Buffer | null => {
    if (pwd === '') return NO_PASSWORD
    if (stream.isVerified) return Buffer.from(`${pwd}\0`)
    if (publicKey === undefined || scramble === undefined) return refuse(method)
    return encrypted(pwd, { scramble, publicKey })
  }
  return limited(talk, {
    mysql_native_password: () => (message) => nativeProof(pwd, scrambleIn(message)),
    mysql_clear_password: () => () => show('mysql_clear_password', undefined),
    sha256_password: () => (message) => show('sha256_password', scrambleIn(message)),
    caching_sha2_password: () =>
      cachingSha2(talk, pwd, (scramble) => show('caching_sha2_password', scramble)),
  })
}

/** Each answer costs time, and the host chooses how often it asks. */
function limited(talk: Conversation, methods: SignInMethods): SignInMethods {
  let messages = 0
  const answerOnce = (answer: MessageAnswer, message: Buffer): Buffer | null => {
    // Ends the driver's loop over the rest of the segment.
    if (talk.over) throw new Error('there is a verdict')
    if (++messages <= MOST_MESSAGES) return answer(message)
    talk.conclude(down('the answer is not valid: the sign-in does not end'))
    return null
  }
  const named = Object.entries(methods).map(([name, method]): [string, () => MessageAnswer] => [
    name,
    () => {
      const answer = method()
      return (message) => answerOnce(answer, message)
    },
  ])
  return Object.fromEntries(named)
}

function scrambleIn(message: Buffer): Buffer {
  return message.subarray(0, SCRAMBLE_BYTES)
}

function nativeProof(pwd: string, scramble: Buffer): Buffer {
  if (pwd === '') return Buffer.alloc(0)
  const once = digest('sha1', Buffer.from(pwd))
  return xor(once, digest('sha1', scramble, digest('sha1', once)))
}

/** First a proof that fits the cache of the server (fast path). If nothing is cached, the server asks for the password. */
function cachingSha2(
  talk: Conversation,
  pwd: string,
  show: (scramble: Buffer) => Buffer | null,
): MessageAnswer {
  let scramble: Buffer | undefined
  return (message) => {
    if (scramble === undefined) {
      scramble = Buffer.from(scrambleIn(message))
      return pwd === '' ? NO_PASSWORD : proofOf(pwd, scramble)
    }
    if (message.length === 1 && message[0] === FULL_PATH_ASKED) return show(scramble)
    if (message.length !== 1 || message[0] !== FAST_PATH_DONE)
      talk.conclude(down('the answer is not valid: unknown message of caching_sha2_password'))
    return null
  }
}

function proofOf(pwd: string, scramble: Buffer): Buffer {
  const once = digest('sha256', Buffer.from(pwd))
  return xor(once, digest('sha256', digest('sha256', once), scramble))
}

function encrypted(pwd: string, { scramble, publicKey }: { scramble: Buffer; publicKey: string }): Buffer {
  const padding = constants.RSA_PKCS1_OAEP_PADDING
  return publicEncrypt({ key: publicKey, padding, oaepHash: 'sha1' }, xor(Buffer.from(`${pwd}\0`), scramble))
}

function digest(algorithm: 'sha1' | 'sha256', ...parts: readonly Buffer[]): Buffer {
  const hash = createHash(algorithm)
  for (const part of parts) hash.update(part)
  return hash.digest()
}

/** The mask is repeated as often as needed. */
function xor(bytes: Buffer, mask: Buffer): Buffer {
  return bytes.map((byte, i) => byte ^ (mask[i % mask.length] ?? 0)) as Buffer
}
