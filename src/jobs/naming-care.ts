import type { Command } from '../core/decision.ts'
import type { Engine } from '../core/engine.ts'
import { isChecked } from '../core/naming/checked.ts'
import { expireEmptyServices, forgetExpiredMetadata } from '../core/naming/housekeeping.ts'
import type { HealthClock } from '../core/naming/health-clock.ts'
import { serverStatus, serves } from '../core/operator/server-status.ts'
import type { State } from '../core/state.ts'

/** How often the silence of instances is looked at, ms: each is judged at most two of these late. */
export const SWEEP_MS = 250

/** What the care of naming works on; durations in milliseconds. */
export interface NamingCareOptions {
  readonly state: State
  readonly engine: Engine
  readonly clock: HealthClock
  readonly monotonicMs: () => number
  readonly wallMs: () => number
  /** The share of the servers of this installation that are alive, 0 to 1. */
  readonly liveShare: () => number
  readonly emptyServiceExpiryMs: number
  readonly expiredMetadataTimeMs: number
}

/** What time brings about in naming: instances fall silent, empty services and old metadata leave. */
export class NamingCare {
  readonly #options: NamingCareOptions

  constructor(options: NamingCareOptions) {
    this.#options = options
  }

  /** To be called each `SWEEP_MS`. */
  sweep(): void {
    const { state, engine, clock, monotonicMs, wallMs, liveShare } = this.#options
    if (!serves(serverStatus(state.switches), 'write')) return clock.hold(monotonicMs())
    const now = { healthMs: clock.sweep(monotonicMs()), wallMs: wallMs() }
    // With too few servers alive, silence says more about us than about the instances.
    const trusted = liveShare() >= state.switches.distroThreshold
    engine.applyBehind(state.health.sweep(now, (key) => trusted && isChecked(state.switches, key)))
  }

  /** Removes services that have been empty for long; to be called about once a second. */
  async expireServices(): Promise<void> {
    const { state, emptyServiceExpiryMs } = this.#options
    await this.#run(expireEmptyServices(state, this.#healthMs() - emptyServiceExpiryMs))
  }

  /** Forgets metadata of instances that have been away for long. */
  async forgetMetadata(): Promise<void> {
    const { state, expiredMetadataTimeMs } = this.#options
    await this.#run(forgetExpiredMetadata(state, this.#healthMs() - expiredMetadataTimeMs))
  }

  #healthMs(): number {
    const { clock, monotonicMs } = this.#options
    return clock.at(monotonicMs())
  }

  async #run(commands: readonly Command<void>[]): Promise<void> {
    await Promise.all(commands.map(async (command) => this.#options.engine.execute(command)))
  }
}
