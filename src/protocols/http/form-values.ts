/**
 * The parameters of a request by name. Of several with one name the first counts. A request has few, and each is asked
 * for about once: to look through them costs less than to make a map, and leaves less behind.
 */
export class FormValues {
  readonly #names: string[] = []
  readonly #values: string[] = []

  /** Adds a parameter; one whose name is there already is never found. */
  add(name: string, value: string): void {
    this.#names.push(name)
    this.#values.push(value)
  }

  /** The value of that name. */
  get(name: string): string | undefined {
    const at = this.#names.indexOf(name)
    return at < 0 ? undefined : this.#values[at]
  }

  /** All that count, in their order. */
  *[Symbol.iterator](): Generator<readonly [name: string, value: string]> {
    for (const [at, name] of this.#names.entries()) {
      if (this.#names.indexOf(name) === at) yield [name, this.#values[at]!]
    }
  }
}
