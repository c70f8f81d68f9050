import { fromBinary } from '@bufbuild/protobuf'
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'
import { MetadataSchema } from '../generated/client_pb.js'
import { type Message, headersOf } from './payload.ts'

/** What a message says besides its body. */
export type MessageHead = Omit<Message, 'body'>

/** The fields of Payload (`proto/client.proto`). */
const METADATA = 2

/** A longer head is none: see `payload-size.ts`. */
const LONGEST_HEAD = 64 * 1024

/**
 * What the begin of a message says besides its body; undefined where that has not come yet. Clients need not
 * send it before the body. A message may say it again and differently, so a whole one is judged once more.
 */
export function readMessageHead(begin: Uint8Array): MessageHead | undefined {
  try {
    const bytes = metadataIn(new BinaryReader(begin))
    if (bytes.length > LONGEST_HEAD) return undefined
    const { type, headers, clientIp } = fromBinary(MetadataSchema, bytes, { readUnknownFields: false })
    return { type, headers: headersOf(headers), clientIp }
  } catch {
    // It is cut off, or no message: then the whole of it is refused.
    return undefined
  }
}

/** Throws an Error where the bytes end before. */
function metadataIn(reader: BinaryReader): Uint8Array {
  for (;;) {
    const [number, wireType] = reader.tag()
    if (number === METADATA && wireType === WireType.LengthDelimited) return reader.bytes()
    reader.skip(wireType, number)
  }
}
