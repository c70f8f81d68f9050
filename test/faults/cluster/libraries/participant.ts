import type { AsAdministrator } from '../../../support/administrator.ts'
import type { DrivenClient } from '../../../clients/grpc/driven-client.ts'
import { clientsOf, type Library } from '../../../clients/grpc/library.ts'
import { portsOf, registerOverHttp } from '../../../clients/grpc/naming-steps.ts'
import { publishOverHttp } from '../../../clients/grpc/config-steps.ts'
import { Ties } from '../../../clients/grpc/ties.ts'
import { pause } from '../strikes/scene.ts'
import type { ListWatch } from './list-watch.ts'

/** The aspects of a library that are checked. */
const ASPECTS = [
  'its instance is in every list',
  'its item is read',
  'its listener hears',
  'its subscriber hears',
] as const

export type Aspect = (typeof ASPECTS)[number]

/** A library, where it finds its servers, and what it cannot do through a fault of its own. */
export interface ParticipantSpec {
  readonly name: string
  readonly library: Library
  /** `host:port` of HTTP. */
  readonly servers: readonly string[]
  /** The reasons. */
  readonly excused: Readonly<Partial<Record<Aspect, string>>>
}

/** A strike for the participants: its number, and when it began by `performance.now()`. */
export interface Round {
  readonly number: number
  readonly fromMs: number
  readonly lists: ListWatch
  /** Whether something was published while it lasted. */
  readonly hasPublished: boolean
}

/** The findings about a participant after a strike. */
export interface Verdict {
  /** In words. */
  readonly wrong: readonly string[]
  /** How long each aspect took after the strike, and the longest time without a read during it, in ms. */
  readonly tookMs: ReadonlyMap<string, number>
}

const GAP = 'without a read'
const READ_EVERY_MS = 1_000
/** The slowest library polls every 30 s, and waits for a server that does not answer before. */
const LIMIT_MS = 90_000
const KEPT = 'kept'
/** The first port of what others register in its service. */
const OTHERS = 100

/** One library at work: it keeps an instance, reads an item, listens to another one and subscribes to a service. */
export class Participant {
  readonly spec: ParticipantSpec
  readonly #ask: AsAdministrator
  readonly #ties: Ties
  readonly #reader: DrivenClient
  readonly #wrong: string[] = []
  readonly #reading: Promise<void>
  #lastReadMs = performance.now()
  #longestMs = 0
  #isOver = false

  private constructor(
    spec: ParticipantSpec,
    parts: { ask: AsAdministrator; ties: Ties; reader: DrivenClient },
  ) {
    this.spec = spec
    this.#ask = parts.ask
    this.#ties = parts.ties
    this.#reader = parts.reader
    this.#reading = this.#read()
  }

  /** Resolves when all that it does has come through. */
  static async start(spec: ParticipantSpec, ask: AsAdministrator): Promise<Participant> {
    const client = clientsOf(spec.library, { servers: spec.servers })
    const ties = await Ties.make({ run: spec.name, client, ask })
    const reader = await client('a')
    await publishOverHttp(ask, { dataId: `kept-${spec.name}` }, KEPT)
    return new Participant(spec, { ask, ties, reader })
  }

  get service(): string {
    return this.#ties.service
  }

  /** Publishes what its listener must hear of, if not at once. */
  async change(content: string): Promise<void> {
    await this.#ties.publish(this.#ask, content)
  }

  /** The errors after a strike, and how long each aspect took until it was right. */
  async judge(round: Round): Promise<Verdict> {
    const begunMs = performance.now()
    const looks: Record<Aspect, () => Promise<void>> = {
      'its instance is in every list': () => this.#isListed(round),
      'its item is read': () => this.#hasRead(),
      'its listener hears': () => this.#listens(round),
      'its subscriber hears': () => this.#subscribes(round),
    }
    const tookMs = new Map<string, number>()
    const expected = ASPECTS.filter((aspect) => this.spec.excused[aspect] === undefined)
    const wrong = await Promise.all(
      expected.map(async (aspect) => {
        const failed = await looks[aspect]().then(
          () => undefined,
          (error: Error) => `${this.spec.name}, ${aspect}: ${error.message}`,
        )
        tookMs.set(aspect, performance.now() - begunMs)
        return failed
      }),
    )
    tookMs.set(GAP, this.#longestMs)
    this.#longestMs = 0
    return { wrong: wrong.filter((each) => each !== undefined), tookMs }
  }

  /** Ends it with its programs. */
  async stop(): Promise<void> {
    this.#isOver = true
    await this.spec.library.stop()
    await this.#reading
  }

  async #isListed({ lists, fromMs }: Round): Promise<void> {
    const untilMs = performance.now() + LIMIT_MS
    while (!(await lists.isEverywhere(this.service))) {
      if (performance.now() > untilMs) throw new Error('not everywhere in time')
      await pause(READ_EVERY_MS)
    }
    const lacks = lists.lacksSince(fromMs, this.service)
    if (lacks.length > 0) throw new Error(`${lacks.length} lists without it: ${lacks.slice(0, 5).join('; ')}`)
  }

  /** All reads since the last time were right, and it can be read now. */
  async #hasRead(): Promise<void> {
    const fromMs = performance.now()
    while (this.#lastReadMs < fromMs) {
      if (performance.now() - fromMs > LIMIT_MS) throw new Error('not in time')
      await pause(READ_EVERY_MS)
    }
    const wrong = this.#wrong.splice(0)
    if (wrong.length > 0) throw new Error(`${wrong.length} wrong: ${wrong.slice(0, 5).join('; ')}`)
  }

  async #listens({ number, hasPublished }: Round): Promise<void> {
    if (hasPublished) await this.#ties.heard(duringOf(number))
    await this.change(`after ${number}`)
    await this.#ties.heard(`after ${number}`)
  }

  async #subscribes({ number }: Round): Promise<void> {
    const { hosts } = this.#ties
    const port = OTHERS + number
    await registerOverHttp(this.#ask, this.service, { port, ephemeral: false })
    await hosts.until('the instance of another', (seen) => portsOf(seen).includes(port), LIMIT_MS)
    const without = hosts.heard.map(portsOf).filter((ports) => !ports.includes(1))
    hosts.heard.splice(0, hosts.heard.length - 1)
    if (without.length > 0) throw new Error(`${without.length} lists without its own instance`)
  }

  /** Reads again and again. Some libraries fail while a server does not answer; none may read something else. */
  async #read(): Promise<void> {
    while (!this.#isOver) {
      const seen = await this.#reader.read({ dataId: `kept-${this.spec.name}` }).catch(() => undefined)
      const nowMs = performance.now()
      if (seen === KEPT) {
        this.#longestMs = Math.max(this.#longestMs, nowMs - this.#lastReadMs)
        this.#lastReadMs = nowMs
      } else if (seen !== undefined) this.#wrong.push(String(seen))
      await pause(READ_EVERY_MS)
    }
  }
}

/** The texts published while a strike lasts. */
export function duringOf(number: number): string {
  return `during ${number}`
}
