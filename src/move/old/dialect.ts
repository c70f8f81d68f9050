import { CallError } from './fields.ts'
import { TOO_LARGE } from './old-server.ts'
import type {
  PlanConfig,
  PlanGray,
  PlanHistory,
  PlanInstance,
  PlanItem,
  PlanNamespace,
  PlanNote,
  PlanPermission,
  PlanRole,
  PlanService,
  PlanUser,
} from '../../plan/plan.ts'

/** How many entries a page has at most. */
export const PAGE_SIZE = 500

/** The page sizes of lists with contents. Each size divides the size before, so that a list can continue with another. */
export const ITEM_PAGES = [PAGE_SIZE, 50, 5, 1]

/** A page of a list. */
export interface OldPage<T> {
  readonly entries: readonly T[]
  /** The total of the list; null: unknown. It may be wrong. */
  readonly total: number | null
}

/** The total of a list, as the server reports it, and the number of entries found. */
export interface ListSize {
  readonly total: number | null
  readonly found: number
}

/** Which page is asked for. */
export interface PageAsked {
  readonly pageNo: number
  readonly pageSize: number
}

/** An item as the list of items has it. */
export interface ListedItem extends PlanItem {
  /** The md5 in the list, or of the content in it; null without either. */
  readonly md5: string | null
}

/** A record of an item's history in its list, without the content. */
export interface OldRecord {
  readonly oldId: string
  readonly atMs: number
  /** Null: of the formal version; otherwise the name of a gray version. */
  readonly grayName: string | null
}

/** The order of records by their ids: numbers, which may exceed 2^53. */
export function compareIds(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : Number(a > b))
}

/** A service as the list of services has it. */
export interface OldService {
  readonly namespace: string
  readonly group: string
  readonly name: string
  /** Fields of the list that nothing else gives. The metadata is as it was sent. */
  readonly known?: { readonly protectThreshold: number; readonly metadata: unknown }
}

/** The calls of a server. Each kind of server has a dialect. Undefined: the thing is missing there. */
export interface Dialect {
  /** The data that this kind of server does not give over HTTP. */
  readonly missing: readonly PlanNote[]
  /** Whether it has users, roles and permissions. */
  readonly hasAccess: boolean
  /** Without `public`. */
  namespaces(): Promise<readonly PlanNamespace[]>
  /** Some servers send the contents with the list. Rejects with a CallError of status 413 for a too large page. */
  items(namespace: string, page: PageAsked): Promise<OldPage<ListedItem>>
  config(item: PlanItem): Promise<PlanConfig | undefined>
  /** Whether that lacks `use`, `effect` and `schema`. */
  readonly hidesNotes: boolean
  /** The gray versions that HTTP gives. A server may have some of an item without a formal version. */
  grays(item: PlanItem): Promise<readonly PlanGray[]>
  /** Newest first. */
  records(item: PlanItem, pageNo: number): Promise<OldPage<OldRecord>>
  record(item: PlanItem, oldId: string): Promise<PlanHistory | undefined>
  services(namespace: string, pageNo: number): Promise<OldPage<OldService>>
  service(named: OldService): Promise<PlanService | undefined>
  /** The instances of all clusters, disabled ones too. */
  instances(service: PlanService): Promise<readonly PlanInstance[]>
  users(pageNo: number): Promise<OldPage<PlanUser>>
  roles(pageNo: number): Promise<OldPage<PlanRole>>
  permissions(pageNo: number): Promise<OldPage<PlanPermission>>
  switches(): Promise<Readonly<Record<string, unknown>>>
  /** The number of servers in its cluster; undefined: unknown. */
  nodes(): Promise<number | undefined>
}

/**
 * The entries of all pages, until a page has nothing new. Some servers ignore the number of the page, or report a wrong
 * total. If a page is too large, the list continues with the next smaller of the `sizes`, and with a larger one where
 * that begins.
 */
export async function* allPages<T>(
  page: (pageNo: number, asked: PageAsked) => Promise<OldPage<T>>,
  keyOf: (entry: T) => string,
  sizes: readonly number[] = [PAGE_SIZE],
): AsyncGenerator<T, ListSize> {
  const seen = new Set<string>()
  let pageSize = sizes[0]!
  for (let begin = 0; ;) {
    const pageNo = begin / pageSize + 1
    const smaller = sizes.find((size) => size < pageSize)
    const answer = await page(pageNo, { pageNo, pageSize }).catch((error: unknown) => {
      if (isTooLarge(error) && smaller !== undefined) return undefined
      throw error
    })
    if (answer === undefined) {
      pageSize = smaller!
      continue
    }
    const { entries, total } = answer
    const before = seen.size
    for (const entry of entries) {
      const key = keyOf(entry)
      if (seen.has(key)) continue
      seen.add(key)
      yield entry
    }
    const isLast = entries.length < pageSize && total !== null && seen.size >= total
    if (seen.size === before || isLast) return { total, found: seen.size }
    begin += pageSize
    const larger = sizes.findLast((size) => size > pageSize)
    if (larger !== undefined && begin % larger === 0) pageSize = larger
  }
}

function isTooLarge(error: unknown): boolean {
  return error instanceof CallError && error.status === TOO_LARGE
}
