import { ELECTED, ELECTION, MEMBER, type MemberFacts } from '../core/cluster/members/member-records.ts'
import type { ClusterMember, HeardMember, MemberView } from '../core/cluster/members/member-view.ts'
import type { ServerFigures } from '../core/cluster/members/server-figures.ts'
import { SERVER } from '../core/cluster/members/server-records.ts'
import type { RecordView } from '../core/records/record-tables.ts'
import type { MemberClocks } from './member-clocks.ts'
import type { PeerClient } from './peer-client.ts'
import { MEMBER_VIEW, HEARD } from './peer-question.ts'
import type { PeerServer } from './peer-server.ts'
import type { OwnStanding } from './standing.ts'

/** The dependencies of `ClusterView`. */
export interface ClusterViewParts {
  readonly client: Pick<PeerClient, 'ask'>
  /** The member id of this server. */
  readonly self: string
  readonly state: RecordView
  /** The follower of the store, and the layout in use. */
  readonly store: { readonly figures: FeedFigures; readonly layout: number }
  readonly leaseUntilMs: () => number
  readonly standing: Pick<OwnStanding, 'current'>
  /** How many services this server judges, and instances in them. */
  readonly judged: () => { readonly services: number; readonly instances: number }
  readonly heard: Pick<HeardServers, 'agoMs' | 'replies'>
  readonly clocks: Pick<MemberClocks, 'aheadMs'>
  /** See `MemberWatch.forMs`. */
  readonly forMs: (id: string) => number | undefined
  /** The server's own measurements. */
  readonly figures: () => ServerFigures
  readonly monotonicMs: () => number
}

/** How far a server is behind the store. */
interface FeedFigures {
  readonly applied: number
  readonly newest: number
  readonly lagMs: number
  readonly reloads: number
}

/** The view of all servers of the installation, each described by itself. */
export class ClusterView {
  readonly #parts: ClusterViewParts
  readonly #startedMs: number

  constructor(parts: ClusterViewParts) {
    this.#parts = parts
    this.#startedMs = parts.monotonicMs()
  }

  /** Lets this server answer the others. */
  answerOn(server: PeerServer): void {
    server.answer(MEMBER_VIEW, () => this.#own())
  }

  /** Asks all members at once; each has a second to reply. Includes servers that were members lately. */
  async members(): Promise<readonly ClusterMember[]> {
    const { state } = this.#parts
    const members = new Map(state.records(MEMBER))
    const ids = new Set([...Array.from(state.records(SERVER), ([id]) => id), ...members.keys()])
    return Promise.all([...ids].sort().map((id) => this.#member(id, members.get(id))))
  }

  async #member(id: string, facts: MemberFacts | undefined): Promise<ClusterMember> {
    const { self, state, forMs, client, clocks } = this.#parts
    const { ip, port, site } = facts ?? state.record(SERVER, id) ?? NOWHERE
    const isSelf = id === self
    const view = isSelf ? this.#own() : facts && (await client.ask(facts, MEMBER_VIEW, {}))
    const isElected = state.record(ELECTION, ELECTED)?.member === id
    // A member from before the first look reports itself how long it has been running.
    const sinceStart = facts === undefined ? undefined : view?.upMs
    const clockAheadMs = clocks.aheadMs(id)
    const place = { id, ip, port, site, facts, forMs: forMs(id) ?? sinceStart }
    return { ...place, clockAheadMs, isSelf, isElected, ...apart(view) }
  }

  #own(): MemberView {
    const { store, leaseUntilMs, standing, judged, monotonicMs } = this.#parts
    const { applied, newest, lagMs, reloads } = store.figures
    const { services, instances } = judged()
    const nowMs = monotonicMs()
    return {
      upMs: Math.round(nowMs - this.#startedMs),
      leaseMs: Math.max(0, Math.round(leaseUntilMs() - nowMs)),
      standing: standing.current,
      layout: store.layout,
      revision: applied,
      newestRevision: newest,
      lagMs: Math.max(0, Math.round(lagMs)),
      reloads,
      judgedServices: services,
      judgedInstances: instances,
      hears: this.#hears(),
      figures: this.#parts.figures(),
    }
  }

  #hears(): HeardMember[] {
    const { self, state, heard } = this.#parts
    const others = Array.from(state.records(MEMBER), ([id]) => id).filter((id) => id !== self)
    return others.map((id) => {
      const agoMs = heard.agoMs(id)
      return { id, replies: heard.replies(id), agoMs: agoMs === undefined ? undefined : Math.round(agoMs) }
    })
  }
}

/** The figures of a report beside the rest of it. */
function apart(view: MemberView | undefined): Pick<ClusterMember, 'view' | 'figures'> {
  if (view === undefined) return { view, figures: undefined }
  const { figures, ...rest } = view
  return { view: rest, figures }
}

/** A server that was forgotten while it was looked at. */
const NOWHERE = { ip: '', port: 0, site: '' }

/** The facts that {@link HeardServers} works on. */
interface HeardServersParts {
  readonly client: Pick<PeerClient, 'ask'>
  /** The member id of this server. */
  readonly self: string
  /** The other members, by their ids. */
  readonly peers: () => ReadonlyMap<string, MemberFacts>
  /** Whether a server with this id is known: answers about other servers are ignored. */
  readonly isKnown: (id: string) => boolean
  readonly monotonicMs: () => number
}

/**
 * How long ago each server last answered any of the servers. Each server asks the others regularly. An answer shows that its
 * sender lives, and has the sender's times for all servers. So a server that starts later learns when another one died.
 * Answers hold durations, because clocks differ.
 */
export class HeardServers {
  readonly #parts: HeardServersParts
  /** Monotonic ms, by member id. */
  readonly #heardMs = new Map<string, number>()
  /** The members that did not reply when they were last asked. */
  #silent: ReadonlySet<string> = new Set()
  #isAsking = false

