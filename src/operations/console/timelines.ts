import { hasAddress } from '../../core/text/ip-address.ts'
import type { ClientViews } from '../client-views.ts'
import type { Collected } from '../../core/clients/client-views.ts'
import type { OwnTimeline } from '../../core/naming/timeline/timeline.ts'
import type { ServiceKey } from '../../core/naming/state/service.ts'
import { afterwards } from '../afterwards.ts'
import type { Guard } from '../guard.ts'
import { READ_SERVICE, serviceResource } from '../naming/services.ts'

/** The timeline of a service; `address`: a part of the `ip:port` of its instances, empty for all. */
export interface TimelineQuery {
  readonly key: ServiceKey
  readonly address: string
}

/** A timeline, newest first. `isTruncated`: older entries are left out. */
export interface ShownTimeline extends OwnTimeline {
  readonly isTruncated: boolean
}

const MOST_SHOWN = 500

/** Makes the operations on timelines. */
export function timelineOperations({
  guard,
  views,
}: {
  readonly guard: Guard
  readonly views: Pick<ClientViews, 'timeline'>
}) {
  return {
    /** The timeline of a service on all servers. */
    show: guard.operation({
      permission: READ_SERVICE,
      resources: ({ key }: TimelineQuery) => [serviceResource(key)],
      run: ({ key, address: part }) =>
        afterwards(views.timeline(key), ({ value, missing }): Collected<ShownTimeline> => {
          const found = value.entries.filter(({ address }) => hasAddress(address, part))
          const entries = found.slice(0, MOST_SHOWN)
          return { value: { ...value, entries, isTruncated: entries.length < found.length }, missing }
        }),
    }),
  }
}
