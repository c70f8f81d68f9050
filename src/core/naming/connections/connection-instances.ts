import { DueBook } from '../../work/due-book.ts'
import type { Engine } from '../../engine/engine.ts'
import { Refusal } from '../../refusal.ts'
import { PacedWork } from '../../work/paced-work.ts'
import type { Loop } from '../../work/sliced-work.ts'
import type { State } from '../../engine/state.ts'
import { ConnectionBook, connectionEnded } from './connection-book.ts'
import type { ConnectionOwners, LostPlace } from '../liveness/connection-owners.ts'
import { connectionPublisher } from '../state/connection-publisher.ts'
import type { HealthClock } from '../liveness/health-clock.ts'
import { type InstanceAddress, isSamePublisher } from '../state/instance.ts'
import { ORPHAN_MS } from './orphans.ts'
import { type Part, partsOf, type Publication, type PublishingClient } from './publication.ts'
import { type PublishedInstance, replaceInstances, type Replacement } from '../commands/replace-instances.ts'
import type { ServiceKey } from '../state/service.ts'

/** When something that failed is tried again, ms. */
const RETRY_MS = 1_000
const BUCKET_MS = 250
/** The most publications that are put right at a time. */
const MOST_REPAIRS = 500
/** After a pause of so long, others may have removed what dead connections of this process have published, ms. */
const LONG_PAUSE_MS = 10_000
/** By then a dead connection has been noticed, ms. */
const NOTICED_MS = 30_000

/** What {@link ConnectionInstances} works on. */
export interface ConnectionInstanceParts {
  readonly state: State
  readonly owners: ConnectionOwners
  readonly engine: Pick<Engine, 'execute' | 'mostAtOnce'>
  /** Names this process (`MemberFacts.process`). */
  readonly process: string
  readonly clock: Pick<HealthClock, 'at' | 'pausedSince'>
  readonly monotonicMs: () => number
  readonly loop: Pick<Loop, 'soon'>
  /** Whether what this server does can reach the others, and operators let it write. */
  readonly canWrite: () => boolean
  readonly report: (error: unknown, text: string) => void
  /** For tests: instead of `ORPHAN_MS`. */
  readonly keptMs?: number
}

/** All instances of a connection in a service, from now on. */
export interface ConnectionPublication {
  readonly serviceKey: ServiceKey
  readonly connectionId: string
  readonly client?: PublishingClient
  /** The user who publishes; undefined: nobody has to sign in. */
  readonly username?: string | undefined
  readonly instances: readonly PublishedInstance[]
}

type Carried = Replacement | Promise<Replacement>

const NO_MEMBER = 'The server is no member of the cluster now: try again in a moment.'
const NO_CHANGE: Replacement = { registered: 0, known: 0, removed: 0 }

/**
 * Publishes the instances of the connections of this process, and keeps them as their clients want them: what could not
 * be removed is removed later, and what others have removed comes back while its connection lives. An address that
 * another publisher has taken over comes back when that one leaves. All times are health time.
 */
export class ConnectionInstances {
  readonly #parts: ConnectionInstanceParts
  readonly #book = new ConnectionBook()
  readonly #due = new DueBook<Publication>(BUCKET_MS)
  /** Those of connections that have ended, whose instances are kept for a while. */
  readonly #kept = new Set<Publication>()
  /** Those that are being put right. */
  #repairing = 0
  /** What is done for connections that have ended, and what is put right. */
  readonly #paced: PacedWork
  /** Since when this server can write without an interruption that is known. */
  #writesSinceMs = -Infinity
  /** Since the start: instances of live connections that others had removed, and that this server has registered again. */
  readonly counts = { restored: 0 }

  constructor(parts: ConnectionInstanceParts) {
    this.#parts = parts
    this.#paced = new PacedWork(parts.loop, parts.engine.mostAtOnce)
  }

  /** What each connection publishes. */
  get book(): Pick<ConnectionBook, 'of' | 'size' | 'counts'> {
    return this.#book
  }

  /** What connections that have ended have left behind for a while. */
  get kept(): Iterable<Publication> {
    return this.#kept
  }

  /** This process. */
  get process(): string {
    return this.#parts.process
  }

  /** The client of a connection that publishes. */
  clientOf(connectionId: string): PublishingClient | undefined {
    return this.#book.clientOf(connectionId)
  }

  /** How many publications wait for being put right, or for an address that somebody else has. */
  get waiting(): number {
    return this.#due.size + this.#repairing + this.#paced.waiting
  }

