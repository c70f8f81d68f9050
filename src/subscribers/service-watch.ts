import { guarded } from '../core/unexpected.ts'
import type { Change } from '../core/decisions/changes.ts'
import { REMEMBERED_METADATA, serviceOfRememberedId } from '../core/naming/state/remembered-metadata.ts'
import { textBytes } from '../core/memory/bytes-of.ts'
import type { ServiceKey } from '../core/naming/state/service.ts'
import { SlicedWork, type Loop } from '../core/work/sliced-work.ts'

/** How long the changes of a service are gathered into one report by default, ms. */
export const GATHER_MS = 20

/** How many subscribers of one service are served before another service has its turn. */
const TURN = 32

/** The loop, and a timer on it. */
export interface WatchLoop extends Loop {
  readonly after: (ms: number, run: () => void) => void
}

/** Dependencies of the watch. */
export interface ServiceWatchOptions {
  readonly loop: WatchLoop
  /** How long the changes of a service are gathered, ms; 0: each is reported by itself. Absent: {@link GATHER_MS}. */
  readonly gatherMs?: (key: ServiceKey) => number
}

/** A service that somebody watches at one outlet. */
export class WatchedService {
  readonly key: ServiceKey
  /** Counts the changes that were seen here. */
  version = 0
  /** A report of the last change is planned. */
  planned = false
  /** How long the last report took, ms: a service that takes long to report is reported less often. */
  workMs = 0

  constructor(key: ServiceKey) {
    this.key = key
  }
}

/** The objects of a watched service with a place in a table, and a list of those who watch it. */
const SERVICE_BYTES = 420
/** The subscribers who want the service in the same spelling. */
const VARIANT_BYTES = 290

/** The memory that the subscriptions of a service share. Joined texts refer to their parts. */
export function watchedServiceBytes({ namespaceId, groupedName }: ServiceKey): number {
  return SERVICE_BYTES + textBytes(namespaceId) + textBytes(groupedName)
}

/** The memory that the subscriptions in one spelling share. */
export function variantBytes(spelling: string): number {
  return VARIANT_BYTES + textBytes(spelling)
}

/** One report of a service to those who watch it at an outlet. */
export interface ReportRound {
  /** Serves the next subscriber from the present state; false when all are served. */
  next(): boolean
}

/**
 * Where changes of services are reported: UDP datagrams, streams. An outlet knows its subscribers and how they are
 * reached; nothing in it throws or waits.
 */
export interface WatchOutlet {
  /** How long changes are gathered for it at most, ms; absent: as long as the watch says. */
  readonly gatherMs?: number
  /** The service, as long as somebody watches it here. */
  watched(key: ServiceKey): WatchedService | undefined
  /** Begins a report of a service; undefined if there is nothing to report now. */
  round(service: WatchedService): ReportRound | undefined
}

interface RunningRound {
  readonly service: WatchedService
  readonly round: ReportRound
  /** The time spent on it. */
  workMs: number
}

/**
 * Reports to the outlets which services have changed. Changes are gathered for a moment, from the first one on, so that
 * a burst becomes one report, and no change waits longer. Reports take turns, a few milliseconds at a time: a service
 * with thousands of subscribers delays neither requests nor other services.
 */
export class ServiceWatch {
  readonly #options: ServiceWatchOptions
  readonly #outlets: WatchOutlet[] = []
  /** The next turn is the first one's. */
  readonly #rounds: RunningRound[] = []
  readonly #work: SlicedWork

  constructor(options: ServiceWatchOptions) {
    this.#options = options
    this.#work = new SlicedWork(options.loop, () => this.#step())
  }

  /** From now on changes are reported to the outlet too. */
  add(outlet: WatchOutlet): void {
    this.#outlets.push(outlet)
  }

  /** Call it with every change, after State has applied it. */
  onChange(change: Change): void {
    const key = changedService(change)
    if (key === undefined) return
    for (const outlet of this.#outlets) {
      const service = outlet.watched(key)
      if (service === undefined) continue
      service.version++
      if (!service.planned) this.#plan(outlet, service)
    }
  }

  #plan(outlet: WatchOutlet, service: WatchedService): void {
    service.planned = true
    const usualMs = this.#options.gatherMs?.(service.key) ?? GATHER_MS
    const gatherMs = Math.min(usualMs, outlet.gatherMs ?? usualMs)
    const begin = guarded(
      'push',
      () => this.#plan(outlet, service),
      () => this.#begin(outlet, service),
    )
    this.#options.loop.after(Math.max(gatherMs, service.workMs), begin)
  }

  #begin(outlet: WatchOutlet, service: WatchedService): void {
    // From here on a change plans the next report; this one may or may not carry it already.
    service.planned = false
    const round = outlet.round(service)
    if (round === undefined) return
    this.#rounds.push({ service, round, workMs: 0 })
    this.#work.start()
  }

  /** One turn of one service. */
  #step(): boolean {
    const running = this.#rounds.shift()
    if (running === undefined) return false
    const startedMs = this.#options.loop.now()
    const isMore = serve(running.round)
    running.workMs += this.#options.loop.now() - startedMs
    if (isMore) this.#rounds.push(running)
    else running.service.workMs = running.workMs
    return this.#rounds.length > 0
  }
}

/** Whether there may be more subscribers to serve. */
function serve(round: ReportRound): boolean {
  for (let count = 0; count < TURN; count++) if (!round.next()) return false
  return true
}

/** The service whose list a change may have changed. */
function changedService(change: Change): ServiceKey | undefined {
  switch (change.kind) {
    case 'service-saved':
      return change.service.key
    case 'service-deleted':
      return change.key
    case 'instance-saved':
    case 'instance-removed':
    case 'instance-health-changed':
      return change.serviceKey
    case 'record-saved':
    case 'record-removed':
      return change.recordKind === REMEMBERED_METADATA.name ? serviceOfRememberedId(change.id) : undefined
    case 'config-published':
    case 'config-deleted':
    case 'history-imported':
      return undefined
  }
}
