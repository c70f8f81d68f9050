import type { Change } from '../../decisions/changes.ts'
import { DueBook } from '../../work/due-book.ts'
import type { Now } from '../../decisions/stamps.ts'
import { type AbsenceLimit, Absences } from './absences.ts'
import { NEVER_MS, type TimedInstance, timedInstance } from './timed-instance.ts'
import { ConnectionProcesses } from './connection-processes.ts'
import { isBare } from './departures.ts'
import { type BeatingAddress, GOODBYE_MS, Goodbyes } from './goodbyes.ts'
import { timingWhen } from '../state/beat-timing.ts'
import { beatingRegistration, publishersOf } from '../state/claims.ts'
import { isMoved } from '../state/connection-publisher.ts'
import type { DepartureView, InstancePlace, Leaving, NextPublishers, Presence } from '../state/presence.ts'
import type { ServiceKey } from '../state/service.ts'
import type { ServiceEntry, Instance } from '../state/service-entry.ts'
import type { BeatTiming } from '../state/instance.ts'
import { AnnouncedIntervals } from './announced-intervals.ts'
import { beatingPart, changesOfSilence, effectOfSilence, patienceMs, patienceWith } from './silence.ts'

const BUCKET_MS = 250
/** The most addresses without an instance at which a registration that silence removes is remembered. */
export const MOST_REMEMBERED = 20_000
/** How long an address that silence has removed is known: a deregistration of it counts, ms. */
const SILENCE_KNOWN_MS = 60_000
/** After this time an instance is checked again that is silent but must not be judged now. */
export const UNJUDGED_MS = 1_000

/**
 * Everything about instances that is a matter of time and is never written. It knows when each last beat, when it must
 * be checked, and which requests are known to be its beats. It also knows since when services and remembered metadata
 * are without instances. It learns of instances from the changes that State applies, and finds the changes that silence
 * causes.
 *
 * A beat only moves the time of the last beat. An instance is checked at the earliest moment at which its silence could
 * matter, and is put back if it has beaten since. So the cost of a sweep depends on due instances, not on all. Only
 * instances whose publisher sends beats are in the queue. The clock is the caller's: all times are health time
 * (`HealthClock`).
 *
 * A single server judges by `sweep`. If there are several, each has received some of the beats: each takes the due
 * instances with `takeDue`, and one server judges (`SilenceVote`).
 */
export class Liveness implements Presence {
  readonly #due = new DueBook<TimedInstance>(BUCKET_MS)
  readonly #byFingerprint = new Map<string, TimedInstance>()
  readonly #absences = new Absences()
  /** The processes whose connections have registered instances, which live as long as they do. */
  readonly processes: ConnectionProcesses
  /** Addresses that clients which beat have deregistered a moment ago. */
  readonly goodbyes = new Goodbyes(GOODBYE_MS)
  /** Addresses that silence has removed within the last minute. */
  readonly #silences = new Goodbyes(SILENCE_KNOWN_MS)
  /** How often clients that have no interval of their own were asked to beat. */
  readonly announced = new AnnouncedIntervals()
  /**
   * Since the start: beats that renewed an instance or found none, and the changes that silence has made. `forgotten`: removed
   * registrations beyond the limit of remembered addresses.
   */
  readonly counts = { renewed: 0, unknown: 0, unhealthy: 0, removed: 0, forgotten: 0 }
  #misjudged: Instance[] = []
  #view: DepartureView | undefined

  /** `process`: `MemberFacts.process` of this server. `orphansKeptMs`: for tests, see {@link ConnectionProcesses}. */
  constructor(process?: string, orphansKeptMs?: number) {
    this.processes = new ConnectionProcesses(process, orphansKeptMs)
  }

  /** The state that calls it: an instance that silence removes is decided on it. */
  follow(view: DepartureView): void {
    this.#view = view
  }

  /** Whether the last sweep has left instances that are due. */
  get hasMore(): boolean {
    return this.#due.hasMore
  }

  /** How many instances are in the queue. */
  get watched(): number {
    return this.#due.size
  }

  /** When an instance last beat here; undefined: its publisher does not send beats. */
  lastBeatMs(instance: Instance): number | undefined {
    return isBeating(instance) ? timedInstance(instance).lastBeatMs : undefined
  }

  /** Notes a beat. Every beat counts here, also of an instance that another server judges. */
  noteBeat(instance: Instance, nowMs: number): void {
    note(instance, 'this server', nowMs)
  }

  /** Notes that another server has received a beat of an instance at this time. */
  noteBeatElsewhere(instance: Instance, atMs: number): void {
    const { receivedBy, lastBeatMs } = timedInstance(instance)
    if (receivedBy === 'nobody' || atMs > lastBeatMs) note(instance, 'another', atMs)
  }

  /** Notes that this server has learned of an instance without a beat: it has loaded it. */
  learn(instance: Instance, nowMs: number): void {
    note(instance, 'nobody', nowMs)
  }