  /**
   * Makes these all the instances of a connection in a service. If it is refused, what it had before stays. Refusal
   * `stopping` where the connection has ended, and `store-unavailable` while this server cannot write: one that was frozen
   * reads old requests when it wakes, whose clients have registered elsewhere.
   */
  publish({ serviceKey, connectionId, instances, client, username }: ConnectionPublication): Carried {
    const publication = this.#book.open(serviceKey, connectionId)
    publication.client = client
    publication.username = username
    return this.#inTurn(publication, () => {
      if (publication.isClosed) throw connectionEnded()
      if (!this.#parts.canWrite()) throw new Refusal('store-unavailable', NO_MEMBER)
      const undo = publication.want(instances)
      return this.#carryOut(publication, { instances, leaving: publication.leaving, takesOver: true }, undo)
    })
  }

  /** A connection has no instances in a service any more. What cannot be removed now is removed later. */
  withdraw({
    serviceKey,
    connectionId,
  }: Pick<ConnectionPublication, 'serviceKey' | 'connectionId'>): Carried {
    const publication = this.#book.find(serviceKey, connectionId)
    return publication === undefined ? NO_CHANGE : this.#inTurn(publication, () => this.#remove(publication))
  }

  /**
   * The user of a publication may not have it any more: its instances go, and are remembered while its connection lives.
   * Resolves when they are gone; what cannot be removed now is removed later. Never rejects.
   */
  withhold(publication: Publication): void | Promise<void> {
    return this.#quietly(publication, () => {
      if (publication.isClosed) return this.#removeKept(publication)
      publication.withhold()
      return this.#carryOut(publication, { instances: [], leaving: publication.leaving, takesOver: true })
    })
  }

  /** The user of a publication may have it again: what was withheld comes back. Resolves when it is there. Never rejects. */
  allow(publication: Publication): void | Promise<void> {
    return this.#quietly(publication, () => {
      if (publication.isClosed || !publication.isWithheld) return NO_CHANGE
      publication.allow()
      return this.#restore(publication)
    })
  }

  /**
   * A connection has ended: its instances go at once. `comesBack`: its client was sent to another server, or must sign in
   * again, so they stay as long as those of a server that is gone, and at least until `returnsByMs` on the monotonic clock,
   * unless it has registered them again. So it is if this server cannot write now: they go some time after it can again.
   */
  release(connectionId: string, comesBack: boolean, returnsByMs = -Infinity): void {
    const { canWrite, monotonicMs, keptMs = ORPHAN_MS } = this.#parts
    for (const publication of this.#book.close(connectionId)) {
      publication.isClosed = true
      if (canWrite() && !comesBack) {
        const remove = (): void => void this.#quietly(publication, () => this.#remove(publication))
        this.#paced.run(publication.size, remove)
      } else {
        publication.want([])
        publication.keptUntilMs = this.#nowMs() + Math.max(keptMs, returnsByMs - monotonicMs())
        this.#due.add(publication, publication.keptUntilMs)
        this.#kept.add(publication)
      }
    }
  }

  /** Puts right what has failed or was changed by others. Call it about four times a second. */
  tick(): void {
    const nowMs = this.#nowMs()
    for (const lost of this.#parts.owners.takeLost()) this.#notice(lost, nowMs)
    if (!this.#parts.canWrite()) {
      this.#writesSinceMs = nowMs
      return
    }
    const most = MOST_REPAIRS - this.#repairing - this.#paced.waiting
    for (const publication of this.#due.due(nowMs, Math.max(most, 0))) {
      const atMs = this.#dueMs(publication)
      if (atMs > nowMs) this.#due.add(publication, atMs)
      else this.#paced.run(publication.size, () => this.#care(publication))
    }
  }

  /** What is on its way ends before the next begins: so the last word of a client counts. */
  #inTurn(publication: Publication, run: () => Carried): Carried {
    const { underway } = publication
    const outcome = underway === undefined ? this.#attempt(publication, run) : underway.then(run)
    if (!(outcome instanceof Promise)) return outcome
    const settled = outcome.then(
      () => {},
      () => {},
    )
    const mine = settled.then(() => {
      if (publication.underway === mine) publication.underway = undefined
      this.#look(publication)
    })
    publication.underway = mine
    return outcome
  }

  #attempt(publication: Publication, run: () => Carried): Carried {
    try {
      const outcome = run()
      if (!(outcome instanceof Promise)) this.#look(publication)
      return outcome
    } catch (error) {
      this.#look(publication)
      throw error
    }
  }

  /** It is not kept any longer: what cannot be removed now goes soon. */
  #removeKept(publication: Publication): Carried {
    publication.keptUntilMs = -Infinity
    return this.#remove(publication)
  }

  #remove(publication: Publication): Carried {
    publication.want([])
    return this.#carryOut(publication, { instances: [], leaving: publication.leaving, takesOver: true })
  }

  /** Sees to it that a publication is forgotten, or looked after. */
  #look(publication: Publication): void {
    if (publication.isOver) {
      this.#book.forget(publication)
      this.#kept.delete(publication)
    } else if (publication.needsCare || publication.isWaiting)
      this.#due.add(publication, this.#nowMs() + RETRY_MS)
  }

  #carryOut(publication: Publication, whole: Part, undo = (): void => {}): Carried {
    const failed = (error: unknown): never => {
      undo()
      if (error instanceof Refusal && error.code === 'store-unavailable') this.#writesSinceMs = this.#nowMs()
      throw error
    }
    const parts = partsOf(whole, this.#parts.engine.mostAtOnce)
    try {
      const [only] = parts
      const outcome =
        parts.length === 1 ? this.#execute(publication, only!) : this.#inParts(publication, parts)
      return outcome instanceof Promise ? outcome.catch(failed) : outcome
    } catch (error) {
      return failed(error)
    }
  }

  /** Other requests are answered between the parts. Nobody waits for those of a connection that has ended. */
  async #inParts(publication: Publication, parts: readonly Part[]): Promise<Replacement> {
    const { loop, engine } = this.#parts
    const isAwaited = !publication.isClosed && !publication.isWithheld
    const turn = (next: () => void): void =>
      isAwaited ? loop.soon(next) : this.#paced.run(engine.mostAtOnce, next)
    let sum = NO_CHANGE
    for (const part of parts) {
      const { registered, known, removed } = await this.#execute(publication, part)
      sum = {
        registered: sum.registered + registered,
        known: sum.known + known,
        removed: sum.removed + removed,
      }
      await new Promise<void>(turn)
    }
    return sum
  }

  #execute(publication: Publication, part: Part): Carried {
    const { serviceKey, connectionId, isClosed, isWithheld } = publication
    const { process, engine } = this.#parts
    const publisher = connectionPublisher({ process, connectionId })
    const done = (outcome: Replacement): Replacement => {
      publication.gone(part.leaving)
      this.#lookForLost(publication, part)
      return outcome
    }
    const outcome = engine.execute(
      // What has died, or is withheld, leaves like an orphan if this server crashes before it is written.
      replaceInstances({ serviceKey, publisher, ...part, removesDurably: !isClosed && !isWithheld }),
    )
    return outcome instanceof Promise ? outcome.then(done) : done(outcome)
  }

  /** Another publisher may have been faster, or have taken an address over in the same revision: it is waited for. */
  #lookForLost(publication: Publication, { instances }: Part): void {
    for (const { address } of instances) {
      const owner = this.#ownerAt(publication, address)
      if (owner === 'nobody') publication.miss(address)
      else if (owner === 'another') publication.lose(address)
    }
  }

  /** When a publication may be put right: what could not be removed at once when a connection ended is kept for a while. */
  #dueMs({ isClosed, keptUntilMs }: Publication): number {
    if (!isClosed) return -Infinity
    return Math.max(keptUntilMs, this.#writesSinceMs + (this.#parts.keptMs ?? ORPHAN_MS))
  }

  #care(publication: Publication): void {
    publication.lookAgain((address) => this.#ownerAt(publication, address))
    if (publication.needsCare) this.#repair(publication)
    else this.#look(publication)
  }

  #ownerAt(
    { serviceKey, connectionId }: Publication,
    address: InstanceAddress,
  ): 'nobody' | 'this' | 'another' {
    const { state, process } = this.#parts
    const owner = state.instance(serviceKey, address)?.record.publisher
    if (owner === undefined) return 'nobody'
    return isSamePublisher(owner, connectionPublisher({ process, connectionId })) ? 'this' : 'another'
  }

  #repair(publication: Publication): void {
    this.#repairing++
    const restore = (): Carried => this.#restore(publication)
    void this.#quietly(publication, restore, ({ registered }) => {
      this.counts.restored += registered
      this.#repairing--
    })
  }

  #restore(publication: Publication): Carried {
    const part = publication.takeCare()
    const missAgain = (): void => part.instances.forEach(({ address }) => publication.miss(address))
    return this.#carryOut(publication, part, missAgain)
  }

  /** Nobody waits for the outcome: what fails is tried again. */
  #quietly(
    publication: Publication,
    run: () => Carried,
    done: (outcome: Replacement) => void = () => {},
  ): void | Promise<void> {
    const failed = (error: unknown): void => {
      done(NO_CHANGE)
      // That the store cannot be reached is no news.
      if (!(error instanceof Refusal))
        this.#parts.report(error, 'instances of a connection could not be changed')
    }
    try {
      const outcome = this.#inTurn(publication, run)
      if (outcome instanceof Promise) return outcome.then(done, failed)
      done(outcome)
    } catch (error) {
      failed(error)
    }
  }

  /** A connection has lost an instance: to another publisher, or by a removal that it may not have asked for. */
  #notice({ connectionId, serviceKey, address }: LostPlace, nowMs: number): void {
    const publication = this.#book.find(serviceKey, connectionId)
    if (publication === undefined) return
    if (publication.underway !== undefined) {
      void publication.underway.then(() => this.#notice({ connectionId, serviceKey, address }, this.#nowMs()))
      return
    }
    const { clock } = this.#parts
    const owner = this.#ownerAt(publication, address)
    if (owner === 'nobody') {
      publication.miss(address)
      // After a long pause, the connection may be dead without anybody having noticed.
      const isDoubtful = clock.pausedSince(nowMs - NOTICED_MS) >= LONG_PAUSE_MS
      if (publication.needsCare) this.#due.add(publication, nowMs + (isDoubtful ? NOTICED_MS : 0))
    } else if (owner === 'another') {
      publication.lose(address)
      this.#look(publication)
    }
  }

  #nowMs(): number {
    const { clock, monotonicMs } = this.#parts
    return clock.at(monotonicMs())
  }
}
