import { groupOf, type ServiceKey } from '../core/naming/state/service.ts'

/** First in, first out. A Map or Set of very many is slow there: it passes over what has left. */
class Line<T> {
  /** The first one is the last. */
  #now: T[] = []
  #later: T[] = []

  push(one: T): void {
    this.#later.push(one)
  }

  shift(): T | undefined {
    if (this.#now.length === 0) {
      this.#now = this.#later.reverse()
      this.#later = []
    }
    return this.#now.pop()
  }
}

/** All, a namespace, a group or a service: with parts, or with things. */
class Level<T> {
  readonly #parts = new Map<string, Level<T>>()
  /** The parts by their turns, and parts that have left. */
  readonly #turns = new Line<readonly [name: string, part: Level<T>]>()
  readonly #things = new Set<T>()
  /** The things in their order, and things that have left. */
  readonly #order = new Line<T>()

  get isEmpty(): boolean {
    return this.#parts.size + this.#things.size === 0
  }

  add([name, ...rest]: readonly string[], thing: T): void {
    if (name !== undefined) return this.#partOf(name).add(rest, thing)
    this.#things.add(thing)
    this.#order.push(thing)
  }

  next(): T | undefined {
    for (let turn = this.#turns.shift(); turn !== undefined; turn = this.#turns.shift()) {
      const [name, part] = turn
      const thing = part.next()
      if (thing === undefined) continue
      if (part.isEmpty) this.#parts.delete(name)
      else this.#turns.push(turn)
      return thing
    }
    for (let thing = this.#order.shift(); thing !== undefined; thing = this.#order.shift())
      if (this.#things.delete(thing)) return thing
    return undefined
  }

  remove([name, ...rest]: readonly string[], thing: T): void {
    if (name === undefined) return void this.#things.delete(thing)
    const part = this.#parts.get(name)
    part?.remove(rest, thing)
    if (part?.isEmpty === true) this.#parts.delete(name)
  }

  #partOf(name: string): Level<T> {
    const there = this.#parts.get(name)
    if (there !== undefined) return there
    const part = new Level<T>()
    this.#parts.set(name, part)
    this.#turns.push([name, part])
    return part
  }
}

/**
 * Probes that are due and wait for a place. An instance does not know who has registered it. But rights are given by
 * namespace, group and service, so these take turns: the namespaces, the groups of one, the services of one. A user delays
 * nobody outside of the part with the user's rights, however many services and dead hosts there are (`ClientTurns` has one level).
 */
export class ProbeTurns<T extends { readonly service: ServiceKey }> {
  readonly #all = new Level<T>()

  /** Adds a thing until `next` takes it, or `remove`. */
  add(thing: T): void {
    this.#all.add(pathOf(thing.service), thing)
  }

  /** Takes the thing whose turn it is. */
  next(): T | undefined {
    return this.#all.next()
  }

  /** Removes a thing; nothing happens if it does not wait. */
  remove(thing: T): void {
    this.#all.remove(pathOf(thing.service), thing)
  }
}

function pathOf({ namespaceId, groupedName }: ServiceKey): string[] {
  return [namespaceId, groupOf(groupedName), groupedName]
}
