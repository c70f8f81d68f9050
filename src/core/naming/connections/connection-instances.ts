import { DueBook } from '../../work/due-book.ts'
import type { Engine } from '../../engine/ports.ts'
import { isOfStore, Refusal } from '../../refusal.ts'
import { PacedWork } from '../../work/paced-work.ts'
import type { Loop } from '../../work/sliced-work.ts'
import type { State } from '../../engine/state.ts'
import { type ConnectionProcesses, type LostPlace, ORPHAN_MS } from '../liveness/connection-processes.ts'
import { hasRoom, isPublishedBy } from '../state/claims.ts'
import { type AskedLeave, connectionOf } from '../state/connection-publisher.ts'
import type { HealthClock } from '../liveness/health-clock.ts'
import type { InstanceAddress, Publisher } from '../state/instance.ts'
import {
  type AddressOwner,
  type ConnectionRegistration,
  type PublishingClient,
  type ReplacementPart,
  replacementParts,
} from './connection-registration.ts'
import { connectionEnded, ConnectionRegistrations } from './connection-registrations.ts'
import type { ConnectionPublication, EndedConnection, Replaced, Withdrawal } from './publications.ts'
import { replaceInstances, type Replacement } from '../commands/replace-instances.ts'
import type { ServiceKey } from '../state/service.ts'

/** When something that failed is tried again, ms. */
const RETRY_MS = 1_000
const BUCKET_MS = 250
/** The most registrations that are repaired at a time. */
const MOST_REPAIRS = 500
/** After a pause this long, others may have removed the instances of dead connections of this process, ms. */
const LONG_PAUSE_MS = 10_000
/** By then a dead connection has been noticed, ms. */
const NOTICED_MS = 30_000
/** The least time without an answer after which a library takes its server for lost, ms. */
const GIVEN_UP_MS = 3_000
/** So soon after its server answers again, a library that had given it up is elsewhere, and has closed the old connection, ms. */
const FLED_MS = 10_000
/** How often a connection that replaces its own registrations in a service is logged, ms. */
const REPLACEMENT_LOG_MS = 3_600_000

/** Dependencies of {@link ConnectionInstances}. */
export interface ConnectionInstanceParts {
  readonly state: State
  readonly processes: Pick<ConnectionProcesses, 'takeLost' | 'isGone'>
  readonly engine: Pick<Engine, 'execute' | 'mostAtOnce'>
  /** Names this process (`MemberFacts.process`). */
  readonly process: string
  readonly clock: Pick<HealthClock, 'at' | 'pausedSince' | 'stoodStillUntil'>
  readonly monotonicMs: () => number
  readonly loop: Pick<Loop, 'soon'>
  /** Whether changes of this server can reach the others, and operators let it write. */
  readonly canWrite: () => boolean
  /** Why they cannot, where more is known. */
  readonly whyNot?: (() => string | undefined) | undefined
  readonly report: (error: unknown, text: string) => void
  /** Learns once an hour that a single registration of a connection has replaced another one. */
  readonly replaced?: (replaced: Replaced) => void
  /** Carries out a request of a client, whose instances leave. */
  readonly whileLeaving?: <T>(leave: AskedLeave, run: () => T) => T
  /** For tests: instead of `ORPHAN_MS`. */
  readonly keptMs?: number
}

type Carried = Replacement | Promise<Replacement>

const NO_MEMBER = 'The server is no member of the cluster now: try again in a moment.'
const NO_CHANGE: Replacement = { registered: 0, known: 0, removed: 0 }

/**
 * The connections of this process and what they register: the instances that this server wants in the state. The state
 * says what is there. Every event has a method; the table in {@link ConnectionRegistration} says what it does, and this
 * class carries it out. Removals that failed are repeated. An instance that others have removed is registered again
 * while its connection lives. An address that another publisher has taken over is claimed: that is a part of its record.
 * Beyond the bound of claims, the address is looked at again after a while. All times are health time.
 */
export class ConnectionInstances {
  readonly #parts: ConnectionInstanceParts
  readonly #registrations: ConnectionRegistrations
  /** When a registration is to be repaired. */
  readonly #due = new DueBook<ConnectionRegistration>(BUCKET_MS)
  /** How many are being repaired. */
  #repairing = 0
  /** Work for connections that have ended, and repairs. */
  readonly #paced: PacedWork
  /** Since when this server can write without an interruption that is known. */
  #writesSinceMs = -Infinity
  /** Since the start: instances of live connections that others had removed, and that this server has registered again. */
  readonly counts = { restored: 0 }

