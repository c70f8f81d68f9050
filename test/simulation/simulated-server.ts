import { microtasks, WALL_MS } from '../../src/core/core.test-support.ts'
import type { Change } from '../../src/core/decisions/changes.ts'
import type { Command } from '../../src/core/decisions/decision.ts'
import { Follower } from '../../src/core/engine/follower.ts'
import { ModelAccess } from '../../src/core/engine/model-access.test-support.ts'
import type { ModelStore } from '../../src/core/engine/model-store.test-support.ts'
import { beat, type BeatResult } from '../../src/core/naming/liveness/beat.ts'
import { HealthClock } from '../../src/core/naming/liveness/health-clock.ts'
import { expireEmptyServices } from '../../src/core/naming/commands/housekeeping.ts'
import type { InstanceAddress } from '../../src/core/naming/state/instance.ts'
import { Liveness } from '../../src/core/naming/liveness/liveness.ts'
import { SharedEngine } from '../../src/core/engine/shared-engine.ts'
import { SharedFollower } from '../../src/core/engine/shared-follower.ts'
import type { Loop } from '../../src/core/work/sliced-work.ts'
import { Stamps, type Now } from '../../src/core/decisions/stamps.ts'
import type { State } from '../../src/core/engine/state.ts'
import { Feed } from '../../src/feed/feed.ts'
import { serviceKeyOf } from './known-values.ts'
import type { Planted } from './planted-faults.ts'

/** The dependencies of a server. */
export interface ServerParts {
  readonly name: string
  readonly store: ModelStore
  /** Milliseconds since the start of the simulation. */
  readonly nowMs: () => number
  /** How far its wall clock is from the right time; it may jump. */
  readonly skewMs: () => number
  readonly mostChanges: number
  /** See {@link HealthClock}. */
  readonly tickMs: number
  readonly planted: Planted
}

/** How long the instances of connections are kept whose server is gone: shorter than in the product. */
export const KEPT_MS = 6_000

let processes = 0

/** One process of a server: what it knows, and what it does when the simulation says so. */
export class SimulatedServer {
  readonly name: string
  /** Names this process. */
  readonly process: string
  readonly access: ModelAccess
  readonly liveness: Liveness
  readonly #follower: Follower
  readonly engine: SharedEngine
  readonly health: HealthClock
  readonly loop: Loop
  readonly #feed: Feed
  readonly #now: () => Now
  #deferred: (() => void)[] = []
  isFrozen = false
  /** It has read everything at once, or its clock was wrong: then times may differ from those of others. */
  hasLoaded: boolean

  constructor({ name, store, nowMs, skewMs, mostChanges, tickMs, planted }: ServerParts) {
    this.name = name
    this.process = `process ${++processes}`
    this.liveness = new Liveness(this.process, planted.keepsOrphans ? KEPT_MS : 0)
    this.access = new ModelAccess(store, { mostChanges, unitsOfRequest: 2 })
    this.hasLoaded = skewMs() !== 0 || nowMs() > 0 || store.revision > 0
    this.health = new HealthClock(nowMs(), tickMs)
    const stamps = new Stamps()
    const clock = (): Now => {
      const wallMs = WALL_MS + nowMs() + skewMs()
      return { wallMs, healthMs: this.health.at(nowMs()), stamp: stamps.next(wallMs) }
    }
    const soon = (run: () => void): void => void this.#deferred.push(run)
    this.loop = { now: nowMs, soon }
    this.#feed = new Feed({ defer: soon })
    this.#follower = Follower.load(this.access.load(), {
      clock,
      stamps,
      presence: this.liveness,
      feed: this.#feed,
    })
    this.access.follow(planted.feed(new SharedFollower(this.#follower, stamps), this.access))
    this.engine = new SharedEngine({
      follower: this.#follower,
      store: planted.store(this.access),
      clock,
      loop: this.loop,
      // Health that could not be written is found again by the next beat.
      report: () => {},
    })
    this.#now = clock
  }

  get state(): State {
    return this.#follower.state
  }

  /** The last revision that it knows. */
  get revision(): number {
    return this.#follower.revision
  }

  /** Whether something waits for the next turn of its event loop. */
  get hasDeferred(): boolean {
    return this.#deferred.length > 0
  }

  subscribe(subscriber: (change: Change) => void): void {
    this.#feed.subscribe(subscriber)
  }

  execute(command: Command<unknown>): Promise<unknown> {
    return this.engine.execute(command)
  }

  /** An instance beats here. It may become healthy by that. */
  beat(service: string, { ip, port, cluster }: InstanceAddress): BeatResult {
    const source = { serviceKey: serviceKeyOf(service), ip, port, cluster }
    const result = beat({ state: this.state, liveness: this.liveness }, source, this.#now())
    if (result.kind === 'renewed') this.engine.applyBehind(result.healed)
    return result
  }

  /** Removes the services that a registration made and that have been empty for a while. */
  cleanServices(emptyMs: number): void {
    for (const command of expireEmptyServices(this.liveness, this.#now().healthMs - emptyMs))
      void this.engine.execute(command).catch(() => {})
  }

  /** Turns of the event loop, until nothing is left to do: what waits is decided and sent. */
  async turn(): Promise<void> {
    while (this.#deferred.length > 0) {
      const deferred = this.#deferred
      this.#deferred = []
      for (const run of deferred) run()
      await microtasks()
    }
  }
}
