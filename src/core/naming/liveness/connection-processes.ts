import type { Change } from '../../decisions/changes.ts'
import { isPublishedBy, publishersOf } from '../state/claims.ts'
import { connectionOf, importerOf } from '../state/connection-publisher.ts'
import type { Instance } from '../state/service-entry.ts'
import type { InstanceRecord, Publisher } from '../state/instance.ts'
import type { DepartureView, InstancePlace } from '../state/presence.ts'
import { type Departing, departure } from './departures.ts'

/**
 * How long instances of connections are kept after the loss of their server is noticed, in ms. The Python client is the
 * slowest: after a long outage it connects within 5 to 7 s, and then registers within 30 s. 36 s were measured.
 */
export const ORPHAN_MS = 40_000
/**
 * How long imported instances are kept while the process that has imported them is alive, in ms. In this time the old
 * server is stopped, and this one started on its ports. After that start they are orphans as others are.
 */
export const MOVED_MS = 5 * 60_000
/** The time between two passes over all orphans: a pass looks again at the orphans that were left. */
const PASS_MS = 1_000

/** A place at which a connection of this process had an instance. */
export interface LostPlace extends InstancePlace {
  readonly connectionId: string
}

/** Which processes are alive. */
export interface LiveView {
  /** Whether a process is this one, or belongs to a live member. */
  readonly isAlive: (process: string) => boolean
  /** Whether this server knows who is alive, and clients could register. */
  readonly isCertain: boolean
}

interface ConnectionProcess {
  readonly name: string
  /** The instances that its connections have registered, also where they wait for the address. */
  readonly held: Set<Instance>
  /** When an instance was last registered, or loaded. */
  registeredMs: number
  /** Since when the process is known to be gone; undefined: it is alive. */
  goneSinceMs: number | undefined
  /** Whether its instances were imported, and the process that did so is alive. */
  isImporting: boolean
}

/**
 * The server processes whose connections have instances in the state. No connection outlives its process, so all instances of
 * a lost process are orphans. They are kept for a while, so that their clients can register elsewhere. A client
 * that registers an address takes it over: it is no orphan any longer. A claim that waits for an address counts as an instance. There is no clock here: all times are health time.
 *
 * | event: method                               | process alive                  | process gone                         |
 * | ------------------------------------------- | ------------------------------ | ------------------------------------ |
 * | a connection registers: `saved`             | the instance is one of its     | the same, and its time begins again  |
 * | an instance or a claim leaves: `left`       | it is not; `takeLost` if ours  | it is no orphan any longer           |
 * | its last instance leaves: `left`            | forgotten                      | forgotten                            |
 * | it is found alive: `look`                   | nothing                        | alive                                |
 * | it is not found alive: `look`               | gone, and its time begins      | nothing                              |
 * | the same, but that is not certain: `look`   | gone, and its time begins      | its time begins again                |
 * | time passes: `takeOrphans`                  | nothing                        | after 40 s its instances must go     |
 *
 * Imported instances belong to a process that is gone. While the process that imported them lives, they are kept longer,
 * counted from the last import. When that process is gone too, their time begins again.
 */
export class ConnectionProcesses {
  readonly #self: string | undefined
  readonly #keptMs: number
  readonly #byName = new Map<string, ConnectionProcess>()
  /** The last lookup: a batch has many instances of one publisher. */
  #last: { readonly publisher: Publisher; readonly process: ConnectionProcess } | undefined
  #lost: LostPlace[] = []
  #refuses: (process: string) => boolean = () => false
  /** The rest of the pass that has begun. */
  #pass: Iterator<Instance> | undefined
  #nextPassMs = 0
  /** Since the start: orphans that this server has removed. Other servers count theirs. */
  readonly counts = { removed: 0 }

  /** `self`: the process of this server. `keptMs`: for tests, instead of `ORPHAN_MS`. */
  constructor(self?: string, keptMs = ORPHAN_MS) {
    this.#self = self
    this.#keptMs = keptMs
  }

  /** How many instances the connections of a process have. */
  instancesOf(process: string): number {
    return this.#byName.get(process)?.held.size ?? 0
  }

  /** How many instances are left over now. */
  get orphans(): number {
    let count = 0
    for (const { goneSinceMs, held } of this.#byName.values())
      if (goneSinceMs !== undefined) count += held.size
    return count
  }

  /** Whether a pass over the orphans has begun and is not finished. */
  get hasMore(): boolean {
    return this.#pass !== undefined
  }

  /** An instance is there, or has changed. */
  saved(instance: Instance, isRegistration: boolean, nowMs: number): void {
    const { publisher, claims } = instance.record
    const process = this.#hold(instance, publisher, nowMs)
    if (isRegistration && process !== undefined) process.registeredMs = nowMs
    if (claims !== undefined) for (const claim of claims) this.#hold(instance, claim.publisher, nowMs)
  }

  #hold(instance: Instance, publisher: Publisher, nowMs: number): ConnectionProcess | undefined {
    const process = this.#processOf(publisher, nowMs)
    process?.held.add(instance)
    return process
  }

  #processOf(publisher: Publisher, nowMs: number): ConnectionProcess | undefined {
    if (this.#last?.publisher === publisher) return this.#last.process
    const owner = connectionOf(publisher)
    if (owner === undefined) return undefined
    const process = this.#made(owner.process, nowMs)
    this.#last = { publisher, process }
    return process
  }

