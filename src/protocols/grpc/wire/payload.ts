import { create, fromBinary, toBinary } from '@bufbuild/protobuf'
import { PayloadSchema } from '../generated/client_pb.js'
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
export interface Sent {
  readonly type: string
  /** JSON as UTF-8. */
  readonly body: Buffer
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

/** Clients read headers in any case, so they are sent in any case. */
function headersOf(sent: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  const names = Object.keys(sent)
  if (names.length === 0) return NO_HEADERS
  return new Map(names.map((name) => [name.toLowerCase(), sent[name]!]))
}

/** A message whose body has the keys of `first` and then those of `rest`. */
export function toSend(type: string, first: object, rest: object): Sent {
  return { type, body: Buffer.from(joinJson(first, rest)) }
}

/** The bytes of a message. */
export function writeMessage({ type, body: value }: Sent): Uint8Array {
  return toBinary(PayloadSchema, create(PayloadSchema, { metadata: { type }, body: { value } }))
}
