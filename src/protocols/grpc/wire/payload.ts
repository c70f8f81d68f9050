import { create, fromBinary, toBinary } from '@bufbuild/protobuf'
import { WireType } from '@bufbuild/protobuf/wire'
import { PayloadSchema } from '../generated/client_pb.js'
import { bytesOfText, isLongText, type LongText } from '../../../core/text/long-text.ts'
import { joinJson } from './json.ts'
import { checkPayloadSize } from './payload-size.ts'

/** A message of a client. Its body is read later, once it is known that its type is served. */
export interface Message {
  readonly type: string
  /** By their names in lower case. */
  readonly headers: ReadonlyMap<string, string>
  /** The address that the client takes for its own; ''. */
  readonly clientIp: string
  /** JSON as UTF-8. */
  readonly body: Uint8Array
}

/** A message to a client. */
export interface ServerMessage {
  readonly type: string
  /** JSON as UTF-8. */
  readonly body: Buffer | LongText
}

const NO_BYTES = new Uint8Array()
const NO_HEADERS: ReadonlyMap<string, string> = new Map()

/**
 * The message that a client has sent. Nothing in it is required here. Throws an Error for bytes that are none, and Refusal
 * `too-large` for one with very many fields or headers.
 */
export function readMessage(bytes: Uint8Array): Message {
  checkPayloadSize(bytes)
  const { metadata, body } = fromBinary(PayloadSchema, bytes, { readUnknownFields: false })
  return {
    type: metadata?.type ?? '',
    headers: headersOf(metadata?.headers ?? {}),
    clientIp: metadata?.clientIp ?? '',
    body: body?.value ?? NO_BYTES,
  }
}

/** The headers of a message by their names in lower case: clients read them in any case, so they are sent in any case. */
export function headersOf(sent: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  const names = Object.keys(sent)
  if (names.length === 0) return NO_HEADERS
  return new Map(names.map((name) => [name.toLowerCase(), sent[name]!]))
}

/** A message whose body has the keys of `first` and then those of `rest`. */
export function toSend(type: string, first: object, rest: object): ServerMessage {
  return { type, body: joinJson(first, rest) }
}

/** The fields of Payload and of the body in it (`proto/client.proto`), which both have a length. */
const BODY = (3 << 3) | WireType.LengthDelimited
const VALUE = (2 << 3) | WireType.LengthDelimited

/**
 * The bytes of a message, in pieces. Its body is copied at most once. The generated code copies it several
 * times, and takes longer for a small message than all other work on it.
 */
export function writeMessage({ type, body }: ServerMessage): readonly Buffer[] {
  const length = bytesOfText(body)
  const value = [VALUE, ...varint(length)]
  const head = Buffer.from([BODY, ...varint(value.length + length), ...value])
  const [first, rest] = isLongText(body) ? [body.head, body.rest] : [body, []]
  return [Buffer.concat([metadataOf(type), head, first]), ...rest]
}

/** By the type: there are as many as kinds of messages. */
const metadata = new Map<string, Uint8Array>()

function metadataOf(type: string): Uint8Array {
  const known = metadata.get(type)
  if (known !== undefined) return known
  const bytes = toBinary(PayloadSchema, create(PayloadSchema, { metadata: { type } }))
  metadata.set(type, bytes)
  return bytes
}

function varint(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)]
}
