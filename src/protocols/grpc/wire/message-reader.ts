import { isAscii } from 'node:buffer'
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
  readonly body: Uint8Array
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

const NO_BYTES = new Uint8Array()
const NO_HEADERS: ReadonlyMap<string, string> = new Map()

/** The fields read so far. A message may repeat a field: the last one counts, and headers are added. */
class Begun implements Message {
  type = ''
  clientIp = ''
  body: Uint8Array = NO_BYTES
  #headers: Map<string, string> | undefined

  get headers(): ReadonlyMap<string, string> {
    return this.#headers ?? NO_HEADERS
  }

  addHeader(name: string, value: string): void {
    this.#headers ??= new Map()
    this.#headers.set(name, value)
  }
}

/**
 * The message that a client has sent. No field is required here. Throws an Error for other bytes, and Refusal
 * `too-large` for very many fields or headers, which would take seconds.
 */
export function readMessage(bytes: Uint8Array): Message {
  const begun = new Begun()
  const reader = new BinaryReader(bytes)
  let aroundBody = 0
  for (let fields = 1; reader.pos < reader.len; fields++) {
    const [number, wireType] = reader.tag()
    const field = wireType === WireType.LengthDelimited ? number : undefined
    if (field === PAYLOAD.body) readBody(reader.bytes(), begun)
    else if (field === PAYLOAD.metadata) {
      const metadata = reader.bytes()
      aroundBody += metadata.length
      if (aroundBody <= MOST_AROUND_BODY) readMetadata(metadata, begun)
    } else aroundBody += reader.skip(wireType, number).length
    if (fields > MOST_FIELDS || aroundBody > MOST_AROUND_BODY) throw tooLarge()
  }
  return begun
}

/**
 * The head in the begin of a message; undefined if it has not come yet: clients may send it after the body. A message
 * may have a second, different head, so a whole message is judged once more.
 */
export function readMessageHead(begin: Uint8Array): MessageHead | undefined {
  try {
    const metadata = metadataIn(new BinaryReader(begin))
    if (metadata.length > MOST_AROUND_BODY) return undefined
    const { type, headers, clientIp } = readMetadata(metadata, new Begun())
    return { type, headers, clientIp }
  } catch {
    // It is cut off, or no message: then the whole of it is refused.
    return undefined
  }
}

/** Throws an Error where the bytes end before. */
function metadataIn(reader: BinaryReader): Uint8Array {
  for (;;) {
    const [number, wireType] = reader.tag()
    if (number === PAYLOAD.metadata && wireType === WireType.LengthDelimited) return reader.bytes()
    reader.skip(wireType, number)
  }
}

function readMetadata(bytes: Uint8Array, begun: Begun): Begun {
  const reader = new BinaryReader(bytes)
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag()
    if (wireType !== WireType.LengthDelimited) reader.skip(wireType, number)
    else if (number === METADATA.type) begun.type = textOf(reader.bytes())
    else if (number === METADATA.clientIp) begun.clientIp = textOf(reader.bytes())
    else if (number === METADATA.headers) readHeader(reader.bytes(), begun)
    else reader.skip(wireType, number)
  }
  return begun
}

/** Clients read the names of headers in any case, so they are sent in any case. */
function readHeader(bytes: Uint8Array, begun: Begun): void {
  const reader = new BinaryReader(bytes)
  let [name, value] = ['', '']
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag()
    if (wireType !== WireType.LengthDelimited) reader.skip(wireType, number)
    else if (number === ENTRY.key) name = textOf(reader.bytes()).toLowerCase()
    else if (number === ENTRY.value) value = textOf(reader.bytes())
    else reader.skip(wireType, number)
  }
  begun.addHeader(name, value)
}

function readBody(bytes: Uint8Array, begun: Begun): void {
  const reader = new BinaryReader(bytes)
  for (let fields = 1; reader.pos < reader.len; fields++) {
    const [number, wireType] = reader.tag()
    if (number === ANY.value && wireType === WireType.LengthDelimited) begun.body = reader.bytes()
    else reader.skip(wireType, number)
    if (fields > MOST_FIELDS) throw tooLarge()
  }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true })

/** A text of a message. Throws a TypeError for bytes that are no UTF-8. Nearly all texts are short and ASCII. */
function textOf(bytes: Uint8Array): string {
  if (!isAscii(bytes)) return UTF8.decode(bytes)
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
}

function tooLarge(): Refusal {
  const allowed = `${MOST_FIELDS} fields, and ${MOST_AROUND_BODY} bytes besides the body`
  return new Refusal('too-large', `A message may have at most ${allowed}.`, { allowed })
}
