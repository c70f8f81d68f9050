import { randomUUID } from 'node:crypto'

/** Longer contents are escaped while they are sent. */
const MOST_AT_ONCE = 256 * 1024
/** Each becomes at most six times as long. */
const SLICE = 64 * 1024
/** Stands for a long content in a text of JSON. Nobody knows it, so no content holds it. */
const MARK = randomUUID()

/** The long contents of the text that `JSON.stringify` is making. */
let met: Buffer[] | undefined

/** A long content within a value that `jsonBody` writes. */
class LongContent {
  readonly #content: Buffer

  constructor(content: Buffer) {
    this.#content = content
  }

  toJSON(): string {
    met ??= []
    met.push(this.#content)
    return MARK
  }
}

/** A content in an answer of JSON, as a text or as its stand-in: {@link jsonBody} writes both. */
export type ContentInJson = string | LongContent

/** See {@link ContentInJson}. */
export function contentInJson(content: Buffer): ContentInJson {
  return content.length <= MOST_AT_ONCE ? content.toString('utf8') : new LongContent(content)
}

/** The body of an answer: its text, or chunks where a content is long. */
export interface JsonBody {
  readonly body: string
  readonly chunks?: AsyncIterable<Buffer>
  /** The bytes that the chunks keep until they are sent. */
  readonly kept?: readonly Buffer[]
}

/**
 * A value as JSON. As a text, 10 MiB of control characters take 126 MB of the heap. So long contents are escaped
 * piece by piece, as fast as the client reads.
 */
export function jsonBody(value: unknown, before = '', after = ''): JsonBody {
  met = undefined
  const text = `${before}${JSON.stringify(value)}${after}`
  const contents: Buffer[] | undefined = met
  if (contents === undefined) return { body: text }
  met = undefined
  // As bytes: what a client has not read must not be on the heap.
  const texts = text.split(MARK).map((part) => Buffer.from(part))
  return { body: '', chunks: chunksOf(texts, contents), kept: [...texts, ...contents] }
}

/** A content as a text of JSON, with its quotes. */
export function contentAsJson(content: Buffer): Buffer {
  if (content.length <= MOST_AT_ONCE) return Buffer.from(JSON.stringify(content.toString('utf8')))
  const slices: Buffer[] = [QUOTE]
  for (let from = 0; from < content.length; from += SLICE)
    slices.push(escaped(content.subarray(from, from + SLICE)))
  return Buffer.concat([...slices, QUOTE])
}

const QUOTE = Buffer.from('"')

async function* chunksOf(texts: readonly Buffer[], contents: readonly Buffer[]): AsyncGenerator<Buffer> {
  for (const [at, text] of texts.entries()) {
    yield text
    const content = contents[at] ?? EMPTY
    for (let from = 0; from < content.length; from += SLICE) {
      yield escaped(content.subarray(from, from + SLICE))
      await new Promise(setImmediate)
    }
  }
}

const EMPTY = Buffer.alloc(0)

/** Bytes of UTF-8 as in a text of JSON, without quotes. Only ASCII characters are escaped, so a slice may end anywhere. */
function escaped(bytes: Buffer): Buffer {
  return Buffer.from(JSON.stringify(bytes.toString('latin1')).slice(1, -1), 'latin1')
}
