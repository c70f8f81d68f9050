import { ownText } from '../../core/own-text.ts'

/** What is remembered: texts of at most so many characters, and so many of them. */
export interface KnownTextsLimits {
  readonly longest: number
  readonly most: number
}

/**
 * What was made of texts that come again and again, by the text. When there are too many it forgets them all and
 * begins anew: those in use are back with their next request, and nothing has to be kept of the order of their use.
 */
export class KnownTexts<Value> {
  readonly #limits: KnownTextsLimits
  #known = new Map<string, Value>()

  constructor(limits: KnownTextsLimits) {
    this.#limits = limits
  }

  /** What was made of that text; undefined where nobody knows. */
  get(text: string): Value | undefined {
    return text.length > this.#limits.longest ? undefined : this.#known.get(text)
  }

  /** Remembers what was made of a text, unless it is too long, and answers it. */
  keep(text: string, value: Value): Value {
    if (text.length > this.#limits.longest) return value
    if (this.#known.size >= this.#limits.most) this.#known = new Map()
    this.#known.set(ownText(text), value)
    return value
  }
}
