import type { Command } from '../core/decisions/decision.ts'
import type { Engine } from '../core/engine/ports.ts'
import { isChecked } from '../core/naming/state/checked.ts'
import { expireEmptyServices, forgetExpiredMetadata } from '../core/naming/commands/housekeeping.ts'
import type { HealthClock } from '../core/naming/liveness/health-clock.ts'
import type { Publisher } from '../core/naming/state/instance.ts'
import type { Liveness } from '../core/naming/liveness/liveness.ts'
import { orphansLeave } from '../core/naming/liveness/connection-processes.ts'
import { serverStatus, serves } from '../core/operator/server-status.ts'
import { type Loop, SlicedWork } from '../core/work/sliced-work.ts'
import type { ServiceKey } from '../core/naming/state/service.ts'
import type { Now } from '../core/decisions/stamps.ts'
import type { State } from '../core/engine/state.ts'

/** Milliseconds between two sweeps. An instance is judged at most two sweeps late. */
export const SWEEP_MS = 250

/** Instances per slice of a sweep. A slice takes one or two milliseconds if all its instances are silent. */
const MOST_AT_ONCE = 200

/** Dependencies of {@link NamingCare}. Durations are in milliseconds. */
export interface NamingCareOptions {
  readonly state: State
  readonly liveness: Liveness
  /** Whether a process is this one. */
  readonly isAlive: (process: string) => boolean
  readonly engine: Engine
  readonly clock: HealthClock
  readonly monotonicMs: () => number
  /** The current times, with a stamp for the changes of a sweep. */
  readonly now: () => Now
  readonly loop: Loop
  /** The share of this installation's servers that are alive, 0 to 1. */
  readonly liveShare: () => number
  readonly emptyServiceExpiryMs: number
  readonly expiredMetadataTimeMs: number
}

/** Applies the changes of time: silent instances, orphans of earlier processes, empty services, old metadata. */
export class NamingCare {
  readonly #options: NamingCareOptions
  readonly #sweeping: SlicedWork
  readonly #removing: SlicedWork

  constructor(options: NamingCareOptions) {
    this.#options = options
    this.#sweeping = new SlicedWork(options.loop, () => this.#judgeSome(), { boundary: 'job' })
    this.#removing = new SlicedWork(options.loop, () => this.#removeSomeOrphans(), { boundary: 'job' })
  }

  /** Call it every `SWEEP_MS`. If very many instances are due at once, the rest follows in slices. */
  sweep(): void {
    const { state, liveness, clock, monotonicMs, isAlive } = this.#options
    if (!serves(serverStatus(state.switches), 'write')) return clock.hold(monotonicMs())
    clock.sweep(monotonicMs())
    if (this.#judgeSome()) this.#sweeping.start()
    liveness.processes.look(this.#healthMs(), { isAlive, isCertain: true })
    if (this.#removeSomeOrphans()) this.#removing.start()
  }

  /** Returns whether more instances are due. */
  #judgeSome(): boolean {
    const { state, liveness, engine, now, liveShare } = this.#options
    if (!serves(serverStatus(state.switches), 'write')) return false
    // If too few servers are alive, instances may be silent because they cannot reach a server.
    const trusted = liveShare() >= state.switches.distroThreshold
    const judged = (key: ServiceKey): boolean => trusted && isChecked(state.switches, key)
    engine.applyBehind(liveness.sweep(now(), judged, MOST_AT_ONCE))
    return liveness.hasMore
  }

  /** Returns whether more orphans are to be looked at. */
  #removeSomeOrphans(): boolean {
    const { state, engine, now } = this.#options
    const { processes } = this.#options.liveness
    if (!serves(serverStatus(state.switches), 'write')) return false
    const taken = processes.takeOrphans(this.#healthMs(), MOST_AT_ONCE, ({ entry }) =>
      isChecked(state.switches, entry.service.key),
    )
    const healthMs = this.#healthMs()
    const leaves = (publisher: Publisher): boolean => processes.isDue(publisher, healthMs)
    engine.applyBehind(
      taken.flatMap((instance) => orphansLeave(state, instance, { leaves, stamp: now().stamp })),
    )
    processes.counts.removed += taken.length
    return processes.hasMore
  }

  /** Removes services that have been empty for long. Call it about once a second. */
  async expireServices(): Promise<void> {
    const { liveness, emptyServiceExpiryMs } = this.#options
    await this.#run(expireEmptyServices(liveness, this.#healthMs() - emptyServiceExpiryMs))
  }

  /** Forgets metadata of instances that have been away for long. */
  async forgetMetadata(): Promise<void> {
    const { liveness, expiredMetadataTimeMs } = this.#options
    await this.#run(forgetExpiredMetadata(liveness, this.#healthMs() - expiredMetadataTimeMs))
  }

  #healthMs(): number {
    const { clock, monotonicMs } = this.#options
    return clock.at(monotonicMs())
  }

  async #run(commands: readonly Command<void>[]): Promise<void> {
    await Promise.all(commands.map(async (command) => this.#options.engine.execute(command)))
  }
}
