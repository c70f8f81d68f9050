import { Refusal } from '../../../core/refusal.ts'
import { checkJsonDepth } from '../../parameters/json-depth.ts'
import { checkJsonSize } from '../../parameters/json-size.ts'

/** The JSON object that a message carries. Any key may hold anything: clients send `null` and `''` for "nothing". */
export type JsonObject = Readonly<Record<string, unknown>>

/** The text of a JSON object that was made once for many messages. It has no key of those that every message has. */
export class ReadyJson {
  readonly #parts: readonly (Buffer | string)[]
  #bytes: Buffer | undefined

  /** @param parts The text in parts: a long one is bytes already, and is not made a text again. */
  constructor(...parts: readonly (Buffer | string)[]) {
    this.#parts = parts
  }

  /** It as UTF-8. */
  get bytes(): Buffer {
    return (this.#bytes ??= Buffer.concat(this.#parts.map(bytesOf)))
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
export function joinJson(first: object, rest: object): Buffer {
  const own = rest instanceof ReadyJson ? rest.bytes : Buffer.from(JSON.stringify(rest))
  const head = JSON.stringify(first)
  if (own.length === EMPTY.length) return Buffer.from(head)
  return head === EMPTY ? own : Buffer.concat([Buffer.from(`${head.slice(0, -1)},`), own.subarray(1)])
}

function bytesOf(part: Buffer | string): Buffer {
  return typeof part === 'string' ? Buffer.from(part) : part
}

const EMPTY = '{}'
