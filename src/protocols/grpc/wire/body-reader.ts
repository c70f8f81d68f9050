import { Refusal } from '../../../core/refusal.ts'
import { checkJsonDepth, endOfTextIn, tooDeep, tooManyValues } from '../../parameters/json-depth.ts'
import type { JsonObject } from './json.ts'

/** Shorter bodies are parsed in one go: some 7,000 keys at most. */
export const SMALL_BODY_BYTES = 64 * 1024

/** The deepest nesting of a body: an instance list with metadata has five levels. */
const MOST_DEPTH = 32

/** The most values of a body, lists and objects included: a batch of 10,000 instances with metadata of 45 keys each. */
const MOST_VALUES = 600_000

/**
 * The bytes outside of texts of a slice. A key that no object had before costs most, some 1.2 µs for its 5 bytes: 8 ms in all.
 * Keys of usual instances cost a tenth of that.
 */
const SLICE_BYTES = 32 * 1024

/** The most bytes outside of texts of one item of a list, and of the body around its lists: 10,000 keys have fewer. */
const MOST_ITEM_BYTES = 64 * 1024

const ALLOWED = 'a JSON object as UTF-8'

const [QUOTE, COMMA, OBJECT, OBJECT_END, LIST, LIST_END] = [0x22, 0x2c, 0x7b, 0x7d, 0x5b, 0x5d]

/**
 * The object that a body holds; no bytes are an empty one. Throws Refusal `malformed-request` or `too-deep`. A large body
 * holds up the loop (`SlicedBody`).
 */
export function parseBody(bytes: Uint8Array): JsonObject {
  if (bytes.length === 0) return {}
  if (bytes.length > SMALL_BODY_BYTES) return allOf(new SlicedBody(bytes))
  const text = bufferOf(bytes).toString('utf8')
  checkJsonDepth('The body', { text, bytes }, MOST_DEPTH)
  return parsedObject(text)
}

/**
 * A body that is read in slices, so that others have turns in between. First come the items of its lists, and then the rest. All
 * requests with very many items have them in such lists. Its methods throw Refusal `malformed-request` or `too-deep`.
 */
export class SlicedBody {
  readonly #bytes: Buffer
  readonly #sliceBytes: number
  /** The items of each list, by slices. */
  readonly #lists: unknown[][][] = []
  /** The body without the items of its lists: each list has its index instead. */
  #frame = ''
  #frameBytes = 0
  #at = 0
  /** The beginning of the part that is not parsed yet, and its bytes within texts. */
  #from = 0
  #textBytes = 0
  /** The bytes outside of texts that this slice has parsed. */
  #parsedBytes = 0
  #depth = 0
  #values = 0
  #isInList = false

  /** `sliceBytes` is for tests. */
  constructor(bytes: Uint8Array, sliceBytes = SLICE_BYTES) {
    this.#bytes = bufferOf(bytes)
    this.#sliceBytes = sliceBytes
  }

  /** Reads a slice. False: all is read, and `object` may be called. */
  read(): boolean {
    const bytes = this.#bytes
    this.#parsedBytes = 0
    while (this.#at < bytes.length && this.#parsedBytes < this.#sliceBytes) {
      const at = this.#at++
      const code = bytes[at]
      if (code === QUOTE) this.#passText(at)
      else if (code === COMMA) this.#comma(at)
      else if (code === OBJECT || code === LIST) this.#open(at)
      else if (code === OBJECT_END || code === LIST_END) this.#close(at)
    }
    return this.#at < bytes.length
  }

  /** The object, once all is read. */
  object(): JsonObject {
    if (this.#isInList) throw malformed()
    const body = parsedObject(this.#frame + this.#partTo(this.#bytes.length))
    for (const [key, value] of Object.entries(body))
      if (Array.isArray(value)) body[key] = ([] as unknown[]).concat(...this.#lists[value[0] as number]!)
    return body
  }

  #passText(at: number): void {
    this.#at = endOfTextIn(this.#bytes, at) + 1
    this.#textBytes += this.#at - at - 2
  }

  #comma(at: number): void {
    this.#countValue()
    if (!this.#isInList || this.#depth !== 2 || this.#weightTo(at) < this.#sliceBytes) return
    this.#parseItems(at)
    this.#from = at + 1
  }

  #open(at: number): void {
    this.#countValue()
    if (++this.#depth > MOST_DEPTH) throw tooDeep('The body', MOST_DEPTH)
    if (this.#depth !== 2 || this.#bytes[at] !== LIST) return
    this.#frame += `${this.#partTo(at + 1)}${this.#lists.length}`
    this.#lists.push([])
    this.#isInList = true
  }

  #close(at: number): void {
    if (this.#isInList && this.#depth === 2) {
      if (this.#bytes[at] !== LIST_END) throw malformed()
      this.#parseItems(at)
      this.#isInList = false
    }
    this.#depth--
  }

  #countValue(): void {
    if (++this.#values > MOST_VALUES) throw tooManyValues('The body', MOST_VALUES)
  }

  /** Parses the items of a list that were not parsed yet. */
  #parseItems(end: number): void {
    const slices = this.#lists.at(-1)!
    this.#parsedBytes += this.#weightTo(end)
    const text = this.#partTo(end)
    // Without an item beside a comma.
    const isBesideComma = slices.length > 0 || this.#bytes[end] === COMMA
    if (isBesideComma && text.trim() === '') throw malformed()
    slices.push(parsed(`[${text}]`) as unknown[])
  }

  /** The bytes outside of texts of the part that ends here. */
  #weightTo(end: number): number {
    return end - this.#from - this.#textBytes
  }

  /** The part that ends here; the next one begins. */
  #partTo(end: number): string {
    const weight = this.#weightTo(end)
    if (!this.#isInList) this.#frameBytes += weight
    const most = this.#isInList ? this.#sliceBytes + MOST_ITEM_BYTES : MOST_ITEM_BYTES
    if ((this.#isInList ? weight : this.#frameBytes) > most) throw tooHeavy()
    const text = this.#bytes.toString('utf8', this.#from, end)
    this.#from = end
    this.#textBytes = 0
    return text
  }
}

function allOf(body: SlicedBody): JsonObject {
  for (let isMore = true; isMore;) isMore = body.read()
  return body.object()
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
}

function parsedObject(text: string): Record<string, unknown> {
  const value = parsed(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw malformed()
  return value as Record<string, unknown>
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

function tooHeavy(): Refusal {
  const allowed = `JSON with at most ${MOST_ITEM_BYTES} bytes besides texts in an item of a list, and around its lists`
  return new Refusal('malformed-request', `The body must be ${allowed}.`, { parameter: 'The body', allowed })
}