  /** How much silence counts for an instance now. */
  timingOf({ timing }: Instance, nowMs: number): BeatTiming {
    return timingWhen(timing, this.announced.at(nowMs))
  }

  /** The last beat of an instance that this server knows of. Without one, `atMs` is when it learned of the instance. */
  lastBeatOf(instance: Instance): { readonly atMs: number; readonly isBeat: boolean } {
    const { lastBeatMs, receivedBy } = timedInstance(instance)
    return { atMs: lastBeatMs, isBeat: receivedBy !== 'nobody' }
  }

  /** The instance that a known beat renews; undefined: the beat must be read. */
  find(fingerprint: string): Instance | undefined {
    return this.#byFingerprint.get(fingerprint)
  }

  /**
   * Notes that the request with this fingerprint renews this instance and no other. A client repeats it word for word
   * for as long as its instance lives, so only the first needs to be read. Each instance has one fingerprint: the last.
   */
  knowBeat(fingerprint: string, instance: Instance): void {
    const timed = timedInstance(instance)
    this.#forgetBeat(timed)
    timed.beatFingerprint = fingerprint
    this.#byFingerprint.set(fingerprint, timed)
  }

  instanceSaved(instance: Instance, isBeat: boolean, nowMs: number): void {
    const timed = timedInstance(instance)
    if (isBeat && instance.record.publisher.kind !== 'connection') this.#forgetLeaving(instance)
    // A registration by another publisher is no beat of a claim that waits for the address.
    if (isBeat && (isBeating(timed) || timed.lastBeatMs === NEVER_MS)) note(instance, 'another', nowMs)
    if (beatingPart(timed) === undefined) this.#due.remove(timed)
    else this.#due.add(timed, timed.lastBeatMs + patienceWith(timed, this.announced.at(nowMs)))
    this.processes.saved(instance, isBeat, nowMs)
  }

  publishersChange(instance: Instance, { record, isSilence }: NextPublishers, nowMs: number): void {
    this.processes.left(instance, record)
    const isOfHttp = publishersOf(record).some(({ kind }) => kind !== 'connection')
    if (isOfHttp || beatingPart(instance) === undefined) return
    if (isSilence === true) this.#noteSilence(instance, nowMs)
    else this.#noteGoodbye(instance, nowMs)
  }

  instanceLeft(instance: Instance, { reason, atMs }: Leaving): void {
    this.processes.left(instance)
    const isOfBeats = beatingPart(instance) !== undefined || isMoved(instance.record.publisher)
    if (reason === 'deregistered' && isOfBeats) this.#noteGoodbye(instance, atMs)
    if (reason === 'expired' && isBeating(instance)) this.#noteSilence(instance, atMs)
    const timed = timedInstance(instance)
    this.#due.remove(timed)
    this.#forgetBeat(timed)
    const { receivedBy, lastBeatMs } = timed
    // The judge has applied every registration before it. A server that catches up applies old ones: these are no beats now.
    const isMisjudged =
      reason === 'expired' &&
      isBeating(instance) &&
      receivedBy === 'this server' &&
      atMs - lastBeatMs < this.timingOf(timed, atMs).removeMs
    if (isMisjudged) this.#misjudged.push(instance)
  }

  leftAfterSilence(place: InstancePlace, nowMs: number): void {
    const known = this.#silences.known({ ...place, ...place.address }, nowMs)
    this.goodbyes.lift(place)
    this.goodbyes.note(place, known?.intervalMs, nowMs)
  }

  /** The place from which silence has removed an address within the last minute, if a goodbye to it can be kept. */
  silencedPlace(source: BeatingAddress, nowMs: number): InstancePlace | undefined {
    return this.hasRoomToRemember ? this.#silences.known(source, nowMs) : undefined
  }

  /**
   * The instances that were removed for their silence although this server received their beats in time. Each
   * is returned once.
   */
  takeMisjudged(): readonly Instance[] {
    const misjudged = this.#misjudged
    if (misjudged.length > 0) this.#misjudged = []
    return misjudged
  }

  /** Takes at most `most` of the instances that are due out of the queue. Put each back with `lookAgain`. */
  takeDue(nowMs: number, most: number): readonly Instance[] {
    return this.#due.due(nowMs, most)
  }

  /** Puts an instance into the queue again, unless it has left meanwhile or its publisher sends no beats any more. */
  lookAgain(instance: Instance, atMs: number): void {
    if (this.isWatched(instance)) this.#due.add(timedInstance(instance), atMs)
  }

  /** Whether an instance is still registered, and its publisher sends beats, or the publisher of a claim that waits for it. */
  isWatched(instance: Instance): boolean {
    const isThere = instance.entry.get(instance.record.address) === instance
    return isThere && beatingPart(instance) !== undefined
  }

  serviceChanged(entry: ServiceEntry, isAbandoned: boolean, nowMs: number): void {
    this.#absences.noteService(entry, isAbandoned, nowMs)
  }

  serviceLeft(entry: ServiceEntry): void {
    this.#absences.forgetService(entry)
  }

