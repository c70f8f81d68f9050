import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'
import { Refusal } from '../../../core/refusal.ts'

/** The fields of a message besides its body. */
export interface MessageHead {
  readonly type: string
  /** By their names in lower case. */
  readonly headers: ReadonlyMap<string, string>
  /** The address that the client takes for its own; ''. */
  readonly clientIp: string
}

/** A message of a client. Its body is read later, once it is known that its type is served. */
export interface Message extends MessageHead {
  /** JSON as UTF-8. */
  body: Uint8Array
  /** Its call is over, and has taken the body away. */
  isOver?: boolean
}

/** The field numbers of `proto/client.proto`. Generated code takes longer for a small message than all other work. */
const PAYLOAD = { metadata: 2, body: 3 } as const
const METADATA = { type: 3, headers: 7, clientIp: 8 } as const
const ENTRY = { key: 1, value: 2 } as const
const ANY = { value: 2 } as const

/** Clients send two fields, and two in the body. Unknown ones are skipped. */
const MOST_FIELDS = 32

/** The most bytes of everything but the body: the type, the headers with a token, the address. */
const MOST_AROUND_BODY = 64 * 1024

/** No body. */
export const NO_BYTES = new Uint8Array()
const NO_HEADERS: ReadonlyMap<string, string> = new Map()

/** The fields read so far. A message may repeat a field: the last one counts, and headers are added. */
class Begun implements Message {
  type = ''
  clientIp = ''
  body: Uint8Array = NO_BYTES
  isOver = false
  #headers: Map<string, string> | undefined

  get headers(): ReadonlyMap<string, string> {
    return this.#headers ?? NO_HEADERS
  }

  addHeader(name: string, value: string): void {
    this.#headers ??= new Map()
    this.#headers.set(name, value)
  }
}

/** Reads nested messages in place: a view for each of their fields would take longer than all other work. */
class FieldReader extends BinaryReader {
  /** The end of the field that `next` has come to. */
  endOfField = 0
  readonly #bytes: Buffer

  constructor(bytes: Buffer) {
    super(bytes)
    this.#bytes = bytes
  }

  /** Comes to the next field, and returns its number if it has a length; it skips others. Throws an Error beyond the `end` of the message. */
  next(end: number): number | undefined {
    const [number, wireType] = this.tag()
    const hasLength = wireType === WireType.LengthDelimited
    if (hasLength) this.endOfField = this.uint32() + this.pos
    else {
      this.skip(wireType, number)
      this.endOfField = this.pos
    }
    if (this.endOfField > end) throw new RangeError('The message ends within a field.')
    return hasLength ? number : undefined
  }

  bytesTo(end: number): Buffer {
    const bytes = this.#bytes.subarray(this.pos, end)
    this.pos = end
    return bytes
  }

  /** A text. Throws a TypeError for bytes that are no UTF-8. Nearly all texts are short and ASCII. */
  textTo(end: number): string {
    const text = this.#bytes.toString('latin1', this.pos, end)
    if (BEYOND_ASCII.test(text)) return UTF8.decode(this.bytesTo(end))
    this.pos = end
    return text
  }
}

// oxlint-disable-next-line no-control-regex
const BEYOND_ASCII = /[^\0-\x7f]/
const UTF8 = new TextDecoder('utf-8', { fatal: true })

/**
 * The message that a client has sent. No field is required here. Throws an Error for other bytes, and Refusal
 * `too-large` for very many fields or headers, which would take seconds.
 */
export function readMessage(bytes: Buffer): Message {
  const begun = new Begun()
  const reader = new FieldReader(bytes)
  let aroundBody = 0
  for (let fields = 1; reader.pos < bytes.length; fields++) {
    const start = reader.pos
    const number = reader.next(bytes.length)
    const { endOfField } = reader
    if (number !== PAYLOAD.body) aroundBody += endOfField - start
    if (fields > MOST_FIELDS || aroundBody > MOST_AROUND_BODY) throw tooLarge()
    if (number === PAYLOAD.body) readBody(reader, endOfField, begun)
    else if (number === PAYLOAD.metadata) readMetadata(reader, endOfField, begun)
    reader.pos = endOfField
  }
  return begun
}

/**
 * The head in the beginning of a message; undefined if it has not come yet: clients may send it after the body. A message
 * may have a second, different head, so a whole message is judged once more.
 */
export function readMessageHead(begin: Buffer): MessageHead | undefined {
  try {
    const reader = new FieldReader(begin)
    // It throws where the bytes end before.
    while (reader.next(begin.length) !== PAYLOAD.metadata) reader.pos = reader.endOfField
    if (reader.endOfField - reader.pos > MOST_AROUND_BODY) return undefined
    const { type, headers, clientIp } = readMetadata(reader, reader.endOfField, new Begun())
    return { type, headers, clientIp }
  } catch {
    // It is cut off, or no message: then the whole of it is refused.
    return undefined
  }
}

function readMetadata(reader: FieldReader, end: number, begun: Begun): Begun {
  while (reader.pos < end) {
    const number = reader.next(end)
    const { endOfField } = reader
    if (number === METADATA.type) begun.type = reader.textTo(endOfField)
    else if (number === METADATA.clientIp) begun.clientIp = reader.textTo(endOfField)
    else if (number === METADATA.headers) readHeader(reader, endOfField, begun)
    reader.pos = endOfField
  }
  return begun
}

/** Clients read the names of headers in any case, so they are sent in any case. */
function readHeader(reader: FieldReader, end: number, begun: Begun): void {
  let [name, value] = ['', '']
  while (reader.pos < end) {
    const number = reader.next(end)
    const { endOfField } = reader
    if (number === ENTRY.key) name = reader.textTo(endOfField).toLowerCase()
    else if (number === ENTRY.value) value = reader.textTo(endOfField)
    reader.pos = endOfField
  }
  begun.addHeader(name, value)
}

function readBody(reader: FieldReader, end: number, begun: Begun): void {
  for (let fields = 1; reader.pos < end; fields++) {
    const number = reader.next(end)
    const { endOfField } = reader
    if (number === ANY.value) begun.body = reader.bytesTo(endOfField)
    if (fields > MOST_FIELDS) throw tooLarge()
    reader.pos = endOfField
  }
}

function tooLarge(): Refusal {
  const allowed = `${MOST_FIELDS} fields, and ${MOST_AROUND_BODY} bytes besides the body`
  return new Refusal('too-large', `A message may have at most ${allowed}.`, { allowed })
}