  /** An instance leaves, or its publishers become the ones of `next`: its record is still the old one. */
  left(instance: Instance, next?: InstanceRecord): void {
    const { publisher, claims } = instance.record
    this.#leave(instance, publisher, next)
    if (claims !== undefined) for (const claim of claims) this.#leave(instance, claim.publisher, next)
  }

  #leave(instance: Instance, publisher: Publisher, next: InstanceRecord | undefined): void {
    const owner = connectionOf(publisher)
    if (owner === undefined || (next !== undefined && isPublishedBy(next, publisher))) return
    const { process: name, connectionId } = owner
    const { record, entry } = instance
    const process = this.#byName.get(name)
    const isStillOf = (other: Publisher): boolean => connectionOf(other)?.process === name
    const stays = next !== undefined && publishersOf(next).some(isStillOf)
    if (!stays && process?.held.delete(instance) === true && process.held.size === 0) this.#forget(name)
    if (name === this.#self)
      this.#lost.push({ serviceKey: entry.service.key, address: record.address, connectionId })
  }

  #forget(name: string): void {
    this.#byName.delete(name)
    this.#last = undefined
  }

  /** Where connections of this process have lost an instance, by whatever change. Each is returned once. */
  takeLost(): readonly LostPlace[] {
    const lost = this.#lost
    if (lost.length > 0) this.#lost = []
    return lost
  }

  /**
   * Looks which processes are gone. While it is not certain who is alive, or when this server may have missed who came
   * back, the time of all begins again.
   */
  look(nowMs: number, { isAlive, isCertain }: LiveView): void {
    for (const process of this.#byName.values()) {
      const importer = importerOf(process.name)
      const wasImporting = process.isImporting
      process.isImporting = importer !== undefined && isAlive(importer)
      if (isAlive(process.name)) process.goneSinceMs = undefined
      else if (!isCertain || (wasImporting && !process.isImporting)) process.goneSinceMs = nowMs
      else process.goneSinceMs ??= nowMs
    }
  }

  /** Learns which processes refuse connections. They have ended, but their instances count as left over once the store says so. */
  follow(refuses: (process: string) => boolean): void {
    this.#refuses = refuses
  }

  /** Whether a process is known to be gone. */
  isGone(process: string): boolean {
    return this.#byName.get(process)?.goneSinceMs !== undefined || this.#refuses(process)
  }

  /** How long an instance is still kept; undefined: it is no orphan. */
  leftMs({ record }: Instance, nowMs: number): number | undefined {
    return this.#leftMsOf(record.publisher, nowMs)
  }

  /** Whether the process of a publisher has been gone for so long that its instances must go. */
  isDue(publisher: Publisher, nowMs: number): boolean {
    return this.#leftMsOf(publisher, nowMs) === 0
  }

  #leftMsOf(publisher: Publisher, nowMs: number): number | undefined {
    const owner = connectionOf(publisher)
    const process = owner && this.#byName.get(owner.process)
    const dueMs = process && this.#dueMs(process)
    return dueMs === undefined ? undefined : Math.max(0, dueMs - nowMs)
  }

  /** The instances with an orphan, of themselves or among their claims, for which `judged` is true, of the next `most` due ones. `hasMore`: whether the pass continues. */
  takeOrphans(nowMs: number, most: number, judged: (instance: Instance) => boolean): readonly Instance[] {
    if (this.#pass === undefined && nowMs < this.#nextPassMs) return []
    this.#pass ??= this.#due(nowMs)
    const found: Instance[] = []
    for (let looked = 0; looked < most; looked++) {
      const { value: instance, done } = this.#pass.next() as IteratorResult<Instance, undefined>
      if (done === true) {
        this.#pass = undefined
        return found
      }
      this.#nextPassMs = nowMs + PASS_MS
      // Since the pass began, its server may have come back.
      const isOrphan = publishersOf(instance.record).some((publisher) => this.isDue(publisher, nowMs))
      if (isOrphan && judged(instance)) found.push(instance)
    }
    return found
  }

  *#due(nowMs: number): Generator<Instance, undefined> {
    for (const process of this.#byName.values())
      if ((this.#dueMs(process) ?? Infinity) <= nowMs) yield* process.held
    return undefined
  }

  /** A registration that comes after all shows that the process was not gone: its time begins again. */
  #dueMs({ goneSinceMs, registeredMs, isImporting }: ConnectionProcess): number | undefined {
    if (goneSinceMs === undefined) return undefined
    return Math.max(goneSinceMs, registeredMs) + (isImporting ? MOVED_MS : this.#keptMs)
  }

  #made(name: string, nowMs: number): ConnectionProcess {
    const known = this.#byName.get(name)
    if (known !== undefined) return known
    const held = new Set<Instance>()
    const made = { name, held, registeredMs: nowMs, goneSinceMs: undefined, isImporting: false }
    this.#byName.set(name, made)
    return made
  }
}

/** The changes by which the orphans at an address leave that `leaves` names. */
export function orphansLeave(
  view: DepartureView,
  { entry, record }: Instance,
  { leaves, stamp }: Pick<Departing, 'leaves' | 'stamp'>,
): readonly Change[] {
  return departure(view, { serviceKey: entry.service.key, record, leaves, reason: 'expired', stamp })
}
