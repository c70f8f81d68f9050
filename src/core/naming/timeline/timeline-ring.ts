import type { ServiceKey } from '../state/service.ts'
import { type Actor, TIMELINE_CAUSES, TIMELINE_KINDS, type TimelineEntry } from './timeline-entry.ts'
import type { InstanceAddress } from '../state/instance.ts'

/** The fields that few entries have. */
interface Details {
  readonly actor: Actor | undefined
  readonly text: string
}

/**
 * The last entries of all services together, in columns that grow up to a fixed length. An entry costs no object, but
 * for the few with details: it names a service and an address that the state has anyway.
 */
export class TimelineRing {
  readonly #most: number
  readonly #stamps: Float64Array
  readonly #times: Float64Array
  readonly #kinds: Uint8Array
  readonly #causes: Uint8Array
  readonly #services: ServiceKey[] = []
  readonly #addresses: (InstanceAddress | undefined)[] = []
  readonly #details: (Details | undefined)[] = []
  #next = 0
  #fromMs: number

  /** `fromMs`: since when entries come, epoch ms. */
  constructor(most: number, fromMs: number) {
    this.#most = most
    this.#stamps = new Float64Array(most)
    this.#times = new Float64Array(most)
    this.#kinds = new Uint8Array(most)
    this.#causes = new Uint8Array(most)
    this.#fromMs = fromMs
  }

  /** Nothing is missing from then on, epoch ms. */
  get fromMs(): number {
    return this.#fromMs
  }

  add(key: ServiceKey, { stamp, atMs, kind, cause, address, actor, text }: TimelineEntry): void {
    const at = this.#next
    this.#next = (at + 1) % this.#most
    if (this.#services[at] !== undefined) this.#fromMs = Math.max(this.#fromMs, this.#times[at]!)
    this.#stamps[at] = stamp
    this.#times[at] = atMs
    this.#kinds[at] = TIMELINE_KINDS.indexOf(kind)
    this.#causes[at] = TIMELINE_CAUSES.indexOf(cause)
    this.#services[at] = key
    this.#addresses[at] = address
    this.#details[at] = actor === undefined && text === '' ? undefined : { actor, text }
  }

  /** The entries of a service, newest first. */
  of({ namespaceId, groupedName }: ServiceKey): TimelineEntry[] {
    const found: TimelineEntry[] = []
    for (let ago = 1; ago <= this.#most; ago++) {
      const at = (this.#next - ago + this.#most) % this.#most
      const service = this.#services[at]
      if (service === undefined) break
      if (service.groupedName === groupedName && service.namespaceId === namespaceId)
        found.push(this.#entry(at))
    }
    return found
  }

  #entry(at: number): TimelineEntry {
    return {
      stamp: this.#stamps[at]!,
      atMs: this.#times[at]!,
      kind: TIMELINE_KINDS[this.#kinds[at]!]!,
      cause: TIMELINE_CAUSES[this.#causes[at]!]!,
      address: this.#addresses[at]!,
      actor: this.#details[at]?.actor,
      text: this.#details[at]?.text ?? '',
    }
  }
}
