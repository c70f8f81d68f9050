import type { Change, InstanceHealthChanged, InstanceRemoved } from '../changes.ts'
import { DueBook } from '../due-book.ts'
import type { Now } from '../ports.ts'
import { Absences } from './absences.ts'
import { type HeardInstance, heardInstance } from './heard-instance.ts'
import type { Instance, InstanceAddress } from './instance.ts'
import type { InstancePlace, Presence } from './presence.ts'
import type { ServiceKey } from './service.ts'
import type { ServiceEntry } from './service-entry.ts'

const BUCKET_MS = 250
/** When an instance is looked at again that is silent but must not be judged now. */
const UNJUDGED_MS = 1_000

/** What liveness needs from outside. */
export interface LivenessOptions {
  /** Whether this server judges the silence of an instance, or another server does. Asked when the instance changes. */
  readonly judges: (serviceKey: ServiceKey, address: InstanceAddress) => boolean
}

/** The only server of an installation judges every instance. */
export const JUDGES_ALL: LivenessOptions = { judges: () => true }

/**
 * Everything about instances that is a matter of time and is never written: when each was last heard, when it is due to be
 * looked at, and which requests are known to be its beats; since when services and remembered metadata are without
 * instances. It learns of instances from the changes that State applies, and finds the changes that silence brings about.
 *
 * A beat only moves the time of the last beat. An instance is looked at when the earliest moment comes at which its
 * silence could matter, and is put back if it has beaten since. So a sweep costs what is due, not what there is. Only
 * instances whose publisher sends beats, and which this server judges, are in the queue. The clock is the caller's: all
 * times are health time (`HealthClock`).
 */
export class Liveness implements Presence {
  readonly #judges: LivenessOptions['judges']
  readonly #due = new DueBook<HeardInstance>(BUCKET_MS)
  readonly #byFingerprint = new Map<string, HeardInstance>()
  readonly #absences = new Absences()
  /** Since the start: beats that renewed an instance or found none, and the changes that silence has made. */
  readonly counts = { renewed: 0, unknown: 0, unhealthy: 0, removed: 0 }

  constructor({ judges }: LivenessOptions) {
    this.#judges = judges
  }

  /** Whether the last sweep has left instances that are due. */
  get hasMore(): boolean {
    return this.#due.hasMore
  }

  /** How many instances are in the queue. */
  get watched(): number {
    return this.#due.size
  }

  /** When an instance was last heard; undefined: its publisher does not send beats. */
  lastHeardMs(instance: Instance): number | undefined {
    return isBeating(instance) ? heardInstance(instance).heardMs : undefined
  }

  /** Notes a beat. Every instance that beats is heard, also one that another server judges. */
  hear(instance: Instance, nowMs: number): void {
    heardInstance(instance).heardMs = nowMs
  }

  /** The instance that a known beat renews; undefined: the beat must be read. */
  find(fingerprint: string): Instance | undefined {
    return this.#byFingerprint.get(fingerprint)
  }

  /**
   * Notes that the request with this fingerprint renews this instance and no other. A client repeats it word for word for
   * as long as its instance lives, so only the first needs to be read. Each instance has one fingerprint: the last.
   */
  knowBeat(fingerprint: string, instance: Instance): void {
    const heard = heardInstance(instance)
    this.#forgetBeat(heard)
    heard.beatFingerprint = fingerprint
    this.#byFingerprint.set(fingerprint, heard)
  }

  instanceSaved(instance: Instance, isBeat: boolean, nowMs: number): void {
    const heard = heardInstance(instance)
    if (isBeat) heard.heardMs = nowMs
    if (isBeating(heard) && this.#judges(heard.entry.service.key, heard.record.address))
      this.#due.add(heard, nextDueMs(heard, heard.healthy))
    else this.#due.remove(heard)
  }

  instanceLeft(instance: Instance): void {
    const heard = heardInstance(instance)
    this.#due.remove(heard)
    this.#forgetBeat(heard)
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

  /** At most `most` of the services that are abandoned since `beforeMs` or longer. */
  abandonedServices(beforeMs: number, most: number): ServiceKey[] {
    return this.#absences.services(beforeMs, most).map(({ service }) => service.key)
  }

  /** At most `most` of the places whose metadata is without an instance since `beforeMs` or longer. */
  absentMetadata(beforeMs: number, most: number): InstancePlace[] {
    return this.#absences.metadata(beforeMs, most)
  }

  /**
   * The changes that silence has brought about by `now.healthMs`: instances become unhealthy or leave. Nothing changes in
   * services that `judged` refuses: their instances are looked at again, and have a fresh timeout when they are judged
   * once more. At most `most` instances are looked at; `hasMore` says whether others are due.
   */
  sweep(now: Now, judged: (key: ServiceKey) => boolean, most?: number): Change[] {
    const changes: Change[] = []
    for (const instance of this.#due.due(now.healthMs, most)) {
      if (!judged(instance.entry.service.key)) {
        instance.heardMs = now.healthMs
        this.#due.add(instance, now.healthMs + UNJUDGED_MS)
        continue
      }
      const change = judge(instance, now)
      if (change !== undefined) {
        changes.push(change)
        this.counts[change.kind === 'instance-removed' ? 'removed' : 'unhealthy']++
      }
      if (change?.kind !== 'instance-removed') {
        this.#due.add(instance, nextDueMs(instance, instance.healthy && change === undefined))
      }
    }
    return changes
  }

  #forgetBeat(heard: HeardInstance): void {
    if (heard.beatFingerprint === undefined) return
    this.#byFingerprint.delete(heard.beatFingerprint)
    heard.beatFingerprint = undefined
  }
}

/** Whether the publisher of an instance sends beats. Only such an instance expires by silence or is healed by a beat. */
export function isBeating({ record }: Instance): boolean {
  return record.publisher.kind === 'beats'
}

function nextDueMs({ timing, heardMs }: HeardInstance, healthy: boolean): number {
  const { unhealthyMs, removeMs } = timing
  return heardMs + (healthy ? Math.min(unhealthyMs, removeMs) : removeMs)
}

function judge(instance: HeardInstance, now: Now): InstanceRemoved | InstanceHealthChanged | undefined {
  const { record, timing, entry } = instance
  const about = {
    serviceKey: entry.service.key,
    address: record.address,
    serial: record.serial,
    stamp: now.stamp,
  }
  const silenceMs = now.healthMs - instance.heardMs
  if (silenceMs >= timing.removeMs) return { kind: 'instance-removed', ...about, reason: 'expired' }
  if (!instance.healthy || silenceMs < timing.unhealthyMs) return undefined
  return { kind: 'instance-health-changed', ...about, healthy: false }
}