  constructor(parts: HeardServersParts) {
    this.#parts = parts
  }

  /** Lets this server answer the others. */
  answerOn(server: PeerServer): void {
    server.answer(HEARD, () => Array.from(this.#ids(), (id) => ({ id, agoMs: this.agoMs(id)! })))
  }

  /** How long ago a server last answered; undefined if no running server remembers. */
  agoMs(id: string): number | undefined {
    if (id === this.#parts.self) return 0
    const heardMs = this.#heardMs.get(id)
    return heardMs === undefined ? undefined : Math.max(0, this.#parts.monotonicMs() - heardMs)
  }

  /** Whether a member replied when it was last asked. A member that was not asked yet counts as replying. */
  replies(id: string): boolean {
    return !this.#silent.has(id)
  }

  /** Asks all members. Call it regularly; a call while others are still being asked does nothing. */
  async ask(): Promise<void> {
    if (this.#isAsking) return
    this.#isAsking = true
    const silent = new Set<string>()
    try {
      const asked = Array.from(this.#parts.peers(), async ([id, member]) => {
        if (!(await this.#ask(id, member))) silent.add(id)
      })
      await Promise.all(asked)
    } finally {
      this.#silent = silent
      this.#isAsking = false
    }
  }

  async #ask(id: string, member: MemberFacts): Promise<boolean> {
    const { client, isKnown, monotonicMs } = this.#parts
    // Counting from the question, so that a time that passes through several servers never moves forward.
    const askedMs = monotonicMs()
    const answer = await client.ask(member, HEARD, {})
    if (answer === undefined) return false
    this.#heard(id, monotonicMs())
    for (const { id: other, agoMs } of answer) if (isKnown(other)) this.#heard(other, askedMs - agoMs)
    for (const old of this.#heardMs.keys()) if (!isKnown(old)) this.#heardMs.delete(old)
    return true
  }

  #heard(id: string, atMs: number): void {
    this.#heardMs.set(id, Math.max(atMs, this.#heardMs.get(id) ?? -Infinity))
  }

  #ids(): Set<string> {
    return new Set([this.#parts.self, ...this.#heardMs.keys()])
  }
}
