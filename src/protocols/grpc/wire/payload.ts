import { create, toBinary } from '@bufbuild/protobuf'
import { WireType } from '@bufbuild/protobuf/wire'
import { PayloadSchema } from '../generated/client_pb.js'
import { bytesOfPieces } from '../../../core/text/long-text.ts'
import { joinJson, type SentJson } from './json.ts'

/** A message to a client. */
export interface ServerMessage {
  readonly type: string
  readonly body: SentJson
}

/** A message whose body has the keys of `first` and then those of `rest`. */
export function toSend(type: string, first: object, rest: object): ServerMessage {
  return { type, body: joinJson(first, rest) }
}

/** The fields of Payload and of the body in it (`proto/client.proto`), which both have a length. */
const BODY = (3 << 3) | WireType.LengthDelimited
const VALUE = (2 << 3) | WireType.LengthDelimited

/**
 * The bytes of a message, in pieces, with `free` bytes before them. All but what others are sent too is copied once. The
 * generated code copies it several times, and takes longer for a small message than all other work on it.
 */
export function writeMessage({ type, body }: ServerMessage, free: number): readonly [Buffer, ...Buffer[]] {
  const metadata = metadataOf(type)
  const value = [VALUE, ...varint(body.bytes)]
  const head = [BODY, ...varint(value.length + body.bytes), ...value]
  const begin = free + metadata.length
  const ownBytes = body.bytes - bytesOfPieces(body.shared)
  const first = Buffer.allocUnsafe(begin + head.length + ownBytes)
  first.set(metadata, free)
  first.set(head, begin)
  let at = begin + head.length
  for (const piece of body.own)
    at += typeof piece === 'string' ? first.write(piece, at, 'latin1') : piece.copy(first, at)
  return [first, ...body.shared]
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
