const PERCENT = 0x25
const PLUS = 0x2b
const SPACE = 0x20

/** The value of each byte as a hexadecimal digit; -1 for other bytes. */
const DIGITS = Int8Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte)
  return /[0-9a-f]/i.test(character) ? parseInt(character, 16) : -1
})

/** The byte that `%xx` at this place means, before `end`; -1 if there is no such sequence. */
export function percentByte(bytes: Uint8Array, at: number, end: number): number {
  if (bytes[at] !== PERCENT || at + 2 >= end) return -1
  const high = DIGITS[bytes[at + 1]!]!
  if (high < 0) return -1
  const low = DIGITS[bytes[at + 2]!]!
  return low < 0 ? -1 : high * 16 + low
}

/** Replaces each `+` by a space, in place. With very many, one loop costs less than a search for each. */
export function spacePluses(bytes: Buffer): void {
  const { length } = bytes
  for (let at = bytes.indexOf(PLUS); at >= 0 && at < length; at++) {
    if (bytes[at] === PLUS) bytes[at] = SPACE
  }
}

/**
 * Decodes `%xx` in place: the result, which is returned, is never longer than its source. A broken percent sign stays
 * as it is.
 */
export function decodePercents(bytes: Buffer): Buffer {
  const { length } = bytes
  let at = firstSequence(bytes)
  let to = at
  while (at < length) {
    const decoded = percentByte(bytes, at, length)
    bytes[to++] = decoded < 0 ? bytes[at]! : decoded
    at += decoded < 0 ? 1 : 3
  }
  return bytes.subarray(0, to)
}

/** The place of the first `%xx`, or else the length: earlier bytes stay in their places. */
function firstSequence(bytes: Buffer): number {
  const { length } = bytes
  for (let at = bytes.indexOf(PERCENT); at >= 0 && at + 2 < length;) {
    // Without a digit there, no sequence begins here or one byte later.
    if (DIGITS[bytes[at + 2]!]! < 0) at += 2
    else if (percentByte(bytes, at, length) >= 0) return at
    else at++
  }
  return length
}
