import { TextPattern } from './text-pattern.ts'

/** The parts of a pattern; `*` in `group` and `name` stands for any characters. */
export interface KeyPatternParts {
  readonly namespaceId: string
  readonly group: string
  readonly name: string
}

/** Which items or services of a namespace are meant: by patterns of their groups and names. */
export class KeyPattern {
  readonly namespaceId: string
  /** Equal for equal patterns. */
  readonly text: string
  readonly #group: TextPattern
  readonly #name: TextPattern

  constructor({ namespaceId, group, name }: KeyPatternParts) {
    this.namespaceId = namespaceId
    this.#group = new TextPattern(group)
    this.#name = new TextPattern(name)
    // Names cannot contain the separator.
    this.text = [namespaceId, this.#group.source, this.#name.source].join('\u0002')
  }

  /** See `TextPattern.tableSize`. */
  get tableSize(): number {
    return this.#group.tableSize + this.#name.tableSize
  }

  /** Whether something of the namespace is meant. */
  matches(group: string, name: string): boolean {
    return this.#group.matches(group) && this.#name.matches(name)
  }
}
