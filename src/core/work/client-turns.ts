/** The place of a thing in the turns of its client. It knows its neighbours among the things of its client, while it may be taken. */
export class TurnPlace<T> {
  readonly thing: T
  weight: number
  client: Client<T>
  older: TurnPlace<T> | undefined = undefined
  newer: TurnPlace<T> | undefined = undefined
  hasLeft = false
  #isKept = false

  constructor(thing: T, weight: number, client: Client<T>) {
    this.thing = thing
    this.weight = weight
    this.client = client
  }

  get isKept(): boolean {
    return this.#isKept
  }

  /** Whether the thing is kept: then it counts for its client, and never gives way. Freed, it is the newest of its client. */
  set isKept(isKept: boolean) {
    if (this.hasLeft || isKept === this.#isKept) return
    this.#isKept = isKept
    if (isKept) this.client.unlink(this)
    else this.client.link(this)
  }
}

/** A client, and those of its things that may be taken. */
class Client<T> {
  readonly name: string
  /** All its things. */
  size = 0
  weight = 0
  oldest: TurnPlace<T> | undefined = undefined
  newest: TurnPlace<T> | undefined = undefined

  constructor(name: string) {
    this.name = name
  }

  link(place: TurnPlace<T>): void {
    place.older = this.newest
    if (this.newest === undefined) this.oldest = place
    else this.newest.newer = place
    this.newest = place
  }

  unlink(place: TurnPlace<T>): void {
    const { older, newer } = place
    if (older === undefined) this.oldest = newer
    else older.newer = newer
    if (newer === undefined) this.newest = older
    else newer.older = older
    place.older = undefined
    place.newer = undefined
  }
}

/**
 * Things of clients in a place with a limit: work that waits, connections, held polls, streams. Clients take turns, and a client
 * with many things gets no more turns than others. Where the place is full, the client with the most gives way. Adding, removing
 * and finding cost the same, however many things there are.
 */
export class ClientTurns<T> {
  /** By name. The client whose turn is next is first. */
  readonly #clients = new Map<string, Client<T>>()
  /** The clients with that many things. */
  readonly #bySize: (Set<Client<T>> | undefined)[] = []
  #largest = 0
  #size = 0

  /** How many there are in all. */
  get size(): number {
    return this.#size
  }

  /** How many things of a client there are. */
  sizeOf(name: string): number {
    return this.#clients.get(name)?.size ?? 0
  }

  /** Adds a thing until it leaves, or `next` takes it. */
  add(name: string, thing: T, weight = 0): TurnPlace<T> {
    const place = new TurnPlace(thing, weight, this.#clientOf(name))
    this.#enter(place)
    return place
  }

  /** Removes a thing. */
  leave(place: TurnPlace<T>): void {
    const { client } = place
    if (place.hasLeft) return
    if (!place.isKept) client.unlink(place)
    place.hasLeft = true
    client.weight -= place.weight
    this.#resize(client, -1)
  }

  /** Gives a thing to a client, as its newest. */
  move(place: TurnPlace<T>, name: string): void {
    this.leave(place)
    place.client = this.#clientOf(name)
    this.#enter(place)
  }

  /** Takes the oldest thing of the next client that `mayTake` accepts, with its client. Other clients come before it then. */
  next(mayTake: (client: string) => boolean = () => true): { client: string; thing: T } | undefined {
    for (const client of this.#clients.values()) {
      if (client.oldest === undefined || !mayTake(client.name)) continue
      const { thing } = client.oldest
      this.#clients.delete(client.name)
      this.#clients.set(client.name, client)
      this.leave(client.oldest)
      return { client: client.name, thing }
    }
    return undefined
  }

  /**
   * The place that gives way to one more thing of a client. It is the oldest or newest of the client with the most, if that client
   * has more than this one will have then. A client whose things are all kept gives nothing: the next one does.
   */
  givesWayTo(name: string, which: 'oldest' | 'newest'): TurnPlace<T> | undefined {
    const willHave = this.sizeOf(name) + 1
    for (let size = this.#largest; size > willHave; size--)
      for (const client of this.#bySize[size] ?? []) if (client[which] !== undefined) return client[which]
    return undefined
  }

  /** The weight of each client. */
  *weights(): Generator<readonly [name: string, weight: number]> {
    for (const { name, weight } of this.#clients.values()) yield [name, weight]
  }

  /** The oldest thing of a client that may be taken. */
  oldestOf(name: string): T | undefined {
    return this.#clients.get(name)?.oldest?.thing
  }

  /** The heaviest thing of a client that may be taken: of equal ones the oldest. It looks at all things of the client. */
  heaviestOf(name: string): T | undefined {
    let heaviest = this.#clients.get(name)?.oldest
    for (let place = heaviest; place !== undefined; place = place.newer)
      if (place.weight > heaviest!.weight) heaviest = place
    return heaviest?.thing
  }

  /** A thing becomes heavier, or lighter. */
  weigh(place: TurnPlace<T>, more: number): void {
    place.weight += more
    if (!place.hasLeft) place.client.weight += more
  }

  #clientOf(name: string): Client<T> {
    const there = this.#clients.get(name)
    if (there !== undefined) return there
    const client = new Client<T>(name)
    this.#clients.set(name, client)
    return client
  }

  #enter(place: TurnPlace<T>): void {
    if (!place.isKept) place.client.link(place)
    place.hasLeft = false
    place.client.weight += place.weight
    this.#resize(place.client, 1)
  }

  #resize(client: Client<T>, change: 1 | -1): void {
    const before = this.#bySize[client.size]
    before?.delete(client)
    // A client with very many things has had every smaller size.
    if (before?.size === 0) this.#bySize[client.size] = undefined
    client.size += change
    this.#size += change
    if (client.size === 0) this.#clients.delete(client.name)
    else (this.#bySize[client.size] ??= new Set()).add(client)
    this.#largest = Math.max(this.#largest, client.size)
    while (this.#largest > 0 && !this.#bySize[this.#largest]?.size) this.#largest--
  }
}
