import { addressFor, request } from './request.ts'

/** The names of an item. `tenant` is the id of its namespace; that of the default one is empty. */
export interface ConfigName {
  readonly tenant: string
  readonly group: string
  readonly dataId: string
}

/** What people set besides the content. */
export interface ConfigNotes {
  readonly type: string
  readonly desc: string
  readonly appName: string
  readonly configTags: string
}

/** The current version of an item. */
export interface ConfigItem extends ConfigName, ConfigNotes {
  readonly id: string
  readonly content: string
  readonly md5: string
  /** Epoch ms. */
  readonly createTime: number
  readonly modifyTime: number
  readonly createUser: string | null
  readonly createIp: string | null
  readonly encryptedDataKey: string
}

/** A page of a list. */
export interface Page<T> {
  readonly totalCount: number
  readonly pageNumber: number
  readonly pagesAvailable: number
  readonly pageItems: readonly T[]
}

/** The types that an item may have. */
export const CONFIG_TYPES = ['yaml', 'properties', 'json', 'xml', 'toml', 'html', 'text'] as const

const CONFIGS = 'svc/v1/cs/configs'

/** What a list of items is asked for. Names are parts of names; `*` stands for any characters. */
export interface ConfigFilter {
  readonly tenant: string
  readonly dataId: string
  readonly group: string
  readonly appName: string
  readonly configTags: string
  readonly type: string
  readonly pageNo: number
  readonly pageSize: number
}

/** A page of the items that match. */
export async function findConfigs(filter: ConfigFilter): Promise<Page<ConfigItem>> {
  const { tenant, dataId, group, appName, configTags, type, pageNo, pageSize } = filter
  const page = await request<Page<ConfigItem>>('GET', CONFIGS, {
    query: {
      search: 'blur',
      tenant: tenant || undefined,
      dataId: anywhere(dataId),
      group: anywhere(group),
      appName: anywhere(appName),
      config_tags: configTags || undefined,
      types: type || undefined,
      pageNo,
      pageSize,
    },
  })
  return { ...page, pageItems: page.pageItems.map(withoutNulls) }
}

function anywhere(text: string): string | undefined {
  if (text === '') return undefined
  return text.includes('*') ? text : `*${text}*`
}

/** An item; rejects with the problem `config-not-found`. */
export async function readConfig(name: ConfigName): Promise<ConfigItem> {
  return withoutNulls(await request<ConfigItem>('GET', CONFIGS, { query: { ...named(name), show: 'all' } }))
}

/** Notes that nobody has set are null in answers. */
function withoutNulls(item: ConfigItem): ConfigItem {
  const { desc, appName, configTags, type, tenant } = item as {
    [K in keyof ConfigItem]: ConfigItem[K] | null
  }
  return {
    ...item,
    tenant: tenant ?? '',
    type: type ?? 'text',
    desc: desc ?? '',
    appName: appName ?? '',
    configTags: configTags ?? '',
  }
}

/** What is published. `casMd5` is the md5 of the version that the author has seen; empty: there is none. */
export interface Publication extends ConfigName, ConfigNotes {
  readonly content: string
  readonly casMd5: string
}

/** Publishes a version; rejects with the problem `config-changed` where the author has not seen the current one. */
export function publishConfig(publication: Publication): Promise<boolean> {
  const { content, type, desc, appName, configTags, casMd5 } = publication
  return request('POST', CONFIGS, {
    form: { ...named(publication), content, type, desc, appName, config_tags: configTags, casMd5 },
  })
}

/** Deletes an item of which the author has seen this version. */
export const deleteConfig = (name: ConfigName, casMd5: string): Promise<boolean> =>
  request('DELETE', CONFIGS, { query: { ...named(name), casMd5 } })

/** Where a browser gets these items as a zip file. */
export const exportAddress = (tenant: string, ids: readonly string[]): string =>
  addressFor(CONFIGS, {
    exportV2: true,
    tenant: tenant || undefined,
    ids: ids.length === 0 ? undefined : ids.join(','),
  })

/** The addresses that watch an item, with the md5 that each has. */
export async function readWatchers(name: ConfigName): Promise<Readonly<Record<string, string>>> {
  const path = `${CONFIGS}/listener`
  const answer = await request<{ lisentersGroupkeyStatus: Record<string, string> }>('GET', path, {
    query: named(name),
  })
  return answer.lisentersGroupkeyStatus
}

/** A record of the history. It holds the text *before* its change, for I the text that was inserted. */
export interface HistoryRecord {
  readonly id: string
  readonly opType: string
  readonly srcIp: string | null
  readonly srcUser: string | null
  readonly createdTime: string
  readonly content: string | null
  readonly md5: string | null
}

/** A page of the history of an item, newest first. */
export const readHistory = (
  name: ConfigName,
  pageNo: number,
  pageSize: number,
): Promise<Page<HistoryRecord>> =>
  request('GET', 'svc/v1/cs/history', { query: { ...named(name), search: 'accurate', pageNo, pageSize } })

/** A record with its text. */
export const readRecord = (name: ConfigName, nid: string): Promise<HistoryRecord> =>
  request('GET', 'svc/v1/cs/history', { query: { ...named(name), nid } })

function named({ tenant, group, dataId }: ConfigName): {
  tenant: string | undefined
  group: string
  dataId: string
} {
  return { tenant: tenant || undefined, group, dataId }
}
