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
      const seen = await this.#seen(ask)
      if (seen !== '1') this.#misses.push(`server ${index}, ${Date.now() - since} ms: ${seen}`)
      await sleep(LOOK_EVERY_MS)
    }
  }

  /** The ports that are listed, or why there is no list. */
  #seen(ask: Ground['ask']): Promise<string> {
    return listedPorts(ask, this.#service).then(
      (ports) => ports.join(),
      (error: Error) => error.message,
    )
  }
}
