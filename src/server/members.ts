import { type LeaderView, Leadership } from '../core/operator/leadership.ts'
import { serverStatus } from '../core/operator/server-status.ts'
import type { Store } from '../core/ports.ts'
import type { State } from '../core/state.ts'
import { MachineLoad, type MachineReading } from '../machine/machine-load.ts'
import type { Member } from '../operations/operator.ts'
import { advertisedHost } from '../server-address.ts'
import type { Settings } from '../settings/settings.ts'
import { monotonicMs, wallMs } from './clocks.ts'

/** The servers of this installation, as operators see them. Today this server is the only one. */
export class Members {
  readonly #state: State
  readonly #self: { readonly ip: string; readonly site: string; port: number }
  readonly #machine = new MachineLoad()
  readonly #leadership: Leadership
  #refreshedMs = wallMs()
  #nextRefreshMs = 0

  private constructor(state: State, settings: Settings, term: number) {
    this.#state = state
    this.#self = { ip: advertisedHost(settings), site: settings.site, port: settings.port }
    this.#leadership = new Leadership(() => `${this.#self.ip}:${this.#self.port}`, term, monotonicMs())
  }

  /** Joins as the leader of a new term. Each start on the same data begins a term. */
  static async join(state: State, store: Store, settings: Settings): Promise<Members> {
    const term = Number((await store.recall('term')) ?? 0) + 1
    await store.remember('term', String(term))
    return new Members(state, settings, term)
  }

  /** Sets the port that the server listens on. */
  listensOn(port: number): void {
    this.#self.port = port
  }

  readonly list = (): Member[] => {
    const alive = serverStatus(this.#state.switches) === 'UP'
    const { ip, port, site } = this.#self
    return [{ ip, port, site, alive, lastRefMs: this.#refreshedMs }]
  }

  readonly leader = (): LeaderView => this.#leadership.view(monotonicMs())

  readonly machine = (): MachineReading => this.#machine.read()

  /** Renews the leadership. Call it every HEARTBEAT_MS. */
  heartbeat(): void {
    this.#leadership.heartbeat(monotonicMs())
  }

  /** Samples the machine as often as the switch says. Call it more often than that. */
  tick(): void {
    const nowMs = monotonicMs()
    if (nowMs < this.#nextRefreshMs) return
    this.#nextRefreshMs = nowMs + this.#state.switches.serverStatusSynchronizationPeriodMillis
    this.#machine.sample()
    this.#refreshedMs = wallMs()
  }
}
