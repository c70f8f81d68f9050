/** Things that wait, in turns of the clients that they belong to. A client with many gets no more turns than others. */
export class ClientTurns<T> {
  /** By client. The client whose turn is next is first. */
  readonly #things = new Map<string, T[]>()
  #size = 0

  /** How many wait in all. */
  get size(): number {
    return this.#size
  }

  /** How many things of a client wait. */
  sizeOf(client: string): number {
    return this.#things.get(client)?.length ?? 0
  }

  /** The client with the most; undefined where nothing waits. */
  largest(): string | undefined {
    let largest: string | undefined
    for (const client of this.#things.keys())
      if (largest === undefined || this.sizeOf(client) > this.sizeOf(largest)) largest = client
    return largest
  }

  add(client: string, thing: T): void {
    const ofClient = this.#things.get(client)
    if (ofClient === undefined) this.#things.set(client, [thing])
    else ofClient.push(thing)
    this.#size++
  }

  /** Takes the oldest thing of the next client that `mayTake` accepts, with its client. Other clients come before it then. */
  next(mayTake: (client: string) => boolean = () => true): { client: string; thing: T } | undefined {
    for (const [client, ofClient] of this.#things) {
      if (!mayTake(client)) continue
      this.#things.delete(client)
      // None is empty.
      const thing = ofClient.shift() as T
      if (ofClient.length > 0) this.#things.set(client, ofClient)
      this.#size--
      return { client, thing }
    }
    return undefined
  }

  /** Takes the newest thing of a client, which does not change the turns. */
  takeNewest(client: string): T | undefined {
    const ofClient = this.#things.get(client)
    const newest = ofClient?.pop()
    if (newest === undefined) return undefined
    if (ofClient?.length === 0) this.#things.delete(client)
    this.#size--
    return newest
  }
}