  constructor(parts: ConnectionInstanceParts) {
    this.#parts = parts
    this.#registrations = new ConnectionRegistrations(parts.process)
    this.#paced = new PacedWork(parts.loop, parts.engine.mostAtOnce)
  }

  get registrations(): Pick<ConnectionRegistrations, 'of' | 'left' | 'size' | 'counts'> {
    return this.#registrations
  }

  get process(): string {
    return this.#parts.process
  }

  /** The client of a connection that publishes. */
  clientOf(connectionId: string): PublishingClient | undefined {
    return this.#registrations.clientOf(connectionId)
  }

  /** How many registrations wait for a repair, or for an address that somebody else has. */
  get waiting(): number {
    return this.#due.size + this.#repairing + this.#paced.waiting
  }

  /**
   * Makes these all the instances of a connection in a service. If it is refused, the earlier instances stay. Refusal
   * `stopping` if the connection has ended, and `store-unavailable` while this server cannot write. A server that was
   * frozen reads old requests when it wakes, whose clients have registered elsewhere.
   */
  publish(publication: ConnectionPublication): Carried {
    const { serviceKey, connectionId, instances, client, username } = publication
    const registration = this.#registrations.open(serviceKey, connectionId)
    registration.client = client
    registration.username = username
    return this.#inTurn(registration, () => {
      if (registration.hasEnded) throw connectionEnded()
      if (!this.#parts.canWrite()) throw this.#noMember()
      this.#noteReplacement(registration, publication)
      const undo = registration.publish(instances)
      const leaving = registration.removing
      return this.#carryOut(registration, { instances, leaving, takesOver: true }, undo)
    })
  }

  #noMember(): Refusal {
    return new Refusal('store-unavailable', this.#parts.whyNot?.() ?? NO_MEMBER)
  }

  /** Removes instances of a connection in a service, now or later: the named ones, or all. */
  withdraw({ serviceKey, connectionId, named }: Withdrawal): Carried {
    const registration = this.#registrations.find(serviceKey, connectionId)
    if (registration === undefined) return NO_CHANGE
    return this.#inTurn(registration, () => {
      if (named === undefined) registration.withdraw()
      else if (!registration.withdrawNamed(named)) return NO_CHANGE
      return this.#remove(registration)
    })
  }

  /** Clients that register two instances one by one do not know that the second registration replaces the first. */
  #noteReplacement(
    registration: ConnectionRegistration,
    { instances, isSingle }: ConnectionPublication,
  ): void {
    const [by] = instances
    const replaced = isSingle === true && by !== undefined ? registration.otherThan(by.address) : undefined
    const nowMs = this.#parts.monotonicMs()
    if (replaced === undefined || nowMs - registration.replacementLoggedMs < REPLACEMENT_LOG_MS) return
    registration.replacementLoggedMs = nowMs
    this.#parts.replaced?.({ registration, replaced, by: by!.address })
  }

  /**
   * The user of a registration may not have it any more: its instances go, and are remembered while its connection
   * lives. Instances of an ended connection are not kept longer. Resolves when they are gone. Failed removals are
   * repeated. Never rejects.
   */
  withhold(registration: ConnectionRegistration): void | Promise<void> {
    return this.#quietly(registration, () => {
      registration.withhold()
      return this.#remove(registration)
    })
  }

  /** The user of a registration may have it again: its instances come back. Resolves when they are there. Never rejects. */
  allow(registration: ConnectionRegistration): void | Promise<void> {
    return this.#quietly(registration, () => {
      if (!registration.isWithheld) return NO_CHANGE
      registration.allow()
      return this.#carryOut(registration, registration.repairs)
    })
  }

  /**
   * A connection has ended: its instances go at once. If its client is expected back, they stay like the instances of a
   * lost server, and at least until `returnsByMs`. A new registration takes them over. If this server cannot write now,
   * they stay too, and go some time after it can again.
   */
  release(connectionId: string, ended: EndedConnection): void {
    const { canWrite, monotonicMs, keptMs = ORPHAN_MS } = this.#parts
    const { comesBack, returnsByMs = -Infinity } = ended
    const goesAtOnce = canWrite() && !comesBack && !this.#mayHaveFled(ended)
    const keptUntilMs = this.#nowMs() + Math.max(keptMs, returnsByMs - monotonicMs())
    for (const registration of this.#registrations.close(connectionId)) {
      registration.end(goesAtOnce ? -Infinity : keptUntilMs)
      const remove = (): void => void this.#quietly(registration, () => this.#remove(registration))
      if (goesAtOnce) this.#paced.run(registration.addresses, remove)
      else this.#due.add(registration, keptUntilMs)
    }
  }

  /** Repairs what has failed or was changed by others. Call it about four times a second. */
  tick(): void {
    const nowMs = this.#nowMs()
    for (const lost of this.#parts.processes.takeLost()) this.#notice(lost, nowMs)
    if (!this.#parts.canWrite()) {
      this.#writesSinceMs = nowMs
      return
    }
    const most = MOST_REPAIRS - this.#repairing - this.#paced.waiting
    for (const registration of this.#due.due(nowMs, Math.max(most, 0))) {
      const atMs = this.#dueMs(registration)
      if (atMs > nowMs) this.#due.add(registration, atMs)
      else this.#paced.run(registration.addresses, () => this.#care(registration))
    }
  }

  /**
   * Whether a client may have closed its connection because this process has just stood still. It is at another server
   * then, and registers there a little later.
   */
  #mayHaveFled({ beganMs = Infinity }: EndedConnection): boolean {
    const { clock, monotonicMs } = this.#parts
    const wokeMs = clock.stoodStillUntil(GIVEN_UP_MS, monotonicMs())
    return beganMs < wokeMs && monotonicMs() - wokeMs < FLED_MS
  }

  #inTurn(registration: ConnectionRegistration, run: () => Carried): Carried {
    return registration.inTurn(run, () => this.#look(registration))
  }

  #remove(registration: ConnectionRegistration): Carried {
    return this.#carryOut(registration, { instances: [], leaving: registration.removing, takesOver: true })
  }

  /** Forgets a registration that is over, or plans its repair. */
  #look(registration: ConnectionRegistration): void {
    if (registration.isOver) this.#registrations.forget(registration)
    else if (registration.needsRepair || registration.isWaiting)
      this.#due.add(registration, this.#nowMs() + RETRY_MS)
  }

  #carryOut(registration: ConnectionRegistration, whole: ReplacementPart, undo = (): void => {}): Carried {
    const failed = (error: unknown): never => {
      undo()
      if (isOfStore(error)) this.#writesSinceMs = this.#nowMs()
      throw error
    }
    const parts = replacementParts(whole, this.#parts.engine.mostAtOnce)
    try {
      const [only] = parts
      const outcome = this.#noted(registration, whole, () =>
        parts.length === 1 ? this.#execute(registration, only!) : this.#inParts(registration, parts),
      )
      return outcome instanceof Promise ? outcome.catch(failed) : outcome
    } catch (error) {
      return failed(error)
    }
  }

  #noted(registration: ConnectionRegistration, whole: ReplacementPart, run: () => Carried): Carried {
    const { whileLeaving } = this.#parts
    const { serviceKey, publisher, hasEnded, isWithheld } = registration
    const isAsked = whole.takesOver && whole.leaving.length > 0 && !hasEnded && !isWithheld
    if (whileLeaving === undefined || !isAsked) return run()
    const cause = whole.instances.length === 0 ? 'deregistration' : 'registration'
    return whileLeaving({ serviceKey, publisher, cause }, run)
  }

  /** Other requests are answered between the parts. Nobody waits for the parts of an ended connection. */
  async #inParts(
    registration: ConnectionRegistration,
    parts: readonly ReplacementPart[],
  ): Promise<Replacement> {
    const { loop, engine } = this.#parts
    const isAwaited = !registration.hasEnded && !registration.isWithheld
    const turn = (next: () => void): void =>
      isAwaited ? loop.soon(next) : this.#paced.run(engine.mostAtOnce, next)
    let sum = NO_CHANGE
    for (const part of parts) {
      const { registered, known, removed } = await this.#execute(registration, part)
      sum = {
        registered: sum.registered + registered,
        known: sum.known + known,
        removed: sum.removed + removed,
      }
      await new Promise<void>(turn)
    }
    return sum
  }

  #execute(registration: ConnectionRegistration, part: ReplacementPart): Carried {
    const { serviceKey, publisher, hasEnded, isWithheld } = registration
    const done = (outcome: Replacement, isAtOnce = false): Replacement => {
      registration.removed(part.leaving)
      // Others may have been faster, or have taken an address over in the same revision.
      if (!isAtOnce || !part.takesOver)
        for (const { address } of part.instances)
          registration.found(address, this.#ownerAt(registration, address))
      return outcome
    }
    const outcome = this.#parts.engine.execute(
      // Dead or withheld instances leave like orphans if this server crashes before the removal is written.
      replaceInstances({
        serviceKey,
        publisher,
        ...part,
        isGone: (other) => this.#isGone(serviceKey, other),
        isGoodbye: !hasEnded && !isWithheld,
      }),
    )
    return outcome instanceof Promise ? outcome.then((late) => done(late)) : done(outcome, true)
  }

  /**
   * When a registration may be repaired. An instance that could not be removed at once when its connection
   * ended is kept for a while.
   */
  #dueMs({ hasEnded, keptUntilMs }: ConnectionRegistration): number {
    if (!hasEnded) return -Infinity
    return Math.max(keptUntilMs, this.#writesSinceMs + (this.#parts.keptMs ?? ORPHAN_MS))
  }

  #care(registration: ConnectionRegistration): void {
    registration.lookAgain((address) => this.#ownerAt(registration, address))
    if (!registration.needsRepair) return this.#look(registration)
    this.#repairing++
    // Its connection may end before its turn, and its instances may have to stay then.
    const repair = (): Carried =>
      this.#dueMs(registration) > this.#nowMs()
        ? NO_CHANGE
        : this.#carryOut(registration, registration.repairs)
    void this.#quietly(registration, repair, ({ registered }) => {
      this.counts.restored += registered
      this.#repairing--
    })
  }

  /** Whether a connection is known to have left: it does not wait for an address that another one takes over. */
  #isGone(serviceKey: ServiceKey, publisher: Publisher): boolean {
    const other = connectionOf(publisher)
    if (other === undefined) return false
    const { process, processes } = this.#parts
    if (other.process !== process) return processes.isGone(other.process)
    return this.#registrations.find(serviceKey, other.connectionId) === undefined
  }

  #ownerAt({ serviceKey, publisher }: ConnectionRegistration, address: InstanceAddress): AddressOwner {
    const record = this.#parts.state.instance(serviceKey, address)?.record
    if (record === undefined) return 'nobody'
    if (isPublishedBy(record, publisher)) return 'this connection'
    return hasRoom(record) ? 'another publisher' : 'too many publishers'
  }

  /** Nobody waits for the outcome: a failure is tried again. */
  #quietly(
    registration: ConnectionRegistration,
    run: () => Carried,
    done: (outcome: Replacement) => void = () => {},
  ): void | Promise<void> {
    const failed = (error: unknown): void => {
      done(NO_CHANGE)
      // An unreachable store is no news.
      if (!(error instanceof Refusal))
        this.#parts.report(error, 'instances of a connection could not be changed')
    }
    try {
      const outcome = this.#inTurn(registration, run)
      if (outcome instanceof Promise) return outcome.then(done, failed)
      done(outcome)
    } catch (error) {
      failed(error)
    }
  }

  /** A connection has lost an instance: to another publisher, or by a removal that it may not have asked for. */
  #notice(lost: LostPlace, nowMs: number): void {
    const { connectionId, serviceKey, address } = lost
    const registration = this.#registrations.find(serviceKey, connectionId)
    if (registration === undefined) return
    if (registration.afterChange(() => this.#notice(lost, this.#nowMs()))) return
    const owner = this.#ownerAt(registration, address)
    registration.found(address, owner)
    if (owner === 'too many publishers') this.#look(registration)
    if (owner === 'this connection' || owner === 'too many publishers' || !registration.needsRepair) return
    // After a long pause, the connection may be dead without anybody having noticed.
    const isDoubtful = this.#parts.clock.pausedSince(nowMs - NOTICED_MS) >= LONG_PAUSE_MS
    this.#due.add(registration, nowMs + (isDoubtful ? NOTICED_MS : 0))
  }

  #nowMs(): number {
    const { clock, monotonicMs } = this.#parts
    return clock.at(monotonicMs())
  }
}
