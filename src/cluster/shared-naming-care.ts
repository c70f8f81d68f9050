import { JudgedServices } from '../core/cluster/judging/judged-services.ts'
import { MEMBER, type MemberFacts } from '../core/cluster/members/member-records.ts'
import { silencesOf } from '../core/cluster/judging/peer-silence.ts'
import { removeOrphan } from '../core/cluster/judging/confirm-silence.ts'
import { type Restoration, Restoring } from '../core/cluster/judging/restoring.ts'
import { type ConfirmedSilence, type VoteRound, SilenceVote } from '../core/cluster/judging/silence-vote.ts'
import type { Command } from '../core/decisions/decision.ts'
import type { Engine } from '../core/engine/ports.ts'
import { isChecked } from '../core/naming/state/checked.ts'
import { expireEmptyServices, forgetExpiredMetadata } from '../core/naming/commands/housekeeping.ts'
import type { HealthClock } from '../core/naming/liveness/health-clock.ts'
import type { Instance } from '../core/naming/state/service-entry.ts'
import type { Liveness } from '../core/naming/liveness/liveness.ts'
import type { ServiceKey } from '../core/naming/state/service.ts'
import { serverStatus, serves } from '../core/operator/server-status.ts'
import { Refusal } from '../core/refusal.ts'
import { type Loop, SlicedWork } from '../core/work/sliced-work.ts'
import type { State } from '../core/engine/state.ts'
import type { PeerClient } from './peer-client.ts'
import { SILENCE } from './peer-question.ts'
import type { PeerServer } from './peer-server.ts'
import { UnansweringPeers } from './unanswering-peers.ts'

/** Instances per slice of a sweep. */
const MOST_AT_ONCE = 200
/** The most orphans that are checked, and perhaps removed, at once. */
const MOST_ORPHANS = 500

/** The dependencies of {@link SharedNamingCare}. Durations are in milliseconds. */
export interface SharedNamingCareOptions {
  readonly state: State
  readonly liveness: Liveness
  /** Whether a process is this one, or belongs to a live member. */
  readonly isAlive: (process: string) => boolean
  readonly engine: Pick<Engine, 'execute'>
  readonly clock: HealthClock
  readonly monotonicMs: () => number
  readonly loop: Loop
  /** The member id of this server. */
  readonly self: string
  /** Whether the lease of this server is certain. */
  readonly isMember: () => boolean
  readonly client: Pick<PeerClient, 'ask'>
  readonly log: { warn(facts: object, text: string): void }
  readonly report: (error: unknown, text: string) => void
  readonly emptyServiceExpiryMs: number
  readonly expiredMetadataTimeMs: number
}

/** The cost and the results of judging. Counts are since the start. */
export interface CareFigures {
  /** Questions about silence, one for each member that was asked, and the instances in them. */
  readonly questions: number
  readonly instancesAskedAbout: number
  readonly unanswered: number
  /** Instances that were removed although this server had received their beats, and that it brought back. */
  readonly restored: number
  /** Instances that are being judged now. */
  readonly suspects: number
  /** The members that keep their lease but do not answer. */
  readonly unansweringMembers: readonly string[]
}

/**
 * Applies the changes of time to naming, on one of several servers. It has the methods of `NamingCare`. It judges only
 * its own share of services, asks the other members before it changes anything, and answers them. Loaded instances count
 * as learned, without a beat: make it after the state was loaded and before the first beat.
 */
export class SharedNamingCare {
  readonly #options: SharedNamingCareOptions
  readonly #vote: SilenceVote
  readonly #restoring: Restoring
  readonly #unanswering = new UnansweringPeers()
  readonly #taking: SlicedWork
  #isJudging = false
  #isRemoving = false
  readonly #counts = { questions: 0, instancesAskedAbout: 0, unanswered: 0 }
  /** Whether this server judges a service, as the members are now. */
  readonly judges: (key: ServiceKey) => boolean

  constructor(options: SharedNamingCareOptions) {
    this.#options = options
    const { state, liveness, self, isMember, clock, loop } = options
    this.judges = new JudgedServices(state, self).judges
    const nowMs = this.#healthMs()
    for (const entry of state.services.all())
      for (const instance of entry.instances.values()) liveness.learn(instance, nowMs)
    this.#vote = new SilenceVote({ state, liveness, self, isMember, judges: this.judges }, nowMs)
    this.#restoring = new Restoring(liveness, clock)
    this.#taking = new SlicedWork(loop, () => this.#takeSome(), { boundary: 'job' })
  }

