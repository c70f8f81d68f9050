import type { Metadata } from '../../core/naming/instance.ts'
import { ownText } from '../../core/own-text.ts'

/** Longer texts are seldom the same. */
const LONGEST = 512
/** Enough for the services of an installation; then it begins anew. */
const MOST = 4_096

interface Known {
  readonly metadata: Metadata
  /** The limit that it was judged by. */
  readonly maxBytes: number
}

/**
 * Metadata by the text they were read from. The instances of a service nearly always say the same, in the same words:
 * they then share one object, and it is read once.
 */
export class KnownMetadata {
  #known = new Map<string, Known>()

  /** What that text was read as, within `maxBytes`; undefined where nobody knows. */
  get(text: string, maxBytes: number): Metadata | undefined {
    if (text.length > LONGEST) return undefined
    const known = this.#known.get(text)
    return known?.maxBytes === maxBytes ? known.metadata : undefined
  }

  /** Remembers what a text was read as, and answers it. */
  keep(text: string, maxBytes: number, metadata: Metadata): Metadata {
    if (text.length > LONGEST) return metadata
    if (this.#known.size >= MOST) this.#known = new Map()
    this.#known.set(ownText(text), { metadata, maxBytes })
    return metadata
  }
}
