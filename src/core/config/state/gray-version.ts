import { fieldsOf, numberIn, textIn } from '../../records/shape.ts'
import { defineRecordKind } from '../../records/record-kind.ts'
import type { RecordView } from '../../records/record-tables.ts'
import { CONFIG_TYPES, configKey, type ConfigKey, type ConfigType, type Operator } from './config-item.ts'
import { type GrayRule, grayRuleOf } from './gray-rule.ts'
import { LOOK_LIMITS } from './look-limits.ts'

/** A version of an item that some clients get instead of the formal one. */
export interface GrayVersion {
  /** `beta`, `tag_` and the tag, or the name that its publisher has chosen. */
  readonly name: string
  readonly rule: GrayRule
  /** The md5 of its text. */
  readonly md5: string
  /** Bytes of its text. */
  readonly size: number
  /** The id of the record that has its text ({@link GRAY_TEXT}). */
  readonly textId: string
  /** Undefined: the type of the formal version. */
  readonly type: ConfigType | undefined
  readonly encryptedDataKey: string
  /** The id of the history record of its first publish: it names the release, and a share of clients is chosen with it. */
  readonly id: number
  /** Epoch milliseconds of its first publish, and of the newest change of its text or rule. */
  readonly createdMs: number
  readonly modifiedMs: number
  /** The author of the first publish, and of the newest change. */
  readonly createdBy: Operator
  readonly modifiedBy: Operator
  /** Why, as the newest change says; empty: nobody says. */
  readonly comment: string
  /** An import wrote it, and nobody has changed it since. No caller can say so. */
  readonly imported?: true
}

/** The current gray versions of an item, at least one. The item may have no formal version. */
export interface GrayItem {
  readonly key: ConfigKey
  /** In the order in which their rules are tried: the highest priority first, then by name. */
  readonly versions: readonly GrayVersion[]
}

/** The most gray versions of an item. */
export const MOST_GRAY_VERSIONS = LOOK_LIMITS.versions

/** The items that have gray versions; the id of the record is the text of the item's key. */
export const GRAY = defineRecordKind<GrayItem>(
  'gray',
  (json) => {
    const { key, versions } = fieldsOf(json)
    const { namespaceId, group, dataId } = fieldsOf(key) as Record<string, string>
    if (!Array.isArray(versions)) throw new Error('its field versions is not a list')
    return {
      key: configKey(String(namespaceId), String(group), String(dataId)),
      versions: versions.map(versionOf),
    }
  },
  { isReadOneByOne: true },
)

/** The text of a gray version, as bytes: texts of all versions together may be larger than the heap. JSON has it as `text`. */
export class GrayText {
  /** UTF-8, in memory of its own. */
  readonly content: Buffer

  constructor(text: string) {
    // `Buffer.from` cuts short ones out of a larger memory, which they would keep.
    this.content = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
    this.content.write(text)
  }

  toJSON(): { readonly text: string } {
    return { text: this.content.toString() }
  }
}

const NO_CONTENT = Buffer.alloc(0)

/** The bytes of a version's text; undefined: the store has lost it. */
export function grayContentOf(records: Pick<RecordView, 'record'>, textId: string): Buffer | undefined {
  return records.record(GRAY_TEXT, textId)?.content
}

/** The bytes of a version's text. */
export function grayContent(records: Pick<RecordView, 'record'>, { textId }: GrayVersion): Buffer {
  return grayContentOf(records, textId) ?? NO_CONTENT
}

/** The texts of gray versions, written once; the id of the record is `textId` of the version: a stamp. */
export const GRAY_TEXT = defineRecordKind<GrayText>(
  'gray-text',
  (json) => new GrayText(textIn(fieldsOf(json), 'text')),
  { isReadOneByOne: true, isLarge: true },
)

/** The version of that name. */
export function grayNamed(item: GrayItem | undefined, name: string): GrayVersion | undefined {
  return item?.versions.find((version) => version.name === name)
}

/** The versions in their order. */
export function inOrder(versions: readonly GrayVersion[]): GrayVersion[] {
  return versions.toSorted((one, other) => {
    const byPriority = other.rule.priority - one.rule.priority
    return byPriority === 0 ? compareTexts(one.name, other.name) : byPriority
  })
}

const BEHIND_NAME = '\u0002gray'

/**
 * The key under which history has the records of an item's gray versions. No item can have it. They are apart from the
 * records of the formal version, because the newest of those is the current version.
 */
export function grayHistoryKey({ namespaceId, group, dataId }: ConfigKey): ConfigKey {
  return configKey(namespaceId, group, dataId + BEHIND_NAME)
}

/** Whether a key belongs to the history of gray versions. */
export function isGrayHistory({ dataId }: ConfigKey): boolean {
  return dataId.endsWith(BEHIND_NAME)
}

/** The item to which a history key belongs, also a key of {@link grayHistoryKey}. */
export function itemOfHistoryKey(key: ConfigKey): ConfigKey {
  const { namespaceId, group, dataId } = key
  return isGrayHistory(key) ? configKey(namespaceId, group, dataId.slice(0, -BEHIND_NAME.length)) : key
}

function versionOf(json: unknown): GrayVersion {
  const fields = fieldsOf(json)
  const { type, encryptedDataKey, comment } = fields
  return {
    name: textIn(fields, 'name'),
    rule: grayRuleOf(fields['rule']),
    md5: textIn(fields, 'md5'),
    size: numberIn(fields, 'size'),
    textId: textIn(fields, 'textId'),
    type: CONFIG_TYPES.find((one) => one === type),
    encryptedDataKey: typeof encryptedDataKey === 'string' ? encryptedDataKey : '',
    id: numberIn(fields, 'id'),
    createdMs: numberIn(fields, 'createdMs'),
    modifiedMs: numberIn(fields, 'modifiedMs'),
    createdBy: operatorOf(fields['createdBy']),
    modifiedBy: operatorOf(fields['modifiedBy']),
    comment: typeof comment === 'string' ? comment : '',
    ...(fields['imported'] === true ? { imported: true } : {}),
  }
}

function operatorOf(json: unknown): Operator {
  const fields = fieldsOf(json)
  const { user } = fields
  return { ip: textIn(fields, 'ip'), user: typeof user === 'string' ? user : null }
}

function compareTexts(one: string, other: string): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}
