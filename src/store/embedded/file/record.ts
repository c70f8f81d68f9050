import type { SqlValue } from '../connection.ts'

/** Bytes that are not what the format says. */
export class Malformed extends Error {}

/** A number of one to nine bytes, and where the next thing starts. */
export function varint(bytes: Buffer, at: number): [value: number, next: number] {
  let value = 0
  for (let count = 0; count < 8; count++) {
    const byte = bytes[at + count]
    if (byte === undefined) throw new Malformed('a number goes beyond its page')
    value = value * 128 + (byte & 0x7f)
    if (byte < 0x80) return [value, at + count + 1]
  }
  // Nine bytes are negative or too large for any id or length of ours.
  throw new Malformed('a number is out of range')
}

/** The values of a record (SQLite's file format, "Record Format"). Throws `Malformed`. */
export function decodeRecord(bytes: Buffer): SqlValue[] {
  const [headerBytes, firstType] = varint(bytes, 0)
  if (headerBytes > bytes.length) throw new Malformed('a record is longer than its bytes')
  const values: SqlValue[] = []
  let at = headerBytes
  for (let typeAt = firstType; typeAt < headerBytes;) {
    const [type, nextType] = varint(bytes, typeAt)
    const length = lengthOf(type)
    if (at + length > bytes.length) throw new Malformed('a value goes beyond its record')
    values.push(valueOf(type, bytes, at))
    at += length
    typeAt = nextType
  }
  return values
}

const NUMBER_LENGTHS = [0, 1, 2, 3, 4, 6, 8, 8, 0, 0]

function lengthOf(type: number): number {
  if (type >= 12) return Math.floor((type - 12) / 2)
  const length = NUMBER_LENGTHS[type]
  if (length === undefined) throw new Malformed(`a value has the unknown type ${type}`)
  return length
}

function valueOf(type: number, bytes: Buffer, at: number): SqlValue {
  if (type === 0) return null
  if (type === 7) return bytes.readDoubleBE(at)
  if (type === 6) return Number(bytes.readBigInt64BE(at))
  if (type < 7) return bytes.readIntBE(at, NUMBER_LENGTHS[type] ?? 1)
  if (type < 10) return type - 8
  const end = at + lengthOf(type)
  return type % 2 === 0 ? bytes.subarray(at, end) : bytes.toString('utf8', at, end)
}
