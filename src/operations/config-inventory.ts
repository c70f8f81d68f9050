import type { OwnViews } from '../core/cluster/client-views.ts'
import type { ConfigItem } from '../core/config/config-item.ts'
import type { KeptRecords } from '../core/ports.ts'
import { compareOperation, type CompareParts } from './compare-configs.ts'
import { aboutFilter, type ConfigFilter, type Hit, hitsIn, isInContent } from './config-filter.ts'
import { configResource, READ_CONFIG } from './configs.ts'
import { FirstEntries } from './first-entries.ts'
import type { Resource } from './guard.ts'
import { cutPage, type PageRequest, pageOf } from './page.ts'
import { TimeSlices } from './time-slices.ts'

/** What the list of configurations for people works on. */
export interface InventoryParts extends CompareParts {
  readonly store: Pick<KeptRecords, 'history'>
  /** The clients of this server: a list does not ask the others. */
  readonly polls: Pick<OwnViews, 'watchersOf'>
}

/** By what a list is sorted. */
export const CONFIG_ORDERS = ['modifyTime', 'dataId', 'group', 'namespaceId', 'size'] as const

/** One of {@link CONFIG_ORDERS}. */
export type ConfigOrder = (typeof CONFIG_ORDERS)[number]

/** A page of items that are looked for. */
export interface InventoryRequest extends ConfigFilter {
  /** Undefined: every one. */
  readonly namespaceId: string | undefined
  readonly sort: ConfigOrder
  readonly isDescending: boolean
  readonly page: PageRequest
}

/** An item of the list. */
export interface ListedConfig {
  readonly item: ConfigItem
  /** Who made this version; null where nobody knows. */
  readonly modifyUser: string | null
  readonly watcherCount: number
  readonly hits: readonly Hit[]
}

/** A page of the list. */
export interface Inventory {
  readonly page: PageRequest
  readonly totalCount: number
  /** Whether it took too long: then there may be others. */
  readonly isTruncated: boolean
  readonly entries: readonly ListedConfig[]
}

/** The operations that show configurations to people. */
export type InventoryOperations = ReturnType<typeof inventoryOperations>

/** Makes the operations that show configurations to people. */
export function inventoryOperations(parts: InventoryParts) {
  const { guard } = parts
  return {
    ...compareOperation(parts),
    /** A page of the items of one namespace or of all, without those that the caller may not read. */
    list: guard.operation({
      permission: READ_CONFIG,
      resources: ({ namespaceId }: InventoryRequest): Resource[] => [{ kind: 'some-configs', namespaceId }],
      run: (request, caller) =>
        findAll(parts, request, (item) => guard.shows(caller, 'read', configResource(item.key))),
    }),
  }
}

async function findAll(
  parts: InventoryParts,
  request: InventoryRequest,
  isShown: (item: ConfigItem) => boolean,
): Promise<Inventory> {
  const { state, loop } = parts
  const page = cutPage(request.page)
  const isMeant = aboutFilter(request)
  const found = new FirstEntries<ConfigItem>(page.pageNo * page.pageSize, comparison(request))
  const slices = new TimeSlices(loop)
  let isTruncated = false
  for (const item of candidates(state, request.namespaceId)) {
    if (slices.isDue && !(await slices.turn())) {
      isTruncated = true
      break
    }
    if (isMeant(item) && isShown(item) && isInContent(item.content, request)) found.add(item)
  }
  const items = pageOf(await found.sorted(slices), page)
  const shown: [ConfigItem, readonly Hit[]][] = []
  for (const item of items) {
    if (slices.isDue) await slices.turn()
    shown.push([item, hitsIn(item.content, request) ?? []])
  }
  const entries = await Promise.all(shown.map(([item, hits]) => listed(parts, item, hits)))
  return { page, totalCount: found.count, isTruncated, entries }
}

/** A copy: the items may change between two turns. */
function candidates({ configs }: InventoryParts['state'], namespaceId: string | undefined): ConfigItem[] {
  return Array.from(namespaceId === undefined ? configs.all() : configs.inNamespace(namespaceId))
}

function comparison({ sort, isDescending }: InventoryRequest): (a: ConfigItem, b: ConfigItem) => number {
  const sign = isDescending ? -1 : 1
  const valueOf = SORTED_BY[sort]
  return (a, b) => {
    const [left, right] = [valueOf(a), valueOf(b)]
    if (left !== right) return left < right ? -sign : sign
    return a.key.text < b.key.text ? -1 : 1
  }
}

const SORTED_BY: Readonly<Record<ConfigOrder, (item: ConfigItem) => string | number>> = {
  modifyTime: ({ modifiedMs }) => modifiedMs,
  dataId: ({ key }) => key.dataId,
  group: ({ key }) => key.group,
  namespaceId: ({ key }) => key.namespaceId,
  size: ({ content }) => content.length,
}

async function listed(
  { store, polls }: InventoryParts,
  item: ConfigItem,
  hits: readonly Hit[],
): Promise<ListedConfig> {
  const { entries } = await store.history(item.key, { pageNo: 1, pageSize: 1 })
  const [newest] = entries
  const modifyUser = newest?.id === item.historyId ? newest.srcUser : null
  return { item, modifyUser, watcherCount: polls.watchersOf(item.key).size, hits }
}
