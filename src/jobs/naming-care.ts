import type { Command } from '../core/decision.ts'
import type { Engine } from '../core/engine.ts'
import { isChecked } from '../core/naming/checked.ts'
import { expireEmptyServices, forgetExpiredMetadata } from '../core/naming/housekeeping.ts'
import type { HealthClock } from '../core/naming/health-clock.ts'
import type { Liveness } from '../core/naming/liveness.ts'
import { serverStatus, serves } from '../core/operator/server-status.ts'
import { type Loop, SlicedWork } from '../core/sliced-work.ts'
import type { ServiceKey } from '../core/naming/service.ts'
import type { Now } from '../core/ports.ts'
import type { State } from '../core/state.ts'

/** How often the silence of instances is looked at, ms: each is judged at most two of these late. */
export const SWEEP_MS = 250

/** How many instances are judged in one go: a millisecond or two if all have fallen silent. */
const MOST_AT_ONCE = 200

/** What the care of naming works on; durations in milliseconds. */
export interface NamingCareOptions {
  readonly state: State
  readonly liveness: Liveness
  readonly engine: Engine
  readonly clock: HealthClock
  readonly monotonicMs: () => number
  /** The times of a decision that is made now. */
  readonly now: () => Now
  readonly loop: Loop
  /** The share of the servers of this installation that are alive, 0 to 1. */
  readonly liveShare: () => number
  readonly emptyServiceExpiryMs: number
  readonly expiredMetadataTimeMs: number
}

/** What time brings about in naming: instances fall silent, empty services and old metadata leave. */
export class NamingCare {
  readonly #options: NamingCareOptions
  readonly #sweeping: SlicedWork

  constructor(options: NamingCareOptions) {
    this.#options = options
    this.#sweeping = new SlicedWork(options.loop, () => this.#judgeSome())
  }

  /** To be called each `SWEEP_MS`. Where very many are due at once, the rest follows in slices. */
  sweep(): void {
    const { state, clock, monotonicMs } = this.#options
    if (!serves(serverStatus(state.switches), 'write')) return clock.hold(monotonicMs())
    clock.sweep(monotonicMs())
    if (this.#judgeSome()) this.#sweeping.start()
  }

  /** Whether there are more to judge. */
  #judgeSome(): boolean {
    const { state, liveness, engine, now, liveShare } = this.#options
    if (!serves(serverStatus(state.switches), 'write')) return false
    // With too few servers alive, silence says more about us than about the instances.
    const trusted = liveShare() >= state.switches.distroThreshold
    const judged = (key: ServiceKey): boolean => trusted && isChecked(state.switches, key)
    engine.applyBehind(liveness.sweep(now(), judged, MOST_AT_ONCE))
    return liveness.hasMore
  }

  /** Removes services that have been empty for long; to be called about once a second. */
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
