import { isUtf8 } from 'node:buffer'

/** A byte that is no UTF-8 becomes half a character, which no text of UTF-8 has: U+DC00 and the byte. */
const HALVES = 0xdc00
const LAST_BYTE = 0xff
/** The character that the decoder puts for bytes that are no UTF-8. A key may have it, too. */
const REPLACEMENT = '\ufffd'

/** The text of a key. Two keys never have the same text, also if they are no UTF-8: {@link keyBytes} gives the key back. */
export function keyText(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const text = buffer.toString()
  return text.includes(REPLACEMENT) && !isUtf8(buffer) ? withHalves(buffer) : text
}

function withHalves(bytes: Buffer): string {
  const parts: string[] = []
  for (let at = 0; at < bytes.length;) {
    const length = lengthOfCharacter(bytes, at)
    parts.push(
      length === 0 ? String.fromCharCode(HALVES + bytes[at]!) : bytes.toString('utf8', at, at + length),
    )
    at += Math.max(1, length)
  }
  return parts.join('')
}

/** 0: no character of UTF-8 begins here. */
function lengthOfCharacter(bytes: Buffer, at: number): number {
  const first = bytes[at]!
  const length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
  return at + length <= bytes.length && isUtf8(bytes.subarray(at, at + length)) ? length : 0
}

/** The bytes of a key. */
export function keyBytes(text: string): Buffer {
  if (text.isWellFormed()) return Buffer.from(text)
  return Buffer.concat(
    Array.from(text, (char) => (isHalf(char) ? Buffer.of(char.charCodeAt(0) - HALVES) : Buffer.from(char))),
  )
}

/** A key for people: bytes that are no UTF-8 as `\xff`, as shells take them, and then the whole key in hex. */
export function shownKey(text: string): string {
  if (text.isWellFormed()) return text
  const shown = Array.from(text, (char) =>
    isHalf(char) ? `\\x${(char.charCodeAt(0) - HALVES).toString(16)}` : char,
  )
  return `${shown.join('').toWellFormed()} (hex ${keyBytes(text).toString('hex')})`
}

function isHalf(char: string): boolean {
  const unit = char.charCodeAt(0)
  return char.length === 1 && unit >= HALVES && unit <= HALVES + LAST_BYTE
}
