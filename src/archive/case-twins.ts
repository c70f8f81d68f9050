import { composed } from './entry-names.ts'
import { inTurns } from './turns.ts'
import { firstNamed, shownName } from './zip-format.ts'

/**
 * Names without a file of their own, beside files that differ from them by case only. A system without upper and lower case
 * keeps one file for two names, and its content may belong to the other name.
 */
export class CaseTwins {
  readonly #own = new Set<string>()
  readonly #files = new Map<string, string>()
  /** One name for each file. */
  readonly #twins = new Map<string, string>()

  static async of(files: Iterable<string>): Promise<CaseTwins> {
    const twins = new CaseTwins()
    for await (const file of inTurns(files)) twins.#add(file)
    return twins
  }

  #add(file: string): void {
    this.#own.add(composed(file))
    this.#files.set(caseless(file), file)
  }

  check(name: string): void {
    if (this.#own.has(composed(name))) return
    const file = this.#files.get(caseless(name))
    if (file !== undefined) this.#twins.set(file, name)
  }

  /** The fault of the names that were checked; undefined: they have none. */
  get fault(): string | undefined {
    if (this.#twins.size === 0) return undefined
    const pairs = firstNamed([...this.#twins], ([file, name]) => `${shownName(name)} (${shownName(file)})`)
    return `no file of this name, but one that differs by case only: ${pairs}`
  }
}

/** The same for all names that systems without upper and lower case take for one. */
function caseless(name: string): string {
  return composed(name).toLowerCase().toUpperCase()
}
