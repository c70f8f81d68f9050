import { WireType } from '@bufbuild/protobuf/wire'
import { bytesOfPieces } from '../../../core/text/long-text.ts'
import { joinJson, joinText, type SentJson } from './json.ts'

/** A message to a client. */
export interface ServerMessage {
  readonly type: string
  readonly body: SentJson
}

/** A message whose body has the keys of `first` and then of `rest`. */
export function toSend(type: string, first: object, rest: object): ServerMessage {
  return { type, body: joinJson(first, rest) }
}

/** The fields of Payload, of its metadata and of its body (`proto/client.proto`). Each has a length. */
const METADATA = (2 << 3) | WireType.LengthDelimited
const TYPE = (3 << 3) | WireType.LengthDelimited
const BODY = (3 << 3) | WireType.LengthDelimited
const VALUE = (2 << 3) | WireType.LengthDelimited

/**
 * The bytes of a message, in pieces, with `free` bytes before them. Shared pieces are not copied, all others once.
 * Generated code copies them several times, and takes longer for a small message than all other work on it.
 */
export function writeMessage({ type, body }: ServerMessage, free: number): readonly [Buffer, ...Buffer[]] {
  const metadata = metadataOf(type)
  const bodyBytes = headBytes(body.bytes) + body.bytes
  const ownBytes = bodyBytes - bytesOfPieces(body.shared)
  const first = Buffer.allocUnsafe(free + metadata.length + headBytes(bodyBytes) + ownBytes)
  first.set(metadata, free)
  let at = writeHead(BODY, bodyBytes, { to: first, at: free + metadata.length })
  at = writeHead(VALUE, body.bytes, { to: first, at })
  for (const piece of body.own)
    at += typeof piece === 'string' ? first.write(piece, at, 'latin1') : piece.copy(first, at)
  return [first, ...body.shared]
}

/** By the type: there are as many as kinds of messages. */
const metadata = new Map<string, Uint8Array>()

function metadataOf(type: string): Uint8Array {
  const known = metadata.get(type)
  if (known !== undefined) return known
  const text = Buffer.from(type)
  const length = headBytes(text.length) + text.length
  const bytes = Buffer.allocUnsafe(headBytes(length) + length)
  const at = writeHead(METADATA, length, { to: bytes, at: 0 })
  text.copy(bytes, writeHead(TYPE, text.length, { to: bytes, at }))
  metadata.set(type, bytes)
  return bytes
}

/** The bytes of the head of a field: its number, and its length as a varint of seven bits a byte. */
function headBytes(length: number): number {
  let bytes = 2
  for (let left = length >>> 7; left > 0; left >>>= 7) bytes++
  return bytes
}

/** Writes the head of a field, and returns where it ends. */
function writeHead(field: number, length: number, { to, at }: { to: Buffer; at: number }): number {
  let end = at
  to[end++] = field
  let left = length
  for (; left >= 0x80; left >>>= 7) to[end++] = (left & 0x7f) | 0x80
  to[end++] = left
  return end
}

/** The fields that the Java server always writes in its messages. Some clients cannot read a message without one. */

/** The part of the server that each of its requests belongs to, as its body names it. */
const MODULE_OF = {
  SetupAckRequest: 'internal',
  ClientDetectionRequest: 'internal',
  ConnectResetRequest: 'internal',
  ConfigChangeNotifyRequest: 'config',
  ConfigFuzzyWatchSyncRequest: 'config',
  ConfigFuzzyWatchChangeNotifyRequest: 'config',
  NotifySubscriberRequest: 'naming',
  NamingFuzzyWatchSyncRequest: 'naming',
  NamingFuzzyWatchChangeNotifyRequest: 'naming',
} as const

/** A request that the server sends to a client. */
export type ServerRequestType = keyof typeof MODULE_OF

/**
 * A request to a client. Its body has the keys of every request, its id, and then the keys of `rest`. Headers are never in the
 * body, but the key is.
 */
export function toAsk(type: ServerRequestType, requestId: string | undefined, rest: object): ServerMessage {
  const id = requestId === undefined ? '' : `,"requestId":"${requestId}"`
  return { type, body: joinText(`{"headers":{},"module":"${MODULE_OF[type]}"${id}}`, rest) }
}

/** A list that says nothing. The Rust client cannot read the reason of a refusal without one; others look at the reason first. */
const NO_LIST = {
  name: '',
  groupName: '',
  clusters: '',
  cacheMillis: 1000,
  hosts: [],
  lastRefTime: 0,
  checksum: '',
  allIps: false,
  allIPs: false,
  reachProtectionThreshold: false,
  valid: false,
}

/** The keys of answers that some clients expect also where the request was refused. In Java they are primitives or lists. */
const ALSO_REFUSED: Readonly<Record<string, object>> = {
  ConfigQueryResponse: { lastModified: 0, beta: false },
  ConfigChangeBatchListenResponse: { changedConfigs: [] },
  ServiceListResponse: { count: 0 },
  QueryServiceResponse: { serviceInfo: NO_LIST },
  SubscribeServiceResponse: { serviceInfo: NO_LIST },
}

/** The fields of a refusal in an answer of this type, besides its error. */
export function keysOfRefused(type: string): object {
  return ALSO_REFUSED[type] ?? {}
}
