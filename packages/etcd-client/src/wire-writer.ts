const LENGTH_DELIMITED = 2
const VARINT = 0

/**
 * Writes a message of protobuf from its end to its beginning, the last field first. So the length of a part is known
 * when it is needed, without measuring or copying.
 */
export class WireWriter {
  #bytes: Buffer
  #at: number

  /** `size`: about how large the message will be. */
  constructor(size: number) {
    this.#bytes = Buffer.allocUnsafe(size)
    this.#at = size
  }

  /** A whole number that is not negative, or a truth. */
  number(field: number, value: number): void {
    this.#varint(value)
    this.#tag(field, VARINT)
  }

  /** A number of 64 bits. */
  long(field: number, value: bigint): void {
    const groups: number[] = []
    let left = BigInt.asUintN(64, value)
    for (; left > 0x7fn; left >>= 7n) groups.push(Number(left & 0x7fn) | 0x80)
    groups.push(Number(left))
    this.#raw(Uint8Array.from(groups))
    this.#tag(field, VARINT)
  }

  bytes(field: number, value: Uint8Array): void {
    this.#raw(value)
    this.#lengthOf(field, value.length)
  }

  text(field: number, value: string): void {
    const length = Buffer.byteLength(value)
    this.#room(length)
    this.#at -= length
    this.#bytes.write(value, this.#at, 'utf8')
    this.#lengthOf(field, length)
  }

  /** A message in the message: `write` writes its fields. */
  message(field: number, write: () => void): void {
    const end = this.#length
    write()
    this.#lengthOf(field, this.#length - end)
  }

  /** The written bytes. */
  finish(): Buffer {
    return this.#bytes.subarray(this.#at)
  }

  get #length(): number {
    return this.#bytes.length - this.#at
  }

  #lengthOf(field: number, length: number): void {
    this.#varint(length)
    this.#tag(field, LENGTH_DELIMITED)
  }

  #tag(field: number, type: number): void {
    this.#varint(field * 8 + type)
  }

  #raw(value: Uint8Array): void {
    this.#room(value.length)
    this.#at -= value.length
    this.#bytes.set(value, this.#at)
  }

  /** Groups of seven bits, the lowest first. Revisions have more than 32 bits. */
  #varint(value: number): void {
    this.#room(MOST_GROUPS)
    let count = 1
    for (let rest = value; rest > 0x7f; rest = Math.floor(rest / 128)) count++
    this.#at -= count
    let rest = value
    for (let at = this.#at; at < this.#at + count - 1; at++) {
      this.#bytes[at] = (rest % 128) + 128
      rest = Math.floor(rest / 128)
    }
    this.#bytes[this.#at + count - 1] = rest
  }

  /** Makes room for this number of bytes before the written bytes. */
  #room(length: number): void {
    if (this.#at >= length) return
    const larger = Buffer.allocUnsafe(2 * this.#bytes.length + length)
    const at = larger.length - this.#length
    this.#bytes.copy(larger, at, this.#at)
    this.#bytes = larger
    this.#at = at
  }
}

/** The groups of the largest exact number. */
const MOST_GROUPS = 8
