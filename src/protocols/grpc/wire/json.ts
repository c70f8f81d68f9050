import { isLongText, type LongText, type SentText } from '../../../core/text/long-text.ts'
import { Refusal } from '../../../core/refusal.ts'
import { checkJsonDepth } from '../../parameters/json-depth.ts'
import { checkJsonSize } from '../../parameters/json-size.ts'

/** The JSON object that a message carries. Any key may hold anything: clients send `null` and `''` for "nothing". */
export type JsonObject = Readonly<Record<string, unknown>>

/** Longer ones are not copied. */
const MOST_COPIED_BYTES = 64 * 1024

/** The text of a JSON object that was made once for many messages. It has no key of those that every message has. */
export class ReadyJson {
  /** It as UTF-8. */
  readonly bytes: Buffer | LongText

  /** @param before What is before the text in the object, `after` what follows it. */
  constructor(before: string, text: SentText = '', after = '') {
    const [head, end] = [Buffer.from(before), Buffer.from(after)]
    if (isLongText(text)) this.bytes = { head: Buffer.concat([head, text.head]), rest: [...text.rest, end] }
    else if (typeof text !== 'string' && text.length > MOST_COPIED_BYTES)
      this.bytes = { head, rest: [text, end] }
    else this.bytes = Buffer.concat([head, Buffer.from(text), end])
  }
}

/** The deepest nesting of a body: an instance list with metadata has five levels. */
const MOST_DEPTH = 32

/** The most values of a body: a batch of 10,000 instances with metadata of 35 keys each. */
const MOST_VALUES = 500_000

const ALLOWED = 'a JSON object as UTF-8'

/** The object that a body holds; no bytes are an empty one. Throws Refusal `malformed-request` or `too-deep`. */
export function parseBody(bytes: Uint8Array): JsonObject {
  if (bytes.length === 0) return {}
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8')
  checkJsonDepth('The body', text, MOST_DEPTH)
  checkJsonSize('The body', text, MOST_VALUES)
  const value = parsed(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw malformed()
  return value as JsonObject
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    throw malformed()
  }
}

function malformed(): Refusal {
  return new Refusal('malformed-request', `The body of a message must be ${ALLOWED}.`, { allowed: ALLOWED })
}

/** An object with the keys of `first` and then those of `rest`, as UTF-8. Keys that are undefined are left out. */
export function joinJson(first: object, rest: object): Buffer | LongText {
  const own = rest instanceof ReadyJson ? rest.bytes : Buffer.from(JSON.stringify(rest))
  const head = JSON.stringify(first)
  if (head === EMPTY) return own
  if (isLongText(own)) return { head: joined(head, own.head), rest: own.rest }
  return own.length === EMPTY.length ? Buffer.from(head) : joined(head, own)
}

/** The keys of two objects, the first of which ends here. */
function joined(head: string, own: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${head.slice(0, -1)},`), own.subarray(1)])
}

const EMPTY = '{}'
