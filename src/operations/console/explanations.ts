import {
  type ExplainedInstance,
  type ExplainedSelection,
  explainSelection,
} from '../../core/naming/state/explain-selection.ts'
import { isBeating, type Liveness } from '../../core/naming/liveness/liveness.ts'
import { isShorterThanInterval } from '../../core/naming/state/beat-timing.ts'
import type { Now } from '../../core/decisions/stamps.ts'
import { existingService } from '../../core/naming/commands/service-commands.ts'
import { addressText } from '../../core/naming/state/instance.ts'
import type { ServiceKey } from '../../core/naming/state/service.ts'
import type { State } from '../../core/engine/state.ts'
import type { Timeline } from '../../core/naming/timeline/timeline.ts'
import type { TimelineEntry } from '../../core/naming/timeline/timeline-entry.ts'
import type { Guard } from '../guard.ts'
import { type Override, overridesOf } from './overrides.ts'
import { cutPage, type PageRequest, pageOf } from '../page.ts'
import { READ_SERVICE, serviceResource } from '../naming/services.ts'

/** The list to explain: the query and the address of a client. */
export interface ExplainRequest {
  readonly key: ServiceKey
  /** Names of clusters; empty: all. */
  readonly clusters: readonly string[]
  readonly healthyOnly: boolean
  /** The labels of this address are compared by a selector. */
  readonly consumerIp: string
  readonly page: PageRequest
}

/** A list, with a page of all instances and why each is in it or not. */
export interface ExplainedList extends Omit<ExplainedSelection, 'instances'> {
  readonly page: PageRequest
  readonly totalCount: number
  readonly listedCount: number
  readonly protectThreshold: number
  readonly entries: readonly ExplainedEntry[]
}

/** An instance, why it is in the list or not, and how it has come. */
export interface ExplainedEntry extends ExplainedInstance {
  /** All that operators have set. */
  readonly overrides: readonly Override[]
  /** How it was registered last; undefined: the server that was asked does not know. */
  readonly came: TimelineEntry | undefined
}

interface ExplanationParts {
  readonly guard: Guard
  readonly state: State
  readonly timeline: Pick<Timeline, 'of'>
  readonly liveness: Pick<Liveness, 'announced'>
  readonly clock: () => Now
}

/** Makes the operations that explain lists. */
export function explanationOperations({ guard, state, timeline, liveness, clock }: ExplanationParts) {
  return {
    /** Says why a client gets each instance of a service, or does not. Refusal `service-not-found`. */
    explain: guard.operation({
      permission: READ_SERVICE,
      resources: ({ key }: ExplainRequest) => [serviceResource(key)],
      run: (request): ExplainedList => {
        const { protectThreshold } = existingService(state, request.key)
        const page = cutPage(request.page)
        const { instances, ...about } = explained(state, request)
        const listedCount = instances.filter(({ isListed }) => isListed).length
        const announcedMs = liveness.announced.at(clock().healthMs)
        const came = new Map<string, TimelineEntry>()
        for (const entry of timeline.of(request.key).entries.toReversed())
          if (entry.kind === 'registered') came.set(addressText(entry.address), entry)
        const entries = pageOf(instances, page).map((one) => ({
          ...withShortWait(one, announcedMs),
          overrides: overridesOf(state, one.instance),
          came: came.get(addressText(one.instance.record.address)),
        }))
        return { ...about, page, totalCount: instances.length, listedCount, protectThreshold, entries }
      },
    }),
  }
}

function withShortWait(explained: ExplainedInstance, announcedMs: number): ExplainedInstance {
  const { instance, reasons } = explained
  const isShort = isBeating(instance) && isShorterThanInterval(instance.timing, announcedMs)
  return isShort ? { ...explained, reasons: [...reasons, 'short-wait'] } : explained
}

function explained(
  state: State,
  { key, clusters, healthyOnly, consumerIp }: ExplainRequest,
): ExplainedSelection {
  const entry = state.services.get(key)
  if (entry === undefined) return { protecting: false, selector: 'none', instances: [] }
  const labelsOf = (ip: string) => state.labelsAt(ip, key.namespaceId)
  return explainSelection(entry, { clusters, healthyOnly, consumer: { ip: consumerIp, labelsOf } })
}