  /** Lets this server answer the others. */
  answerOn(server: PeerServer): void {
    server.answer(SILENCE, (places) => silencesOf(places, this.#options, this.#healthMs()))
  }

  /** Call it when the store was loaded again: this server may have missed the loss of a member. */
  reloaded(): void {
    this.#vote.missedNews(this.#healthMs())
    this.#lookAtProcesses(false)
  }

  figures(): CareFigures {
    return {
      ...this.#counts,
      restored: this.#restoring.counts.restored,
      suspects: this.#vote.size,
      unansweringMembers: this.#unanswering.alarming,
    }
  }

  /** Call it every `SWEEP_MS`. It does not wait for the answers of the others. */
  sweep(): void {
    const { state, clock, monotonicMs, report, isMember } = this.#options
    if (!serves(serverStatus(state.switches), 'write')) return clock.hold(monotonicMs())
    clock.sweep(monotonicMs())
    this.#unanswering.keepOnly((id) => state.record(MEMBER, id) !== undefined)
    if (this.#takeSome()) this.#taking.start()
    for (const restoration of this.#restoring.due(this.#healthMs()))
      this.#bringBack(restoration).catch((error: unknown) => report(error, 'instances could not be restored'))
    this.#judge().catch((error: unknown) => report(error, 'silent instances could not be judged'))
    this.#lookAtProcesses(isMember())
    this.#removeOrphans().catch((error: unknown) => report(error, 'silent instances could not be judged'))
  }

  /** Removes services of its own that have been empty for long. Call it about once a second. */
  async expireServices(): Promise<void> {
    const { liveness, emptyServiceExpiryMs } = this.#options
    await this.#run(expireEmptyServices(liveness, this.#healthMs() - emptyServiceExpiryMs, this.judges))
  }

  /** Forgets metadata of instances of its own services that have been away for long. */
  async forgetMetadata(): Promise<void> {
    const { liveness, expiredMetadataTimeMs } = this.#options
    await this.#run(forgetExpiredMetadata(liveness, this.#healthMs() - expiredMetadataTimeMs, this.judges))
  }

  #lookAtProcesses(isCertain: boolean): void {
    const { liveness, isAlive } = this.#options
    liveness.processes.look(this.#healthMs(), { isAlive, isCertain })
  }

  #takeSome(): boolean {
    return this.#vote.take(this.#healthMs(), MOST_AT_ONCE)
  }

  /**
   * Votes round after round until nothing waits. The confirmed silences of a round are written before the next round begins.
   * So clients do not wait for all rounds when very many instances die at once.
   */
  async #judge(): Promise<void> {
    if (this.#isJudging) return
    this.#isJudging = true
    try {
      for (;;) {
        const round = this.#vote.open(this.#healthMs())
        if (round === undefined) return
        await this.#askAll(round)
        await Promise.all(this.#vote.close(this.#healthMs()).map(async (each) => this.#carryOut(each)))
        await new Promise<void>((resolve) => this.#options.loop.soon(resolve))
      }
    } finally {
      this.#isJudging = false
    }
  }

  /** Removes the orphans of its own services. It checks some at a time, and writes before it continues. */
  async #removeOrphans(): Promise<void> {
    const { state, isMember, loop } = this.#options
    const { processes } = this.#options.liveness
    if (this.#isRemoving || !isMember()) return
    this.#isRemoving = true
    try {
      const isOwn = ({ entry: { service } }: Instance): boolean =>
        this.judges(service.key) && isChecked(state.switches, service.key)
      do {
        const taken = processes.takeOrphans(this.#healthMs(), MOST_ORPHANS, isOwn)
        const removed = await Promise.all(
          taken.map(async (each) => this.#tried(removeOrphan(each, this.#options))),
        )
        processes.counts.removed += removed.filter((isDone) => isDone === true).length
        await new Promise<void>((resolve) => loop.soon(resolve))
      } while (processes.hasMore && isMember())
    } finally {
      this.#isRemoving = false
    }
  }

  /** Never rejects: a round that stays open would be the last round. A member that could not be asked has not answered. */
  async #askAll(round: VoteRound): Promise<void> {
    const asked = Array.from(round.peers, async ([id, member]) => this.#ask(round, id, member))
    for (const result of await Promise.allSettled(asked))
      if (result.status === 'rejected')
        this.#options.report(result.reason, 'a member could not be asked about silent instances')
  }

  async #ask({ places }: VoteRound, id: string, member: MemberFacts): Promise<void> {
    const { client, log, self, monotonicMs } = this.#options
    this.#counts.questions++
    this.#counts.instancesAskedAbout += places.length
    const silences = await client.ask(member, SILENCE, places)
    if (silences !== undefined) {
      this.#unanswering.answered(id)
      return this.#vote.answered(id, silences, this.#healthMs())
    }
    this.#counts.unanswered++
    if (!this.#unanswering.unanswered(id, member.process, monotonicMs())) return
    log.warn(
      { server: self, member: id },
      'a member keeps its lease but does not answer: silent instances stay listed until it answers or is stopped',
    )
  }

  async #carryOut(confirmed: ConfirmedSilence): Promise<void> {
    const isDone = (await this.#tried(confirmed.command)) === true
    if (isDone) this.#options.liveness.counts[confirmed.effect]++
    this.#vote.settled(confirmed, isDone, this.#healthMs())
  }

  async #bringBack(restoration: Restoration): Promise<void> {
    const outcome = await this.#tried(restoration.command)
    this.#restoring.settled(restoration, outcome ?? 'failed', this.#healthMs())
  }

  /** The outcome of a command; undefined if it failed. That the store cannot be reached is no news. */
  async #tried<T>(command: Command<T>): Promise<T | undefined> {
    const { engine, report } = this.#options
    try {
      return await engine.execute(command)
    } catch (error) {
      if (!(error instanceof Refusal)) report(error, 'silent instances could not be judged')
      return undefined
    }
  }

  #healthMs(): number {
    const { clock, monotonicMs } = this.#options
    return clock.at(monotonicMs())
  }

  async #run(commands: readonly Command<void>[]): Promise<void> {
    const { engine, isMember } = this.#options
    if (isMember()) await Promise.all(commands.map(async (command) => engine.execute(command)))
  }
}
