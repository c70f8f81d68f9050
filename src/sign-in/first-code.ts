import { createHash, randomInt, timingSafeEqual } from 'node:crypto'

/** Without letters and digits that look alike. */
const LETTERS = 'abcdefghjkmnpqrstuvwxyz23456789'
const LENGTH = 28
const GROUP = 4

/**
 * The one-time code with which the first administrator is made. The log or the terminal of the server shows
 * it. It is made at the start and never stored. Without a code, no text is right.
 */
export class FirstCode {
  /** About 138 bits, in groups of four letters. */
  readonly text: string | undefined

  constructor(isNeeded: boolean) {
    this.text = isNeeded ? newCode() : undefined
  }

  /** Whether this is the code; capitals, hyphens and blanks do not matter. */
  is(text: string): boolean {
    return this.text !== undefined && timingSafeEqual(digest(this.text), digest(text))
  }
}

function newCode(): string {
  const letters = Array.from({ length: LENGTH }, () => LETTERS[randomInt(LETTERS.length)])
  const groups = Array.from({ length: LENGTH / GROUP }, (_, at) =>
    letters.slice(at * GROUP, (at + 1) * GROUP).join(''),
  )
  return groups.join('-')
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text.toLowerCase().replaceAll(/[\s-]/g, '')).digest()
}
