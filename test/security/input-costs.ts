import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from '../interface/client.ts'
import { processorMs } from '../support/processor-time.ts'
import type { Waypost } from '../support/waypost.ts'
import { LETTERS, type Shape } from './input-shapes.ts'

/** Below this a cost is noise: collecting garbage, compiling, regular work. */
const NOISE_MS = 4
/** How much more a text of four times the size may cost: linear time costs four times as much. */
const MOST_BY_SIZE = 6
/** How much more a text may cost than plain letters of its size. */
const MOST_BY_SHAPE = 3
/** A text that costs at most this many times as much as letters is received, but not read. */
const EARLY_REFUSAL = 1.5
/** How often a cost that is too high is measured again: the least counts. */
const TRIES = 8

/** Sends a text to a reader of the server. */
export type Reader = (text: string) => Promise<unknown>

/** The cost of a text for the server, in milliseconds of its processor time. */
interface Cost {
  readonly quarter: number
  readonly whole: number
  readonly letters: number
}

/** A text that costs too much. */
export interface TooDear extends Cost {
  readonly reader: string
  readonly shape: string
}

/** Which texts are measured. */
interface CostOptions {
  readonly shapes: Readonly<Record<string, Shape>>
  readonly bytes: number
  /** The base that the shapes are compared with. */
  readonly letters?: Shape
}

/** Measures what texts cost a server. Nothing else may ask it meanwhile. */
export class InputCosts {
  readonly #server: Waypost
  readonly #client: Client
  /** The longest pause of the event loop that was seen so far, in milliseconds. */
  longestPauseMs = 0

  constructor(server: Waypost) {
    this.#server = server
    this.#client = new Client(server.url)
  }

  /** The shapes that cost a reader too much at this size. */
  async tooDear(
    reader: string,
    send: Reader,
    { shapes, bytes, letters: plain = LETTERS }: CostOptions,
  ): Promise<TooDear[]> {
    const found: TooDear[] = []
    await send(plain(bytes))
    const letters = await this.#least(send, plain(bytes), 3)
    for (const [shape, text] of Object.entries(shapes)) {
      const cost = await this.#costOf(send, text, { bytes, letters })
      if (cost !== undefined) found.push({ reader, shape, ...cost })
      await this.#notePause()
    }
    return found
  }

  /** The cost of a shape, where it is too high in each of some tries. */
  async #costOf(
    send: Reader,
    shape: Shape,
    { bytes, letters }: { bytes: number; letters: number },
  ): Promise<Cost | undefined> {
    let cost = { quarter: Infinity, whole: Infinity, letters }
    for (let tries = 0; tries < TRIES; tries++) {
      const whole = Math.min(cost.whole, await this.#measured(send, shape(bytes)))
      const quarter = Math.min(cost.quarter, await this.#measured(send, shape(bytes / 4)))
      cost = { quarter, whole, letters }
      // Input that costs about as much as letters is refused early: receiving it is most of its cost.
      const received = EARLY_REFUSAL * letters
      const most = Math.max(received, Math.min(MOST_BY_SIZE * quarter, MOST_BY_SHAPE * letters)) + NOISE_MS
      if (whole <= most) return undefined
      await settled(this.#server)
    }
    return cost
  }

  async #least(send: Reader, text: string, tries: number): Promise<number> {
    const costs: number[] = []
    for (let each = 0; each < tries; each++) costs.push(await this.#measured(send, text))
    return Math.min(...costs)
  }

  async #measured(send: Reader, text: string): Promise<number> {
    const before = processorMs(this.#server.pid)
    await send(text)
    return processorMs(this.#server.pid) - before
  }

  async #notePause(): Promise<void> {
    const { text } = await this.#client.get('/metrics')
    const seconds = /^waypost_event_loop_delay_seconds\{quantile="1"\} (\S+)$/m.exec(text)?.[1]
    this.longestPauseMs = Math.max(this.longestPauseMs, Number(seconds) * 1_000)
  }
}

/** Waits until a server has done what it does after a start, so that it is not counted. */
export async function settled(server: Waypost): Promise<void> {
  for (let before = -1, now = 0; now - before > 1;) {
    before = processorMs(server.pid)
    await sleep(200)
    now = processorMs(server.pid)
  }
}
