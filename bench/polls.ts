import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { HoldJob, WakeJob, WakeResult } from './jobs.ts'
import { endOf, openWires } from './loads.ts'
import { requestPaths } from './paths.ts'
import { configContent, publishForm, requestText } from './request-text.ts'
import { Wire } from './wire.ts'

/** How many connections are opened at once. */
const AT_ONCE = 200

/** Thousands of clients that hold one poll each, and a publisher. */
export class PollClients {
  #wires: Wire[] = []
  #publisher: Wire | undefined
  #answered = 0
  #firstMs = 0
  #lastMs = 0

  /** Opens missing connections and sends one poll on each. */
  async hold({ base, polls, dataId, version }: HoldJob): Promise<void> {
    if (this.#publisher === undefined) await this.#open(base, polls)
    const text = pollText(base, dataId, version)
    this.#answered = 0
    for (const [index, wire] of this.#wires.entries()) {
      wire.send(text, () => this.#onAnswer())
      if (index % AT_ONCE === AT_ONCE - 1) await sleep(5)
    }
  }

  /** Publishes, and resolves when every poll is answered. */
  async wake({ base, dataId, version }: WakeJob): Promise<WakeResult> {
    if (this.#answered > 0) throw new Error(`${this.#answered} polls were answered before the change.`)
    const form = publishForm(dataId, configContent(version))
    const began = performance.now()
    const { status } = await this.#publisher!.ask(
      requestText('POST', requestPaths(pathOf(base)).configs, form),
    )
    const publishMs = performance.now() - began
    if (status !== 200) throw new Error(`The publish was answered ${status}.`)
    const until = began + 60_000
    while (this.#answered < this.#wires.length && performance.now() < until) await sleep(2)
    return {
      publishMs,
      firstMs: this.#firstMs - began,
      lastMs: this.#lastMs - began,
      answered: this.#answered,
    }
  }

  async #open(base: string, polls: number): Promise<void> {
    this.#publisher = new Wire(endOf(base))
    await this.#publisher.open()
    const wires = openWires(base, polls)
    for (let at = 0; at < wires.length; at += AT_ONCE)
      await Promise.all(wires.slice(at, at + AT_ONCE).map((wire) => wire.open()))
    this.#wires = wires
  }

  #onAnswer(): void {
    this.#lastMs = performance.now()
    if (this.#answered++ === 0) this.#firstMs = this.#lastMs
  }
}

function pollText(base: string, dataId: string, version: number): string {
  const md5 = createHash('md5').update(configContent(version)).digest('hex')
  const form = `Listening-Configs=${encodeURIComponent(`${dataId}\u0002DEFAULT_GROUP\u0002${md5}\u0001`)}`
  const text = requestText('POST', requestPaths(pathOf(base)).listener, form)
  return text.replace('\r\n', '\r\nLong-Pulling-Timeout: 60000\r\n')
}

function pathOf(base: string): string {
  return new URL(base).pathname
}
