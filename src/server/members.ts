import { type LeaderView, Leadership } from '../core/operator/leadership.ts'
import { serverStatus } from '../core/operator/server-status.ts'
import type { KeptRecords } from '../core/engine/ports.ts'
import type { State } from '../core/engine/state.ts'
import type { Member } from '../operations/server/operator.ts'
import { advertisedHost, advertisedPort } from '../server-address.ts'
import type { Settings } from '../settings/settings.ts'
import { monotonicMs, wallMs } from './clocks.ts'
import type { Members } from './installation.ts'

/** The only server of an installation, as operators see it: it is its own leader. */
export class SoleMember implements Members {
  readonly #state: State
  readonly #settings: Settings
  readonly #leadership: Leadership
  #port: number
  #refreshedMs = wallMs()

  private constructor(state: State, settings: Settings, term: number) {
    this.#state = state
    this.#settings = settings
    this.#port = settings.port
    this.#leadership = new Leadership(() => this.#address(), term, monotonicMs())
  }

  /** Joins as the leader of a new term. Each start on the same data begins a term. */
  static async join(state: State, store: KeptRecords, settings: Settings): Promise<SoleMember> {
    const term = Number((await store.recall('term')) ?? 0) + 1
    await store.remember('term', String(term))
    return new SoleMember(state, settings, term)
  }

  listensOn(port: number): void {
    this.#port = port
  }

  list(): readonly Member[] {
    const alive = serverStatus(this.#state.switches) === 'UP'
    const { site } = this.#settings
    const port = advertisedPort(this.#settings, this.#port)
    return [
      { ip: advertisedHost(this.#settings), port, site, alive, replies: true, lastRefMs: this.#refreshedMs },
    ]
  }

  leader(): LeaderView {
    return this.#leadership.view(monotonicMs())
  }

  heartbeat(): void {
    this.#leadership.heartbeat(monotonicMs())
  }

  refresh(): void {
    this.#refreshedMs = wallMs()
  }

  #address(): string {
    return `${advertisedHost(this.#settings)}:${advertisedPort(this.#settings, this.#port)}`
  }
}
