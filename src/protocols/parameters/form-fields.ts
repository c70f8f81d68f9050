import { Refusal } from '../../core/refusal.ts'

const AMPERSAND = 0x26
const EQUALS = 0x3d

/** Empty fields are skipped, up to this number. */
export const MOST_EMPTY = 10_000

/**
 * Walks through the fields of a form, which is a query or a body as it was sent. Two searches through the bytes find a
 * field, so a form costs little as long as nothing of it is decoded.
 */
export class FormFields {
  /** Where the name of the current field begins. */
  start = 0
  /** Where it ends. */
  nameEnd = 0
  /** The end of the field. Its value follows the equals sign after the name, if any. */
  end = -1
  readonly #bytes: Buffer
  readonly #most: number
  #count = 0
  #empty = 0
  #equals = -1

  constructor(bytes: Buffer, most: number) {
    this.#bytes = bytes
    this.#most = most
  }

  /** Where the value of the current field begins. */
  get valueStart(): number {
    return Math.min(this.nameEnd + 1, this.end)
  }

  /** Goes to the next field that is not empty; false at the end. Throws Refusal `too-many` for more than `most`. */
  next(): boolean {
    const bytes = this.#bytes
    let start = this.end + 1
    for (; bytes[start] === AMPERSAND; start++) if (++this.#empty > MOST_EMPTY) throw tooMany(this.#most)
    if (start >= bytes.length) return false
    if (++this.#count > this.#most) throw tooMany(this.#most)
    this.start = start
    this.end = this.#placeOf(AMPERSAND)
    // One search for each equals sign: a search in every field without one would go to the end of the form.
    if (this.#equals < start) this.#equals = this.#placeOf(EQUALS)
    this.nameEnd = Math.min(this.#equals, this.end)
    return true
  }

  /** The place of the next such byte in or behind the field, or else the length of the form. */
  #placeOf(byte: number): number {
    const place = this.#bytes.indexOf(byte, this.start)
    return place < 0 ? this.#bytes.length : place
  }
}

/** The refusal of a form of too many fields. */
export function tooMany(most: number): Refusal {
  const allowed = `at most ${most} parameters`
  return new Refusal('too-many', `The request has too many parameters: ${allowed} are allowed.`, { allowed })
}
