import type { ConfigItem, ConfigKey } from '../../core/config/state/config-item.ts'
import type { GrayItem } from '../../core/config/state/gray-version.ts'
import type { KeptReads, ReadsOf } from '../../core/engine/ports.ts'
import type { State } from '../../core/engine/state.ts'
import type { Asker } from '../../core/work/fair-queue.ts'
import { askerOf } from '../authorisation.ts'
import type { ClientViews } from '../client-views.ts'
import { compareOperation, type CompareParts } from './compare-configs.ts'
import { aboutFilter, type ConfigFilter } from './config-filter.ts'
import { configResource, READ_CONFIG } from '../config/configs.ts'
import { type ContentPortion, contentPortion, inTurns } from './content-portion.ts'
import { hitsIn, isInContent } from './content-search.ts'
import { type CoveredHit, coveredHits } from './covered-hits.ts'
import { FirstEntries } from './first-entries.ts'
import { grayOnlyPage } from './gray-only.ts'
import type { Resource } from '../guard.ts'
import type { Turns } from '../../core/work/long-walks.ts'
import { cutPage, type PageRequest, pageOf } from '../page.ts'
import { configsToLookAt } from './readable.ts'

interface InventoryParts extends CompareParts {
  readonly state: Pick<State, 'config' | 'configs' | 'gray'>
  readonly store: ReadsOf<'authors'>
  readonly views: Pick<ClientViews, 'clientCounts'>
}

/** The orders of a list. */
export const CONFIG_ORDERS = ['modifyTime', 'dataId', 'group', 'namespaceId', 'size'] as const

/** One of {@link CONFIG_ORDERS}. */
export type ConfigOrder = (typeof CONFIG_ORDERS)[number]

/** A page of items that are looked for. */
export interface ConfigListRequest extends ConfigFilter {
  /** Undefined: every namespace. */
  readonly namespaceId: string | undefined
  readonly sort: ConfigOrder
  readonly isDescending: boolean
  readonly page: PageRequest
  /** The `next` of an answer that was not complete: the search continues there. Undefined: it begins. */
  readonly after: string | undefined
}

/** An item of the list. */
export interface ListedConfig {
  readonly item: ConfigItem
  /** The user who made this version; null where nobody knows. */
  readonly modifyUser: string | null
  /** How many clients have it, on all servers. */
  readonly watcherCount: number
  readonly hits: readonly CoveredHit[]
}

/** A page of the list. */
export interface ConfigListPage {
  readonly page: PageRequest
  readonly totalCount: number
  /** Whether it became too much for one request: then there may be others. */
  readonly isTruncated: boolean
  /** Where to continue, if the contents were too many for one request. */
  readonly next: string | undefined
  readonly entries: readonly ListedConfig[]
  /** The matching items with gray versions only of this page: they have their own pages and count. */
  readonly grayOnly: readonly GrayItem[]
  readonly grayOnlyCount: number
  /** The servers that have not replied in time: their clients are not counted. */
  readonly missingServers: readonly string[]
}

/** Makes the operations that show configurations to people. */
export function inventoryOperations(parts: InventoryParts) {
  const { guard } = parts
  return {
    ...compareOperation(parts),
    /** A page of the items of one namespace or of all, as far as the caller may read them. */
    list: guard.operation({
      permission: READ_CONFIG,
      resources: ({ namespaceId }: ConfigListRequest): Resource[] => [{ kind: 'some-configs', namespaceId }],
      run: (request, caller) => {
        const asker = askerOf(caller)
        const shows = (resource: Resource): boolean => guard.shows(caller, 'read', resource)
        const isShown = (key: ConfigKey): boolean => shows(configResource(key))
        return listed({ ...parts, asker, shows, reads: parts.store.reads(asker) }, request, isShown)
      },
    }),
  }
}

/** The items of a page, with the lines that were looked for. */
interface ShownItems extends Omit<
  ConfigListPage,
  'entries' | 'grayOnly' | 'grayOnlyCount' | 'missingServers'
> {
  readonly shown: readonly (readonly [ConfigItem, readonly CoveredHit[]])[]
}

