import {
  addressFor,
  type Download,
  forUser,
  type Params,
  request,
  requestCollected,
  requestFile,
} from './request.ts'
import type {
  ConfigItem as AnsweredConfig,
  ConfigVersion as Version,
  ConfigVersionText,
  DeletedConfigPage,
  GrayOnlyConfig,
  ListedConfigPage,
  TransferOutcome as ImportOutcome,
  Watchers,
} from './answers.ts'

export type {
  ConfigVersion as Version,
  ContentHit as Hit,
  TransferOutcome as ImportOutcome,
  Watcher,
  Watchers,
} from './answers.ts'

/** The names of an item. `tenant` is the id of its namespace; the id of the default namespace is empty. */
export interface ConfigName {
  readonly tenant: string
  readonly group: string
  readonly dataId: string
}

/** The fields that people set besides the content. */
export interface ConfigNotes {
  readonly type: string
  readonly desc: string
  readonly appName: string
  readonly configTags: string
}

/** An answer about an item, with empty notes where nobody has set them. */
type Noted<T> = Omit<T, 'desc' | 'configTags'> & Pick<ConfigNotes, 'desc' | 'configTags'>

/** The same from a list, which names the namespace by its id. */
type OfTenant<T> = Noted<Omit<T, 'namespaceId'>> & Pick<ConfigName, 'tenant'>

/** The current version of an item. */
export type ConfigItem = Noted<AnsweredConfig>

/** An item as the list has it: without its content. */
export type ListedConfig = OfTenant<ListedConfigPage['pageItems'][number]>

/** A deleted item that can be restored. */
export type DeletedConfig = OfTenant<DeletedConfigPage['pageItems'][number]>

/** A page of a list. */
export interface ListPage<T> {
  readonly totalCount: number
  readonly pageNumber: number
  readonly pagesAvailable: number
  readonly pageItems: readonly T[]
}

/** The types that an item may have. */
export const CONFIG_TYPES = ['yaml', 'properties', 'json', 'xml', 'toml', 'html', 'text'] as const

const CONFIGS = 'svc/v1/cs/configs'
const CONSOLE = 'svc/v1/console'

/** The field that sorts a list. */
export type ConfigOrder = 'modifyTime' | 'dataId' | 'group' | 'size'

/** The search of a list of items. */
export interface ConfigFilter {
  /** `*`: all that the user may read. */
  readonly namespaceId: string
  /** A part of the name, the group, the description, the application or a tag. */
  readonly text: string
  /** The whole group; absent: of every one. */
  readonly group?: string
  readonly content: string
  readonly key: string
  /** A tag, or several with commas: an item must have all tags; absent: any. */
  readonly tag?: string
  readonly type: string
  readonly sort: ConfigOrder
  readonly order: 'asc' | 'desc'
  /** Where a search continues that was too much for one request; absent: it begins. */
  readonly after?: string
  readonly pageNo: number
  readonly pageSize: number
}

/** A page of the items that match. */
export type ConfigPage = Omit<ListedConfigPage, 'pageItems' | 'grayOnly'> & {
  readonly pageItems: readonly ListedConfig[]
  readonly grayOnly: readonly (GrayOnlyConfig & Pick<ConfigName, 'tenant'>)[]
}

/** A page of the items that match. */
export async function findConfigs(filter: ConfigFilter): Promise<ConfigPage> {
  const { namespaceId, text, content, key, tag, type, ...rest } = filter
  const query = {
    ...rest,
    namespaceId: namespaceId || undefined,
    text: text || undefined,
    content: content || undefined,
    key: key || undefined,
    config_tags: tag || undefined,
    types: type || undefined,
  }
  const page = await request<ListedConfigPage>('GET', `${CONSOLE}/configs`, { query })
  const grayOnly = page.grayOnly.map((one) => ({ ...one, tenant: tenantOf(one.namespaceId) }))
  return { ...page, grayOnly, pageItems: page.pageItems.map(itemOf) }
}

function tenantOf(namespaceId: string): string {
  return namespaceId === 'public' ? '' : namespaceId
}

function itemOf<T extends { desc: string | null; configTags: string | null; namespaceId: string }>(
  listed: T,
): OfTenant<T> {
  return { ...withoutNulls(listed), tenant: tenantOf(listed.namespaceId) }
}

/** An item; rejects with the problem `config-not-found`. */
export async function readConfig(name: ConfigName): Promise<ConfigItem> {
  const query = { ...named(name), show: 'all' }
  return withoutNulls(await request<AnsweredConfig>('GET', CONFIGS, { query }))
}

/** Notes that nobody has set are null in answers. */
function withoutNulls<T extends { desc: string | null; configTags: string | null }>(item: T): Noted<T> {
  return { ...item, desc: item.desc ?? '', configTags: item.configTags ?? '' }
}

/** A version to publish. `casMd5` is the md5 of the version that the author has seen; empty: there is none. */
export interface Publication extends ConfigName, ConfigNotes {
  readonly content: string
  readonly casMd5: string
  /** Why; it is kept with the version. */
  readonly comment: string
  /** The key of a content that a client has encrypted; it belongs to that very content. */
  readonly encryptedDataKey: string
}

