import { setTimeout as sleep } from 'node:timers/promises'
import type { DrivenClient } from '../grpc/driven-client.ts'

/** The calls of an application to its library. */
export const KINDS = ['publish', 'read', 'register', 'list'] as const

export type Kind = (typeof KINDS)[number]

/** A call of an application. Times are epoch ms. */
export interface Call {
  readonly kind: Kind
  /** Counts the calls of its kind. */
  readonly number: number
  readonly beganMs: number
  readonly endedMs: number
  /** Why it failed. */
  readonly error: string | undefined
  /** It shows what only the new server has, or the new server has taken it. */
  readonly isNew: boolean
}

/** How long it took (ms). */
export function lengthOf({ beganMs, endedMs }: Call): number {
  return endedMs - beganMs
}

/** The pause between two calls of a kind, each after the end of the one before. Each registration brings beats that go on and on. */
const PAUSES_MS: Readonly<Record<Kind, number>> = { publish: 400, read: 400, register: 2_000, list: 400 }
/** Only the new server has this content, and an instance with this port. */
export const NEW = { content: 'new', port: 10_000 } as const
/** A service with an instance of each application; all applications ask for its list. */
export const SHARED_SERVICE = 'shared'

/** One application that asks its library on and on, with one thread for each kind of call. */
export class ApplicationCalls {
  readonly calls: Call[] = []
  /** The ports of all live instances of the shared service. */
  livePorts: readonly number[] = []
  readonly #run: string
  readonly #client: DrivenClient
  #loops: readonly Promise<void>[] = []
  #isOver = false
  #mayPublish = true
  #publishes: Promise<unknown> = Promise.resolve()
  #answersMs = Infinity

  constructor(run: string, client: DrivenClient) {
    this.#run = run
    this.#client = client
  }

  /** Asks from now on, until `end`. */
  begin(): void {
    this.#loops = KINDS.map((kind) => this.#askOnAndOn(kind))
  }

  /** The item that it reads. */
  get readItem(): string {
    return `read-${this.#run}`
  }

  /** The item of a publish: each has its own, with the number as its content. */
  publishedItem(number: number): string {
    return `published-${this.#run}-${number}`
  }

  /** The service of a registration: each has its own. */
  registeredService(number: number): string {
    return `registered-${this.#run}-${number}`
  }

  /** The calls of a kind, in order. */
  of(kind: Kind): readonly Call[] {
    return this.calls.filter((call) => call.kind === kind)
  }

  /** Publishes nothing until `goOn`. Resolves when no publish is under way. */
  async freeze(): Promise<void> {
    this.#mayPublish = false
    await this.#publishes
  }

  /** Publishes again. */
  goOn(): void {
    this.#mayPublish = true
  }

  /** The new server answers from this time on (epoch ms). */
  answersFrom(timeMs: number): void {
    this.#answersMs = timeMs
  }

  /** Resolves when all calls under way have ended. */
  async end(): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#loops)
  }

  async #askOnAndOn(kind: Kind): Promise<void> {
    for (let number = 1; !this.#isOver; number++) {
      if (kind !== 'publish' || this.#mayPublish) {
        const asked = this.#ask(kind, number)
        if (kind === 'publish') this.#publishes = asked
        this.calls.push(await asked)
      }
      await sleep(PAUSES_MS[kind])
    }
  }

  async #ask(kind: Kind, number: number): Promise<Call> {
    const beganMs = Date.now()
    try {
      const isNew = await this.#answer(kind, number)
      const endedMs = Date.now()
      return { kind, number, beganMs, endedMs, error: undefined, isNew: isNew ?? endedMs >= this.#answersMs }
    } catch (error) {
      return { kind, number, beganMs, endedMs: Date.now(), error: (error as Error).message, isNew: false }
    }
  }

  /** Resolves with whether the answer shows that the new server has given it; undefined where it does not say. */
  async #answer(kind: Kind, number: number): Promise<boolean | undefined> {
    switch (kind) {
      case 'publish': {
        const item = { dataId: this.publishedItem(number) }
        if (!(await this.#client.publish(item, String(number)))) throw new Error('not published')
        return undefined
      }
      case 'read': {
        const content = await this.#client.read({ dataId: this.readItem })
        if (content === null) throw new Error('nothing read')
        return content === NEW.content
      }
      case 'register':
        await this.#client.register({ service: this.registeredService(number) }, { port: 1 })
        return undefined
      case 'list': {
        const ports = (await this.#client.list({ service: SHARED_SERVICE })).map(({ port }) => port)
        const lacking = this.livePorts.filter((port) => !ports.includes(port))
        if (lacking.length > 0) throw new Error(`a list of ${ports.join()} without ${lacking.join()}`)
        return ports.includes(NEW.port)
      }
    }
  }
}