/** For one caller. */
interface CallersParts extends InventoryParts {
  /** See `FairQueue`. */
  readonly asker: Asker
  /** Whether the caller may read something. */
  readonly shows: (resource: Resource) => boolean
  readonly reads: Pick<KeptReads, 'authors'>
}

/**
 * A page, with facts about its items from the store and the other servers. It keeps its place among the walks meanwhile: pages
 * that wait for the store take memory.
 */
function listed(
  parts: CallersParts,
  request: ConfigListRequest,
  isShown: (key: ConfigKey) => boolean,
): Promise<ConfigListPage> {
  return parts.walks.run(parts.asker, async (turns) => {
    const page = await new Listing(parts, request, turns).page(({ key }) => isShown(key))
    const filtered = { filter: request, page: page.page, isShown }
    return withFacts(parts, page, await grayOnlyPage(parts.state, filtered, turns))
  })
}

async function withFacts(
  parts: CallersParts,
  { shown, ...about }: ShownItems,
  gray: Awaited<ReturnType<typeof grayOnlyPage>>,
): Promise<ConfigListPage> {
  const isTruncated = about.isTruncated || gray.isTruncated
  const [{ value: counts, missing: missingServers }, users] = await Promise.all([
    parts.views.clientCounts(shown.map(([{ key }]) => key)),
    parts.reads.authors(shown.map(([{ key, historyId }]) => ({ key, historyId }))),
  ])
  const entries = shown.map(([item, hits], at) => {
    return { item, modifyUser: users.get(item.historyId) ?? null, watcherCount: counts[at] ?? 0, hits }
  })
  const { entries: grayOnly, totalCount: grayOnlyCount } = gray
  return { ...about, isTruncated, entries, grayOnly, grayOnlyCount, missingServers }
}

/** The making of one page. */
class Listing {
  readonly #parts: CallersParts
  readonly #request: ConfigListRequest
  readonly #turns: Turns
  #isTruncated = false

  constructor(parts: CallersParts, request: ConfigListRequest, turns: Turns) {
    this.#parts = parts
    this.#request = request
    this.#turns = turns
  }

  async page(isShown: (item: ConfigItem) => boolean): Promise<ShownItems> {
    const page = cutPage(this.#request.page)
    const { items, next } = await this.#searched(isShown)
    const first = new FirstEntries<ConfigItem>(page.pageNo * page.pageSize, comparison(this.#request))
    for (const item of items) {
      if (this.#turns.isDue) await this.#turns.turn()
      first.add(item)
    }
    const shown: [ConfigItem, readonly CoveredHit[]][] = []
    for (const item of pageOf(await first.sorted(this.#turns), page)) {
      const hits = await inTurns(hitsIn(item.content, this.#request), this.#turns)
      shown.push([item, await coveredHits(item, hits ?? [])])
    }
    const isTruncated = this.#isTruncated || next !== undefined
    return { page, totalCount: first.count, isTruncated, next, shown }
  }

  /** The items that are looked for, and where to continue. */
  async #searched(isShown: (item: ConfigItem) => boolean): Promise<ContentPortion> {
    const meant = await this.#meant(isShown)
    const { content, key, after } = this.#request
    if (content === '' && key === '') return { items: meant, next: undefined }
    const portion = await contentPortion(meant, after, this.#turns)
    const found: ConfigItem[] = []
    for (const item of portion.items) {
      if (this.#turns.isDue) await this.#turns.turn()
      if (await inTurns(isInContent(item.content, this.#request), this.#turns)) found.push(item)
    }
    return { items: found, next: portion.next }
  }

  /** The items that may be looked for, by all but their contents. */
  async #meant(isShown: (item: ConfigItem) => boolean): Promise<ConfigItem[]> {
    const isMeant = aboutFilter(this.#request)
    const meant: ConfigItem[] = []
    const { state, shows } = this.#parts
    for (const item of configsToLookAt(state.configs, this.#request.namespaceId, shows)) {
      if (this.#turns.isDue && !(await this.#turns.turn())) {
        this.#isTruncated = true
        break
      }
      if (isMeant(item) && isShown(item)) meant.push(item)
    }
    return meant
  }
}

function comparison({ sort, isDescending }: ConfigListRequest): (a: ConfigItem, b: ConfigItem) => number {
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
