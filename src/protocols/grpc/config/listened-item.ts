import { type ConfigKey, configKey } from '../../../core/config/state/config-item.ts'
import type { WatchedItem } from '../../../core/config/state/config-view.ts'
import { toNamespaceId } from '../../../core/namespaces/namespace.ts'
import { Refusal } from '../../../core/refusal.ts'
import { trimmedName } from '../../parameters/parameter-reader.ts'

const LONGEST_DATA_ID = 256
const LONGEST_GROUP = 128
const LONGEST_TENANT = 128
/** The length of a hexadecimal MD5, and some to spare: it is kept as long as the client listens. */
const LONGEST_MD5 = 64

const SPELLED = '~'
const LIST = 'configListenContexts'
const ALLOWED = 'objects with the texts dataId, group, tenant and md5'

/** How an item is named in answers and pushes. */
export interface ConfigNameFields {
  readonly dataId: string
  readonly group: string
  readonly tenant?: string
}

interface ListenedNames {
  readonly dataId: string
  readonly group: string
  readonly tenant: string | null | undefined
}

/** The items of a list of contexts; of equal keys the last counts. Refusal `invalid-parameter` for bad or too many ones. */
export function listenedItems(contexts: unknown, most: number): WatchedItem[] {
  if (contexts === undefined || contexts === null) return []
  if (!Array.isArray(contexts)) throw malformed(`a list of ${ALLOWED}`)
  if (contexts.length > most) throw malformed(`at most ${most} ${ALLOWED}`)
  return [...new Map(contexts.map(listenedItem).map((item) => [item.key.text, item])).values()]
}

function listenedItem(context: unknown): WatchedItem {
  if (typeof context !== 'object' || context === null) throw malformed(ALLOWED)
  const { dataId, group, tenant, md5 } = context as Readonly<Record<string, unknown>>
  if (!isText(dataId, LONGEST_DATA_ID) || !isText(group, LONGEST_GROUP)) throw malformed(ALLOWED)
  // As in all requests about an item.
  const [id, groupName] = [trimmedName(dataId), trimmedName(group)]
  if (id === '' || groupName === '') throw malformed(ALLOWED)
  if (!isNoneOr(tenant, LONGEST_TENANT) || !isNoneOr(md5, LONGEST_MD5)) throw malformed(ALLOWED)
  const key = configKey(toNamespaceId(tenant ?? undefined), groupName, id)
  const isAsSpelled = id === dataId && groupName === group
  return { key, md5: md5 ?? '', echo: isAsSpelled ? echoOf(tenant) : spelled({ dataId, group, tenant }) }
}

/** The names of an item as the client that listens to it has spelled them: it finds its listener by them. */
export function namesOf({ key: { dataId, group }, echo }: WatchedItem): ConfigNameFields {
  if (echo.startsWith(SPELLED)) return JSON.parse(echo.slice(SPELLED.length)) as ConfigNameFields
  return echo === '' ? { dataId, group } : { dataId, group, tenant: echo.slice(1) }
}

/** Names with blanks around them, behind a mark. Nearly all names have none. */
function spelled({ dataId, group, tenant }: ListenedNames): string {
  return SPELLED + JSON.stringify(tenant === null ? { dataId, group } : { dataId, group, tenant })
}

/** The tenant as the client spells it, with a mark before it: a missing and an empty tenant differ. */
function echoOf(tenant: string | null | undefined): string {
  return tenant === undefined || tenant === null ? '' : `=${tenant}`
}

/** The keys of items. */
export function keysOf(items: readonly WatchedItem[]): ConfigKey[] {
  return items.map(({ key }) => key)
}

function isText(value: unknown, longest: number): value is string {
  return typeof value === 'string' && value.length <= longest
}

function isNoneOr(value: unknown, longest: number): value is string | null | undefined {
  return value === undefined || value === null || isText(value, longest)
}

function malformed(allowed: string): Refusal {
  return new Refusal('invalid-parameter', `${LIST} must be ${allowed}.`, { parameter: LIST, allowed })
}
