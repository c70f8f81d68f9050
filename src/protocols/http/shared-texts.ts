/** Shorter texts take no more memory than the reference to another one would save. */
const SHORTEST = 8
/** Longer ones are seldom the same. */
const LONGEST = 64
/** Enough for the words that an installation uses again and again; then it begins anew. */
const MOST = 4_096

/**
 * One copy of each text that comes again and again: the metadata of all instances of a framework are nearly the
 * same, and each request brings them anew.
 */
export class SharedTexts {
  #known = new Map<string, string>()

  /** A text that is equal to this one. */
  of(text: string): string {
    if (text.length < SHORTEST || text.length > LONGEST) return text
    const known = this.#known.get(text)
    if (known !== undefined) return known
    if (this.#known.size >= MOST) this.#known = new Map()
    this.#known.set(text, text)
    return text
  }
}
