/** With more parameters than this, a map is made. */
const FEW = 32

/**
 * The parameters of a request by name. The first of several with the same name counts. A request has few parameters and
 * each is read about once, so a linear search is cheaper than a map, in time and in garbage.
 */
export class FormValues {
  readonly #names: string[] = []
  readonly #values: string[] = []
  /** The first place of each name, once there are many. */
  #places: Map<string, number> | undefined

  /** Adds a parameter; a repeated name is never found. */
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

  /** The first value of each name, in order. */
  *[Symbol.iterator](): Generator<readonly [name: string, value: string]> {
    for (const [place, name] of this.#names.entries()) {
      if (this.#placeOf(name) === place) yield [name, this.#values[place]!]
    }
  }

  /** The place of a name, or -1. */
  #placeOf(name: string): number {
    return this.#places === undefined ? this.#names.indexOf(name) : (this.#places.get(name) ?? -1)
  }
}

function placesOf(names: readonly string[]): Map<string, number> {
  const places = new Map<string, number>()
  for (const [place, name] of names.entries()) if (!places.has(name)) places.set(name, place)
  return places
}