/** Publishes a version; rejects with the problem `config-changed` where the author has not seen the current one. */
export function publishConfig(publication: Publication): Promise<boolean> {
  const { content, type, desc, appName, configTags, casMd5, comment, encryptedDataKey } = publication
  const notes = { type, desc, appName, config_tags: configTags }
  const others = { comment: comment || undefined, encryptedDataKey: encryptedDataKey || undefined }
  return request('POST', CONFIGS, {
    form: { ...named(publication), content, ...notes, casMd5, ...others },
  })
}

/** Deletes an item of which the author has seen this version. */
export const deleteConfig = (name: ConfigName, casMd5: string): Promise<boolean> =>
  request('DELETE', CONFIGS, { query: { ...named(name), casMd5 } })

/** Where a browser gets all items of a namespace as a zip file. */
export const exportAddress = (tenant: string): string =>
  addressFor(CONFIGS, { exportV2: true, ...forUser(), tenant: tenant || undefined })

/** These items as a zip file. Their ids are in a form: thousands are too long for an address. */
export const exportItems = (tenant: string, ids: readonly string[]): Promise<Download> =>
  requestFile('POST', `${CONFIGS}/export`, { form: { tenant: tenant || undefined, ids: ids.join(',') } })

/** The effect of an import on an item that exists. */
export type ImportPolicy = 'ABORT' | 'SKIP' | 'OVERWRITE'

/**
 * Publishes the items of a zip file, or says what would happen: without `seenState`, the state that the trial saw. Rejects with the
 * problem `config-changed` where it is another one by now.
 */
export function importConfigs(
  tenant: string,
  file: File,
  { policy, seenState }: { readonly policy: ImportPolicy; readonly seenState: string | undefined },
): Promise<ImportOutcome> {
  const upload = new FormData()
  upload.set('file', file)
  const query = {
    import: true,
    namespace: tenant || undefined,
    policy,
    dryRun: seenState === undefined || undefined,
    seenState,
  }
  return request('POST', CONFIGS, { query, upload })
}

/** The clients that watch an item, and what each has; with a rule, how many clients it is for. */
export const readWatchers = (name: ConfigName, rule: Params = {}): Promise<Watchers> =>
  request('GET', `${CONSOLE}/config/watchers`, { query: { ...named(name), ...rule } })

/** The items that the clients of an address listen to, in every namespace that the user may read. */
export async function readListenedBy(
  ip: string,
): Promise<{ readonly items: readonly ConfigName[]; readonly missingServers: readonly string[] }> {
  const { lisentersGroupkeyStatus: md5ByName, missingServers } = await requestCollected<{
    readonly lisentersGroupkeyStatus: Readonly<Record<string, string>>
  }>('GET', 'svc/v1/cs/listener', { query: { ip, all: true } })
  const items = Object.keys(md5ByName).map((name) => {
    const [dataId = '', group = '', tenant = ''] = name.split('+')
    return { dataId, group, tenant }
  })
  return { items: items.toSorted((a, b) => (a.dataId < b.dataId ? -1 : 1)), missingServers }
}

/** How many changes a page has. */
export const VERSIONS_PAGE_SIZE = 50

/** Which page of the versions of an item; `withGray`: the changes of its gray versions are among them. */
interface VersionsPage {
  readonly pageNo: number
  readonly pageSize: number
  readonly withGray?: true
}

/** A page of the versions of an item, newest first. */
export const findVersions = (name: ConfigName, page: VersionsPage): Promise<ListPage<Version>> =>
  request('GET', `${CONSOLE}/config/versions`, { query: { ...named(name), ...page } })

/** A version with its text; of a deletion, the deleted text. */
export const readVersion = (name: ConfigName, historyId: string): Promise<ConfigVersionText> =>
  request('GET', `${CONSOLE}/config/version`, { query: { ...named(name), historyId } })

/** Publishes a version once more, with its notes; `casMd5` is the md5 of the current version, empty where there is none. */
export const restoreVersion = (
  name: ConfigName,
  historyId: string,
  sent: { readonly casMd5: string; readonly comment: string },
): Promise<object> =>
  request('POST', `${CONSOLE}/config/restore`, {
    form: { ...named(name), historyId, casMd5: sent.casMd5, comment: sent.comment || undefined },
  })

/** A page of the deleted items of a namespace, last deleted first. */
export async function findDeleted(namespaceId: string, pageNo: number): Promise<ListPage<DeletedConfig>> {
  const query = { namespaceId: namespaceId || undefined, pageNo, pageSize: 50 }
  const page = await request<DeletedConfigPage>('GET', `${CONSOLE}/bin`, { query })
  return { ...page, pageItems: page.pageItems.map(itemOf) }
}

function named({ tenant, group, dataId }: ConfigName): {
  tenant: string | undefined
  group: string
  dataId: string
} {
  return { tenant: tenant || undefined, group, dataId }
}
