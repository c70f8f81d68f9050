import { ownText } from './own-text.ts'

/** The size of the cache: `longest` characters per text, `most` texts. */
export interface KnownTextsLimits {
  readonly longest: number
  readonly most: number
}

/**
 * A cache of parsed values by their text, for texts that clients repeat. When it is full it is emptied: texts in use
 * return with their next request, and no order of use has to be kept.
 */
export class KnownTexts<Value> {
  readonly #limits: KnownTextsLimits
  #known = new Map<string, Value>()

  constructor(limits: KnownTextsLimits) {
    this.#limits = limits
  }

  /** The value of that text; undefined if it is not in the cache. */
  get(text: string): Value | undefined {
    return text.length > this.#limits.longest ? undefined : this.#known.get(text)
  }

  /** Keeps the value of a text, unless the text is too long, and returns the value. */
  keep(text: string, value: Value): Value {
    if (text.length > this.#limits.longest) return value
    if (this.#known.size >= this.#limits.most) this.#known = new Map()
    this.#known.set(ownText(text), value)
    return value
  }
}
