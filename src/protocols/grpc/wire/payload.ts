import type { MessageInitShape } from '@bufbuild/protobuf'
import type { Payload, PayloadSchema } from '../generated/client_pb.js'
import { joinJson } from './json.ts'

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

/** A message that is sent: one field after the other as the generated types have them. */
export type Sent = MessageInitShape<typeof PayloadSchema>

const NO_BYTES = new Uint8Array()
const NO_HEADERS: ReadonlyMap<string, string> = new Map()

/** The message that a client has sent. Nothing in it is required here. */
export function messageOf({ metadata, body }: Payload): Message {
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
  return { metadata: { type }, body: { value: Buffer.from(joinJson(first, rest)) } }
}