  metadataChanged(place: InstancePlace, isAbsent: boolean, nowMs: number): void {
    this.#absences.noteMetadata(place, isAbsent, nowMs)
  }

  abandonedSinceMs(entry: ServiceEntry): number | undefined {
    return this.#absences.serviceSinceMs(entry)
  }

  absentSinceMs(place: InstancePlace): number | undefined {
    return this.#absences.metadataSinceMs(place)
  }

  /** The services that have been abandoned for long. */
  abandonedServices(limit: AbsenceLimit): ServiceKey[] {
    return this.#absences.services(limit)
  }

  /** Whether one more registration that silence removes can be remembered. */
  get hasRoomToRemember(): boolean {
    return this.#absences.places < MOST_REMEMBERED
  }

  /** Whether the registration over HTTP of an address is remembered if silence ends it. It is counted if there is no room. */
  remembersRemoved({ record }: Instance): boolean {
    if (this.hasRoomToRemember) return true
    const ended = beatingRegistration(record)
    if (ended !== undefined && !isBare(ended)) this.counts.forgotten++
    return false
  }

  /** The clusters in which something is remembered of an ip and port without an instance. */
  absentClusters(serviceKey: ServiceKey, ip: string, port: number): readonly string[] {
    return this.#absences.clustersOf(serviceKey, ip, port)
  }

  /** The places whose metadata has been without an instance for long. */
  absentMetadata(limit: AbsenceLimit): InstancePlace[] {
    return this.#absences.metadata(limit)
  }

  /**
   * The changes that silence has caused by `now.healthMs`: instances become unhealthy or leave. Nothing changes in
   * services that `judged` refuses: their instances are checked again, and have a fresh timeout when they are judged
   * once more. At most `most` instances are checked; `hasMore` says whether others are due.
   */
  sweep(now: Now, judged: (key: ServiceKey) => boolean, most?: number): Change[] {
    const changes: Change[] = []
    for (const instance of this.#due.due(now.healthMs, most)) {
      if (!judged(instance.entry.service.key)) {
        instance.lastBeatMs = now.healthMs
        this.#due.add(instance, now.healthMs + UNJUDGED_MS)
        continue
      }
      const found = this.#judge(instance, now)
      const [change] = found
      if (change !== undefined) {
        changes.push(...found)
        this.counts[change.kind === 'instance-health-changed' ? 'unhealthy' : 'removed']++
      }
      // Another change has its effect on the queue when it is applied.
      if (change === undefined || change.kind === 'instance-health-changed')
        this.#due.add(instance, this.#nextDueMs(instance, change === undefined, now.healthMs))
    }
    return changes
  }

  #judge(instance: TimedInstance, now: Now): readonly Change[] {
    const effect = effectOfSilence(
      instance,
      now.healthMs - instance.lastBeatMs,
      this.announced.at(now.healthMs),
    )
    if (effect === undefined || this.#view === undefined) return []
    const remembers = effect === 'removed' && this.remembersRemoved(instance)
    return changesOfSilence(this.#view, instance, { effect, remembers, stamp: now.stamp })
  }

  #nextDueMs(instance: TimedInstance, isAsBefore: boolean, nowMs: number): number {
    const { timing, healthy } = beatingPart(instance) ?? instance
    const counting = timingWhen(timing, this.announced.at(nowMs))
    return this.announced.checkedMs(instance.lastBeatMs + patienceMs(counting, healthy && isAsBefore), nowMs)
  }

  #noteGoodbye(instance: Instance, nowMs: number): void {
    this.goodbyes.note(placeOf(instance), intervalOf(instance), nowMs)
  }

  #noteSilence(instance: Instance, nowMs: number): void {
    this.#silences.note(placeOf(instance), intervalOf(instance), nowMs)
  }

  /** A registration ends what was said before. */
  #forgetLeaving(instance: Instance): void {
    if (this.goodbyes.size + this.#silences.size === 0) return
    this.goodbyes.lift(placeOf(instance))
    this.#silences.lift(placeOf(instance))
  }

  #forgetBeat(timed: TimedInstance): void {
    if (timed.beatFingerprint === undefined) return
    this.#byFingerprint.delete(timed.beatFingerprint)
    timed.beatFingerprint = undefined
  }
}

function placeOf({ entry, record }: Instance): InstancePlace {
  return { serviceKey: entry.service.key, address: record.address }
}

/** How often the client that beats at an address does so. */
function intervalOf(instance: Instance): number | undefined {
  return (beatingPart(instance) ?? instance).timing.intervalMs
}

function note(instance: Instance, receivedBy: TimedInstance['receivedBy'], atMs: number): void {
  const timed = timedInstance(instance)
  timed.lastBeatMs = atMs
  timed.receivedBy = receivedBy
}

/** Whether the publisher of an instance sends beats. Only such an instance expires by silence or is healed by a beat. */
export function isBeating({ record }: Instance): boolean {
  return record.publisher.kind === 'beats'
}
