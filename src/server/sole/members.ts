import { serverStatus } from '../../core/operator/server-status.ts'
import type { ClusterMember } from '../../core/cluster/members/member-view.ts'
import type { KeptRecords } from '../../core/engine/ports.ts'
import type { ServerFigures } from '../../core/cluster/members/server-figures.ts'
import type { State } from '../../core/engine/state.ts'
import type { LeaderView, Member } from '../../operations/server/operator.ts'
import { advertisedHost, advertisedPort } from '../../server-address.ts'
import type { Settings } from '../../settings/settings.ts'
import { monotonicMs, wallMs } from '../process/clocks.ts'
import { HEARTBEAT_MS, type Members } from '../process/installation.ts'

/** How long a leader is the leader after its last heartbeat, ms. */
const LEASE_MS = 15_000

/** The dependencies of the list of the only server. */
export interface SoleMemberParts {
  readonly state: State
  readonly settings: Settings
  /** The server's own measurements. */
  readonly figures: () => ServerFigures
}

/** The only server of an installation, as operators see it: its own leader. Its term counts its starts on these data. */
export class SoleMember implements Members {
  readonly #state: State
  readonly #figures: () => ServerFigures
  readonly #settings: Settings
  readonly #term: number
  #port: number
  #refreshedMs = wallMs()
  #heartbeatMs = monotonicMs()
  readonly #sinceMs = monotonicMs()

  private constructor({ state, settings, figures }: SoleMemberParts, term: number) {
    this.#state = state
    this.#figures = figures
    this.#settings = settings
    this.#port = settings.port
    this.#term = term
  }

  /** Joins as the leader of a new term. Each start on the same data begins a term. */
  static async join(parts: SoleMemberParts, store: KeptRecords): Promise<SoleMember> {
    const term = Number((await store.recall('term')) ?? 0) + 1
    await store.remember('term', String(term))
    return new SoleMember(parts, term)
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

  cluster(): Promise<readonly ClusterMember[]> {
    return Promise.resolve(
      this.list().map(({ ip, port, site }) => {
        const role = { isSelf: true, isElected: true, forMs: Math.round(monotonicMs() - this.#sinceMs) }
        const unknown = { facts: undefined, view: undefined, clockAheadMs: undefined }
        return { id: `${ip}:${port}`, ip, port, site, ...role, ...unknown, figures: this.#figures() }
      }),
    )
  }

  leader(): LeaderView {
    const sinceMs = Math.round(monotonicMs() - this.#heartbeatMs)
    const ip = `${advertisedHost(this.#settings)}:${advertisedPort(this.#settings, this.#port)}`
    return {
      heartbeatDueMs: Math.max(HEARTBEAT_MS - sinceMs, 0),
      ip,
      leaderDueMs: Math.max(LEASE_MS - sinceMs, 0),
      state: 'LEADER',
      term: this.#term,
      voteFor: ip,
    }
  }

  heartbeat(): void {
    this.#heartbeatMs = monotonicMs()
  }

  refresh(): void {
    this.#refreshedMs = wallMs()
  }
}
