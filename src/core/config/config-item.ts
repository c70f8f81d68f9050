/** Names a configuration item. `namespaceId` is canonical (see `toNamespaceId`). */
export interface ConfigKey {
  readonly namespaceId: string
  readonly group: string
  readonly dataId: string
}

/** The kinds of content that a publisher can declare (http-compat.md section 1); others become `text`. */
export const CONFIG_TYPES = ['properties', 'xml', 'json', 'text', 'html', 'yaml', 'toml', 'unset'] as const

/** One of {@link CONFIG_TYPES}. */
export type ConfigType = (typeof CONFIG_TYPES)[number]

/**
 * What stays the same over all versions of an item: its id and its birth. Every version shares one such
 * object; `id` is 0 until the store has given the first version its revision.
 */
export interface ConfigOrigin {
  id: number
  readonly createdMs: number
  readonly createUser: string | null
  readonly createIp: string
}

/** What a publisher may say about an item besides its content; each is kept and given back as sent. */
export interface ConfigNotes {
  readonly appName: string
  readonly desc: string | null
  readonly use: string | null
  readonly effect: string | null
  readonly schema: string | null
  /** Comma-separated, as sent. */
  readonly configTags: string | null
  readonly encryptedDataKey: string
}

/** Who made a change: `ip` of the caller, `user` where one is known. */
export interface Operator {
  readonly ip: string
  readonly user: string | null
}

/**
 * The current version of a configuration item. `content` is UTF-8, held as the bytes that are sent;
 * `md5` is 32 lower-case hex digits of those bytes; `historyId` is the id of the history record that made
 * this version, 0 until the store has stamped it.
 */
export interface ConfigItem {
  readonly key: ConfigKey
  readonly origin: ConfigOrigin
  historyId: number
  readonly content: Buffer
  readonly md5: string
  readonly type: ConfigType
  readonly notes: ConfigNotes
  /** Epoch milliseconds of this version. */
  readonly modifiedMs: number
}

/** One string per key, for maps: the separators cannot stand in a name. */
export function configKeyText(key: ConfigKey): string {
  return `${key.namespaceId}\u0002${key.group}\u0002${key.dataId}`
}
