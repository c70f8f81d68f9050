import type { ClusterView, HeardServers } from '../../cluster/cluster-view.ts'
import type { MemberClocks } from '../../cluster/member-clocks.ts'
import type { ClusterMember } from '../../core/cluster/members/member-view.ts'
import { ELECTED, ELECTION, MEMBER } from '../../core/cluster/members/member-records.ts'
import { forgetServer, SERVER } from '../../core/cluster/members/server-records.ts'
import type { Engine } from '../../core/engine/ports.ts'
import type { State } from '../../core/engine/state.ts'
import type { LeaderView, Member } from '../../operations/server/operator.ts'
import { monotonicMs, wallMs } from '../process/clocks.ts'
import { HEARTBEAT_MS, type Members } from '../process/installation.ts'

/** How long a server is listed after it was a member for the last time. */
const FORGET_AFTER_MS = 24 * 3_600_000

/** The dependencies of the list of servers. */
export interface SharedMembersParts {
  readonly state: State
  readonly engine: Pick<Engine, 'execute'>
  /** Until when this server is certainly a member, monotonic ms. */
  readonly leaseUntilMs: () => number
  readonly isElected: () => boolean
  readonly heard: Pick<HeardServers, 'agoMs' | 'replies' | 'ask'>
  readonly clocks: Pick<MemberClocks, 'look'>
  readonly view: Pick<ClusterView, 'members'>
  readonly report: (error: unknown, text: string) => void
}

/** All servers of an installation: present members and former members. */
export class SharedMembers implements Members {
  readonly #parts: SharedMembersParts
  /** Since when a server is seen to be no member, monotonic ms. */
  readonly #awaySinceMs = new Map<string, number>()

  constructor(parts: SharedMembersParts) {
    this.#parts = parts
  }

  list(): readonly Member[] {
    const { state, heard } = this.#parts
    return Array.from(state.records(SERVER), ([id, { ip, port, site }]) => {
      const alive = state.record(MEMBER, id) !== undefined
      const agoMs = heard.agoMs(id)
      const lastRefMs = agoMs === undefined ? 0 : Math.round(wallMs() - agoMs)
      return { ip, port, site, alive, replies: alive && heard.replies(id), lastRefMs }
    })
  }

  cluster(): Promise<readonly ClusterMember[]> {
    return this.#parts.view.members()
  }

  /** The times follow this server's own lease: until its end, this server certainly knows the elected one. */
  leader(): LeaderView {
    const { state, leaseUntilMs } = this.#parts
    const { member, term } = state.record(ELECTION, ELECTED) ?? { member: '', term: 0 }
    const leaderDueMs = Math.max(Math.round(leaseUntilMs() - monotonicMs()), 0)
    return {
      heartbeatDueMs: Math.max(leaderDueMs - HEARTBEAT_MS, 0),
      ip: member,
      leaderDueMs,
      state: 'LEADER',
      term,
      voteFor: member,
    }
  }

  refresh(): void {
    const { heard, clocks, report } = this.#parts
    void Promise.all([heard.ask(), clocks.look()]).catch((error: unknown) =>
      report(error, 'the other servers could not be asked'),
    )
    this.#forgetOld()
  }

  /** The address that the others know does not change while a server runs. */
  listensOn(): void {}

  /** The lease is renewed by the membership. */
  heartbeat(): void {}

  #forgetOld(): void {
    const { state, engine, isElected, report } = this.#parts
    const nowMs = monotonicMs()
    for (const [id] of state.records(SERVER)) {
      if (state.record(MEMBER, id) !== undefined) this.#awaySinceMs.delete(id)
      else if (!this.#awaySinceMs.has(id)) this.#awaySinceMs.set(id, nowMs)
      else if (isElected() && nowMs - this.#awaySinceMs.get(id)! > FORGET_AFTER_MS)
        Promise.resolve(engine.execute(forgetServer(id))).catch((error: unknown) =>
          report(error, 'a server that is gone could not be forgotten'),
        )
    }
  }
}
