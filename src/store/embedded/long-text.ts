/** Characters in a part: far below the longest string that there can be. */
const PART_LENGTH = 2 ** 24

/** A text of whole lines that may be longer than a string can be: in parts. */
export class LongText {
  readonly #parts: string[] = []
  #last = ''

  add(line: string): void {
    if (this.#last.length + line.length > PART_LENGTH) this.#endPart()
    this.#last += line
  }

  /** Its parts, in order; none where nothing was added. */
  parts(): readonly string[] {
    this.#endPart()
    return this.#parts
  }

  #endPart(): void {
    if (this.#last !== '') this.#parts.push(this.#last)
    this.#last = ''
  }
}
