import { bytesOfText, isLongText, type SentText } from '../../../core/text/long-text.ts'

/** The JSON object that a message carries. Any key may hold anything: clients send `null` and `''` for "nothing". */
export type JsonObject = Readonly<Record<string, unknown>>

/** Longer ones are not copied into the message: all that is sent is copied once more when it leaves. */
const MOST_COPIED_BYTES = 1_024

/** A JSON object that is sent, as pieces of UTF-8 in their order. A text has ASCII characters alone. */
export interface SentJson {
  /** Those of all pieces. */
  readonly bytes: number
  /** They are copied into the message. */
  readonly own: readonly (Buffer | string)[]
  /** They follow, and others are sent them too, so nobody copies them. */
  readonly shared: readonly Buffer[]
}

/** The text of a JSON object, a part of which is made once for many messages, without the keys of every message. */
export class ReadyJson {
  readonly before: string
  readonly #own: readonly (Buffer | string)[]
  readonly #shared: readonly Buffer[]
  readonly #bytes: number

  /** @param before The part of the object before the text, `after` the part after it. */
  constructor(before: string, text: SentText = '', after = '') {
    this.before = before
    this.#bytes = bytesOfText(text) + Buffer.byteLength(after)
    if (isLongText(text)) {
      this.#own = [text.head]
      this.#shared = [...text.rest, Buffer.from(after)]
    } else if (typeof text !== 'string' && text.length > MOST_COPIED_BYTES) {
      this.#own = []
      this.#shared = [text, Buffer.from(after)]
    } else {
      this.#own = text.length === 0 ? [] : [text, inAscii(after)]
      this.#shared = []
    }
  }

  /** It with another begin. */
  withBegin(begin: string): SentJson {
    const first = inAscii(begin)
    return { bytes: first.length + this.#bytes, own: [first, ...this.#own], shared: this.#shared }
  }
}

/** The text, or its bytes if it has other characters. */
function inAscii(text: string): Buffer | string {
  return Buffer.byteLength(text) === text.length ? text : Buffer.from(text)
}

/** An object with the keys of `first` and then of `rest`. Undefined keys are left out. */
export function joinJson(first: object, rest: object): SentJson {
  return joinText(JSON.stringify(first), rest)
}

/** The same; `head` is the text of the first object. */
export function joinText(head: string, rest: object): SentJson {
  const ready = rest instanceof ReadyJson ? rest : new ReadyJson(JSON.stringify(rest))
  if (head === EMPTY) return ready.withBegin(ready.before)
  if (ready.before === EMPTY) return ready.withBegin(head)
  return ready.withBegin(`${head.slice(0, -1)},${ready.before.slice(1)}`)
}

const EMPTY = '{}'
