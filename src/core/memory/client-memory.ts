import { textBytes } from './bytes-of.ts'

/** The objects, functions and places in tables of a watched thing, without its name. */
const WATCHED_BYTES = 200

/**
 * The memory of a watched thing. Its name is kept as one text and in parts, and by polls as the client has spelled it. Two and
 * a half texts are within a quarter of both (test/memory/client-calibration.test.ts).
 */
export function watchedBytes(name: string): number {
  return WATCHED_BYTES + 2.5 * textBytes(name)
}

/** Watches of one kind. A client is the user, or the network of a caller without one (`turnOf`). */
export interface Watching {
  /** How many things each client watches. */
  weights(): Iterable<readonly [client: string, things: number]>
  /** Ends a watch of a client; false: it has none. */
  giveWay(client: string): boolean
}

/** Watches of which `next` finds the one of a client that gives way next. */
export function watchingOf<T>(
  weights: Watching['weights'],
  next: (client: string) => T | undefined,
  giveWay: (watch: T) => void,
): Watching {
  return {
    weights,
    giveWay: (client) => {
      const watch = next(client)
      if (watch !== undefined) giveWay(watch)
      return watch !== undefined
    },
  }
}

/**
 * The memory of the things that clients of this server watch: items, services and patterns. It is no part of State: other servers
 * have other clients. It changes with each thing that is watched, and nobody walks over them. Where there is none left, what saves time
 * alone is forgotten, and then the client that watches the most gives way.
 */
export class ClientMemory {
  /** The most bytes that are taken. */
  readonly limitBytes: number
  readonly #watching: Watching[] = []
  readonly #informing: (() => boolean)[] = []
  readonly #remembering: (() => boolean)[] = []
  #bytes = 0

  constructor(limitBytes = Infinity) {
    this.limitBytes = limitBytes
  }

  /** The bytes that are taken. */
  get bytes(): number {
    return this.#bytes
  }

  /** These watches may give way. */
  join(watching: Watching): void {
    this.#watching.push(watching)
  }

  /** `forget` forgets something that only people look at, before anything else; false: nothing is left. */
  joinInforming(forget: () => boolean): void {
    this.#informing.push(forget)
  }

  /** `forget` forgets something that only saves time or informs people; false: nothing is left. */
  joinRemembering(forget: () => boolean): void {
    this.#remembering.push(forget)
  }

  /** Takes memory for something that is forgotten where others need it. Returns false if there is no room for it. */
  takeSpare(bytes: number): boolean {
    if (this.#bytes + bytes > this.limitBytes) return false
    this.#bytes += bytes
    return true
  }

  /** As `takeSpare`, for something that saves time: what only people look at is forgotten for it. */
  takeSaving(bytes: number): boolean {
    while (!this.takeSpare(bytes)) if (!this.#informing.some((forget) => forget())) return false
    return true
  }

  /** Takes memory; other things may be forgotten for it. Returns false if there is no room for it. */
  take(bytes: number): boolean {
    while (!this.takeSaving(bytes)) if (!this.#remembering.some((forget) => forget())) return false
    return true
  }

  /** Takes memory for things that a client is going to watch; others may give way. False: nobody does. */
  takeFor(client: string, things: number, bytes: number): boolean {
    while (!this.take(bytes)) if (!this.makeRoom(client, things)) return false
    return true
  }

  /**
   * Ends a watch, `of` these kinds, to make room for things that a client is going to watch. It is one of the client that
   * watches the most, if that watches more than this one will. False: there is none.
   */
  makeRoom(client: string, things: number, of: readonly Watching[] = this.#watching): boolean {
    const sums = new Map<string, number>()
    for (const one of of)
      for (const [name, watched] of one.weights()) sums.set(name, (sums.get(name) ?? 0) + watched)
    let most = (sums.get(client) ?? 0) + things
    let heaviest: string | undefined
    for (const [name, watched] of sums) {
      if (watched <= most) continue
      most = watched
      heaviest = name
    }
    const name = heaviest
    if (name === undefined) return false
    const byWeight = of.toSorted((one, other) => weightOf(name, other) - weightOf(name, one))
    return byWeight.some((one) => one.giveWay(name))
  }

  /** Gives taken memory back. */
  free(bytes: number): void {
    this.#bytes -= bytes
  }
}

function weightOf(client: string, watching: Watching): number {
  for (const [name, things] of watching.weights()) if (name === client) return things
  return 0
}
