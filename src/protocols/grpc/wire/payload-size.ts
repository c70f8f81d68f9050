import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'
import { Refusal } from '../../../core/refusal.ts'

/** The fields of Payload and of the body in it (`proto/client.proto`). */
const BODY = 3

/** Clients send two fields, and two in the body. Unknown ones are skipped. */
const MOST_FIELDS = 32

/** The most bytes of everything but the body: the type, the headers with a token, the address. */
const MOST_AROUND_BODY = 64 * 1024

/**
 * Throws a Refusal `too-large` for a message with many fields or headers: reading them would take seconds. Throws an Error for
 * bytes that are no message.
 */
export function checkPayloadSize(bytes: Uint8Array): void {
  const reader = new BinaryReader(bytes)
  let aroundBody = 0
  for (let fields = 1; reader.pos < reader.len; fields++) {
    const [number, wireType] = reader.tag()
    const from = reader.pos
    if (number === BODY && wireType === WireType.LengthDelimited) countFields(reader.bytes())
    else {
      reader.skip(wireType, number)
      aroundBody += reader.pos - from
    }
    if (fields > MOST_FIELDS || aroundBody > MOST_AROUND_BODY) throw tooLarge()
  }
}

function countFields(bytes: Uint8Array): void {
  const reader = new BinaryReader(bytes)
  for (let fields = 1; reader.pos < reader.len; fields++) {
    const [number, wireType] = reader.tag()
    reader.skip(wireType, number)
    if (fields > MOST_FIELDS) throw tooLarge()
  }
}

function tooLarge(): Refusal {
  const allowed = `${MOST_FIELDS} fields, and ${MOST_AROUND_BODY} bytes besides the body`
  return new Refusal('too-large', `A message may have at most ${allowed}.`, { allowed })
}
