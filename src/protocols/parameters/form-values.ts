/** So many are looked through; of more a map is made. */
const FEW = 32

/**
 * The parameters of a request by name. Of several with one name the first counts. A request has few, and each is asked
 * for about once: to look through them costs less than to make a map, and leaves less behind.
 */
export class FormValues {
  readonly #names: string[] = []
  readonly #values: string[] = []
  /** Where each name comes first, once there are many. */
  #places: Map<string, number> | undefined

  /** Adds a parameter; one whose name is there already is never found. */
  add(name: string, value: string): void {
    const place = this.#names.push(name) - 1
    this.#values.push(value)
    if (this.#places === undefined) {
      if (place === FEW) this.#places = placesOf(this.#names)
    } else if (!this.#places.has(name)) this.#places.set(name, place)
  }

  /** The value of that name. */
  get(name: string): string | undefined {
    const place = this.#placeOf(name)
    return place < 0 ? undefined : this.#values[place]
  }

  /** All that count, in their order. */
  *[Symbol.iterator](): Generator<readonly [name: string, value: string]> {
    for (const [place, name] of this.#names.entries()) {
      if (this.#placeOf(name) === place) yield [name, this.#values[place]!]
    }
  }

  /** -1 where there is none. */
  #placeOf(name: string): number {
    return this.#places === undefined ? this.#names.indexOf(name) : (this.#places.get(name) ?? -1)
  }
}

function placesOf(names: readonly string[]): Map<string, number> {
  const places = new Map<string, number>()
  for (const [place, name] of names.entries()) if (!places.has(name)) places.set(name, place)
  return places
}
