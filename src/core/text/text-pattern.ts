/** The part of a text that is read: its UTF-16 units. */
export type Units = Pick<string, 'length' | 'charCodeAt'>

const WILDCARD = '*'
/** The objects of a piece, as numbers of its table. */
const PIECE_SIZE = 14

/**
 * A text in which each `*` stands for any characters, or nothing; all else is compared as it is. The time of a comparison
 * grows with the length of the text alone. Its units are read once, from left to right, and the last ones once more.
 */
export class TextPattern {
  /** Its source without repeated wildcards: equal for equal patterns. */
  readonly source: string
  /** The only text that it matches, where it has no wildcard. */
  readonly exact: string | undefined
  /** Whether it matches every text. */
  readonly isAny: boolean
  readonly #first: string
  readonly #last: string
  readonly #middle: readonly Piece[]

  constructor(source: string) {
    this.source = source.replace(/\*+/g, WILDCARD)
    this.exact = source.includes(WILDCARD) ? undefined : source
    this.isAny = this.source === WILDCARD
    const [first = '', ...others] = this.source.split(WILDCARD)
    this.#first = first
    this.#last = others.pop() ?? ''
    this.#middle = others.map(pieceOf)
  }

  /** About how many numbers its comparison keeps: for each text between two wildcards one for each unit, and its objects. */
  get tableSize(): number {
    return this.#middle.reduce((sum, { text }) => sum + PIECE_SIZE + text.length, 0)
  }

  matches(text: Units): boolean {
    const first = this.#first
    if (this.exact !== undefined) return text.length === first.length && standsAt(first, text, 0)
    const end = text.length - this.#last.length
    if (first.length > end || !standsAt(first, text, 0) || !standsAt(this.#last, text, end)) return false
    let from = first.length
    for (const piece of this.#middle) {
      from = endOf(piece, text, { from, end })
      if (from < 0) return false
    }
    return true
  }
}

/** A text between two wildcards. */
interface Piece {
  readonly text: string
  /** How many units of the start of `text` are also the end of its first n + 1 units (Knuth, Morris, Pratt). */
  readonly borders: readonly number[]
}

function pieceOf(text: string): Piece {
  const borders = [0]
  for (let at = 1, matched = 0; at < text.length; at++) {
    matched = grown({ text, borders }, matched, text.charCodeAt(at))
    borders.push(matched)
  }
  return { text, borders }
}

/** How much of the start of a piece is matched after one more unit. */
function grown({ text, borders }: Piece, matched: number, unit: number): number {
  let length = matched
  while (length > 0 && text.charCodeAt(length) !== unit) length = borders[length - 1] ?? 0
  return text.charCodeAt(length) === unit ? length + 1 : length
}

/** The end of the first occurrence of a piece, or -1. */
function endOf(piece: Piece, text: Units, { from, end }: { from: number; end: number }): number {
  let matched = 0
  for (let at = from; at < end; at++) {
    matched = grown(piece, matched, text.charCodeAt(at))
    if (matched === piece.text.length) return at + 1
  }
  return -1
}

function standsAt(piece: string, text: Units, at: number): boolean {
  for (let index = 0; index < piece.length; index++)
    if (text.charCodeAt(at + index) !== piece.charCodeAt(index)) return false
  return true
}
