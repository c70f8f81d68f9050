import type { ConfigNotes } from './config-notes.ts'
import type { ImportMark } from './history-note.ts'

/** Names a configuration item; made by {@link configKey}. `namespaceId` is canonical (see `toNamespaceId`). */
export interface ConfigKey {
  readonly namespaceId: string
  readonly group: string
  readonly dataId: string
  /** All three as one text, for maps. */
  readonly text: string
}

// Names cannot contain it.
const SEPARATOR = '\u0002'

/** The key of an item. */
export function configKey(namespaceId: string, group: string, dataId: string): ConfigKey {
  // `join` copies: a text made with `+` refers to its pieces, and through them to the request.
  return { namespaceId, group, dataId, text: [namespaceId, group, dataId].join(SEPARATOR) }
}

/** The key with this text (`ConfigKey.text`). */
export function configKeyOfText(text: string): ConfigKey {
  const [namespaceId = '', group = '', dataId = ''] = text.split(SEPARATOR)
  return configKey(namespaceId, group, dataId)
}

/** The kinds of content that a publisher can declare (http-compat.md section 1); others become `text`. */
export const CONFIG_TYPES = ['properties', 'xml', 'json', 'text', 'html', 'yaml', 'toml', 'unset'] as const

/** One of {@link CONFIG_TYPES}. */
export type ConfigType = (typeof CONFIG_TYPES)[number]

/** The facts that all versions of an item share: its id, and the time and author of its creation. */
export interface ConfigOrigin {
  readonly id: number
  readonly createdMs: number
  readonly createUser: string | null
  readonly createIp: string
}

/** The author of a change: `ip` of the caller, `user` where one is known. */
export interface Operator {
  readonly ip: string
  readonly user: string | null
}

/**
 * The current version of a configuration item. `content` is UTF-8, held as the bytes that are sent. `md5` is its
 * digest, 32 lower-case hex digits. `historyId` is the id of the history record that made this version.
 */
export interface ConfigItem {
  readonly key: ConfigKey
  readonly origin: ConfigOrigin
  readonly historyId: number
  readonly content: Buffer
  readonly md5: string
  readonly type: ConfigType
  readonly notes: ConfigNotes
  /** Epoch milliseconds of this version. */
  readonly modifiedMs: number
  /** An import wrote this version, and nobody has changed it since. No caller can say so. */
  readonly imported?: ImportMark | undefined
}
