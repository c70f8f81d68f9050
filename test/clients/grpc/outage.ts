import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { portsOf, registerOverHttp } from './naming-steps.ts'
import type { Results } from './scenario.ts'
import { resultOf, type Ground, type StepResult } from './step.ts'
import { listedPorts, Ties } from './ties.ts'

/** The requirements for a library while the server that it is connected to goes. */
export const OUTAGE_TITLES = [
  'an item that was published is kept',
  'a listener hears what changed meanwhile',
  'a listener hears what is published later',
  'an instance stays in the list all the time',
  'a subscriber never sees an empty list',
  'a subscriber hears of later changes',
  'an instance is taken away by its own client later',
] as const

type Title = (typeof OUTAGE_TITLES)[number]

/** Longer than instances stay without their connection. */
const LASTING_MS = 47_000
const LOOK_EVERY_MS = 500
/** The time in which a new client signs in at a living server. One that asked the dead one first tries for some seconds each time. */
const READ_MS = 40_000

/** One library before, during and after an outage. */
export class Outage {
  readonly #ground: Ground
  readonly #results = new Map<Title, StepResult>()
  #ties: Ties | undefined

  constructor(ground: Ground) {
    this.#ground = ground
  }

  get results(): Results {
    return this.#results
  }

  get #kept(): { dataId: string } {
    return { dataId: `kept-${this.#ground.run}` }
  }

  /** Publishes, listens, registers and subscribes, and waits until that has come through. */
  async prepare(): Promise<Ties> {
    await this.#publishes()
    this.#ties = await Ties.make(this.#ground)
    return this.#ties
  }

  /** Changes what the listener listens for, while it is not connected. */
  async change(ask: Ground['ask']): Promise<void> {
    await this.#ties!.publish(ask, 'meanwhile')
  }

  /** Looks at what has become of it. `ask`: a server that answers now. */
  async recover(ask: Ground['ask']): Promise<void> {
    const { hosts } = this.#ties!
    const lasting = this.#take('an instance stays in the list all the time', () =>
      this.#lasts(ask, Date.now()),
    )
    await this.#take('a listener hears what changed meanwhile', () => this.#ties!.heard('meanwhile'))
    await this.#take('a listener hears what is published later', () => this.#hearsLater(ask))
    await lasting
    await this.#take('a subscriber hears of later changes', () => this.#subscriberHears(ask))
    await this.#take('a subscriber never sees an empty list', async () => {
      expect(hosts.heard.map(portsOf)).not.toContainEqual([])
      expect(hosts.heard.map(portsOf).every((ports) => ports.includes(1))).toBe(true)
    })
    await this.#take('an item that was published is kept', () => this.#keeps())
  }

  /** Takes the instance away. */
  async leave(ask: Ground['ask']): Promise<void> {
    await this.#take('an instance is taken away by its own client later', () => this.#leaves(ask))
  }

  async #take(title: Title, work: () => Promise<void>): Promise<void> {
    this.#results.set(title, await resultOf(work))
  }

  /** A library that has not signed in yet is refused, and answers that it did not publish. */
  async #publishes(): Promise<void> {
    const writer = await this.#ground.client('a')
    expect(await untilIs(true, () => writer.publish(this.#kept, 'kept'))).toBe(true)
  }

  /** A library that has not signed in yet, or not found a living server, is refused or reads nothing. */
  async #keeps(): Promise<void> {
    const reader = await this.#ground.client('fresh')
    expect(await untilIs('kept', () => reader.read(this.#kept))).toBe('kept')
  }

  async #hearsLater(ask: Ground['ask']): Promise<void> {
    await this.#ties!.publish(ask, 'later')
    await this.#ties!.heard('later')
  }

  async #lasts(ask: Ground['ask'], since: number): Promise<void> {
    while (Date.now() - since < LASTING_MS) {
      const ports = await listedPorts(ask, this.#ties!.service)
      expect(ports, `${Date.now() - since} ms after the outage`).toContain(1)
      await sleep(LOOK_EVERY_MS)
    }
  }

  async #subscriberHears(ask: Ground['ask']): Promise<void> {
    const { service, hosts } = this.#ties!
    await registerOverHttp(ask, service, { port: 2, ephemeral: false })
    await hosts.until('the later instance', (seen) => portsOf(seen).join() === '1,2')
  }

  async #leaves(ask: Ground['ask']): Promise<void> {
    const { service } = this.#ties!
    await (await this.#ground.client('a')).deregister({ service }, { port: 1 })
    expect(await listedPorts(ask, service)).toEqual([2])
  }
}

/** Asks a new client again and again until it answers this, at most `READ_MS`. Resolves with the last answer, or the text of its error. */
async function untilIs<T>(wanted: T, ask: () => Promise<T>): Promise<T | string> {
  const since = Date.now()
  for (;;) {
    const found = await ask().catch((error: Error) => error.message)
    if (found === wanted || Date.now() - since > READ_MS) return found
    await sleep(LOOK_EVERY_MS)
  }
}
