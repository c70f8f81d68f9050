import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

/** A call that failed, and between which times (epoch ms). */
interface FailedCall {
  readonly call: string
  readonly beganMs: number
  readonly endedMs: number
  readonly why: string
}

/** The observations of the clients of a swap. All clients write into the same record. */
export class SwapRecord {
  /** The last content that a server has acknowledged, by item. */
  readonly acknowledged = new Map<string, number>()
  /** The notifications of each listener, in order, by item. */
  readonly heard = new Map<string, number[]>()
  /** The ports of each list that a subscriber has got, by service. */
  readonly lists = new Map<string, (readonly number[])[]>()
  /** Calls that failed. */
  readonly failures: FailedCall[] = []
  readonly counts = new Map<string, number>()
  /** Nobody publishes while this is true. */
  isFrozen = false

  /** Takes a call. Resolves with undefined where it fails: the client tries again at its next turn. */
  async taken<T>(call: string, work: () => Promise<T>): Promise<T | undefined> {
    const beganMs = Date.now()
    try {
      const result = await work()
      this.counts.set(call, (this.counts.get(call) ?? 0) + 1)
      return result
    } catch (error) {
      this.failures.push({ call, beganMs, endedMs: Date.now(), why: String(error) })
      return undefined
    }
  }
}

/** A client, and what it does. Its instance has its own number as the port. */
export interface LightClientSpec {
  readonly index: number
  readonly service: string
  /** The item that it publishes. */
  readonly item: string
  /** The item that it listens to: the item of another client. */
  readonly listensTo: string
  readonly port: number
  readonly record: SwapRecord
}

/** How often a client publishes. */
const PUBLISH_EVERY_MS = 3_000

/** A client that publishes one number after the other, until it is stopped. */
export abstract class LightClient {
  protected readonly spec: LightClientSpec
  protected isOver = false
  readonly #loops: Promise<void>[] = []

  constructor(spec: LightClientSpec) {
    this.spec = spec
  }

  /** Begins, and resolves when it is registered, subscribed, and has published. */
  async start(): Promise<void> {
    await this.begin()
    await this.#publishNext(1)
    this.#loops.push(this.#publishes())
  }

  async stop(): Promise<void> {
    this.isOver = true
    await Promise.all([...this.#loops, this.end()])
  }

  protected abstract begin(): Promise<void>
  protected abstract end(): Promise<void>
  protected abstract publish(content: string): Promise<void>

  /** Does something again and again until the client is stopped. */
  protected loop(everyMs: number, work: () => Promise<unknown>): void {
    const run = async (): Promise<void> => {
      while (!this.isOver) {
        await work()
        await sleep(everyMs)
      }
    }
    this.#loops.push(run())
  }

  /** Notes a list of the service. Those who leave together are not all gone at once: the last ones are told of the others. */
  protected listed(hosts: readonly { readonly port: number }[]): void {
    if (this.isOver) return
    const { record, service } = this.spec
    const ports = hosts.map(({ port }) => port).sort((a, b) => a - b)
    record.lists.set(service, [...(record.lists.get(service) ?? []), ports])
  }

  /** Notes what the listener has heard; each change once. */
  protected heard(content: string): void {
    const { record, listensTo } = this.spec
    const heard = record.heard.get(listensTo) ?? []
    if (heard.at(-1) !== Number(content)) record.heard.set(listensTo, [...heard, Number(content)])
  }

  async #publishes(): Promise<void> {
    // Not all at the same time.
    await sleep((this.spec.index % 30) * (PUBLISH_EVERY_MS / 30))
    for (let next = 2; !this.isOver;) {
      if (!this.spec.record.isFrozen && (await this.#publishNext(next))) next++
      await sleep(PUBLISH_EVERY_MS)
    }
  }

  async #publishNext(number: number): Promise<boolean> {
    const { record, item } = this.spec
    const done = await record.taken('publish', async () => {
      await this.publish(String(number))
      record.acknowledged.set(item, number)
      return true
    })
    return done === true
  }
}

/** The md5 of a content, as listeners send it. */
export function md5Of(content: string): string {
  return content === '' ? '' : createHash('md5').update(content).digest('hex')
}
