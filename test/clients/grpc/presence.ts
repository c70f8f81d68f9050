import { setTimeout as sleep } from 'node:timers/promises'
import type { Ground } from './step.ts'
import { listedPorts } from './ties.ts'

const LOOK_EVERY_MS = 250

/** Looks whether some servers list an instance (with the port 1) all the time. */
export class Presence {
  /** When it was missing, in words. */
  readonly #misses: string[] = []
  readonly #service: string
  readonly #looking: Promise<unknown>
  #isOver = false

  /** `asks`: the servers. */
  constructor(service: string, asks: readonly Ground['ask'][]) {
    this.#service = service
    this.#looking = Promise.all(asks.map((ask, index) => this.#look(ask, index)))
  }

  /** Ends the looking. Resolves with the misses. */
  async end(): Promise<readonly string[]> {
    this.#isOver = true
    await this.#looking
    return this.#misses
  }

  async #look(ask: Ground['ask'], index: number): Promise<void> {
    const since = Date.now()
    while (!this.#isOver) {
      const miss = await this.#miss(ask)
      if (miss !== undefined) this.#misses.push(`server ${index}, ${Date.now() - since} ms: ${miss}`)
      await sleep(LOOK_EVERY_MS)
    }
  }

  /** The listed ports where the instance is missing, or why there is no list. */
  #miss(ask: Ground['ask']): Promise<string | undefined> {
    return listedPorts(ask, this.#service).then(
      (ports) => (ports.includes(1) ? undefined : `listed: ${ports.join()}`),
      (error: Error) => error.message,
    )
  }
}
