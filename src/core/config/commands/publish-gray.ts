import { type Command, commandOn, synced, unchanged } from '../../decisions/decision.ts'
import { historyIdOf, type Now } from '../../decisions/stamps.ts'
import type { View } from '../../decisions/view.ts'
import type { Change } from '../../decisions/changes.ts'
import { recordRemoved, recordSaved } from '../../records/record-kind.ts'
import { Refusal } from '../../refusal.ts'
import { ownText } from '../../text/own-text.ts'
import { type ConfigKey, configKey, type ConfigType, type Operator } from '../state/config-item.ts'
import { DELETED_CONFIG } from '../state/deleted-config.ts'
import { checkedRule, checkGrayName, type GrayRule } from '../state/gray-rule.ts'
import {
  GRAY,
  GRAY_TEXT,
  grayContent,
  type GrayItem,
  grayNamed,
  GrayText,
  type GrayVersion,
  inOrder,
  MOST_GRAY_VERSIONS,
} from '../state/gray-version.ts'
import { checkCas } from './publish-config.ts'
import { ownedOperator } from '../state/owned-operator.ts'
import { grayRecorded } from './gray-records.ts'

/** A new text, or a new rule, of a gray version. `md5` is the digest of `content`. */
export interface PublishGray {
  readonly key: ConfigKey
  readonly name: string
  readonly rule: GrayRule
  readonly content: Buffer
  readonly md5: string
  /** Counts where the item has no formal version. */
  readonly type: ConfigType | undefined
  /** The type of an item without any version. */
  readonly typeIfNew?: ConfigType | undefined
  readonly encryptedDataKey: string
  /** Publishes only if this is the md5 of the gray version of that name (`''`: there is none). */
  readonly casMd5: string | undefined
  readonly operator: Operator
  /** Why; absent: nobody says. */
  readonly comment?: string | undefined
  /** An import publishes it. */
  readonly imported?: true
}

/**
 * Publishes a text for some clients. The formal version stays as it is, and there need not be one. Answers true. What
 * is already there changes nothing. Refusals `gray-rule`, `gray-too-many`, `config-changed`.
 */
export function publishGray(input: PublishGray): Command<true> {
  const { key, content, casMd5 } = input
  checkGrayName(input.name, checkedRule(input.rule))
  return {
    subject: key.text,
    growsBy: content.length,
    // The second one becomes the id of the text.
    stamps: () => 2,
    decide(view, now) {
      const item = view.record(GRAY, key.text)
      const previous = grayNamed(item, input.name)
      checkCas(casMd5, previous)
      const version = nextVersion(view, { input, item, previous }, now)
      if (previous !== undefined && isSame(previous, version)) return unchanged(true)
      if (previous === undefined && item?.versions.length === MOST_GRAY_VERSIONS) throw tooMany()
      return synced(
        [
          ...textSaved(input, { version, previous }, now),
          ...versionSaved(view, { item, version, previous }, { ...input, now }),
          ...takenFromBin(view, key, now),
        ],
        true,
      )
    },
  }
}

/** The item is there again, as it was: with gray versions only. */
function takenFromBin(view: View, key: ConfigKey, { stamp }: Now): Change[] {
  const deleted = view.record(DELETED_CONFIG, key.text)
  return deleted?.gray === undefined ? [] : [recordRemoved(DELETED_CONFIG, key.text, stamp)]
}

/** A new rule of a gray version, and perhaps a new priority; its text stays. */
export interface GrowGray {
  readonly key: ConfigKey
  readonly name: string
  readonly expr: string
  readonly priority?: number | undefined
  readonly operator: Operator
  readonly comment?: string | undefined
}

/** Gives a gray version to other clients than before. Refusals `gray-not-found`, `gray-rule`. Answers true. */
export function growGray(input: GrowGray): Command<true> {
  const { key, name, operator, comment } = input
  return commandOn(key.text, (view, now) => {
    const item = view.record(GRAY, key.text)
    const previous = grayNamed(item, name)
    if (item === undefined || previous === undefined) throw grayNotFound(name)
    const priority = input.priority ?? previous.rule.priority
    const rule = checkedRule({ ...previous.rule, expr: ownText(input.expr), priority })
    checkGrayName(name, rule)
    const { imported: _imported, ...kept } = previous
    const version = changed({ ...kept, rule }, { operator, comment, now, previous })
    if (isSame(previous, version)) return unchanged(true)
    return synced(versionSaved(view, { item, version, previous }, { ...input, now }), true)
  })
}

/** A Refusal `gray-not-found`. */
export function grayNotFound(name: string): Refusal {
  return new Refusal('gray-not-found', `The item has no gray version ${name}.`, { names: { grayName: name } })
}

function tooMany(): Refusal {
  const allowed = `at most ${MOST_GRAY_VERSIONS} gray versions of an item`
  return new Refusal('gray-too-many', `There may be ${allowed}: promote or stop one of them.`, { allowed })
}

interface Authored {
  readonly operator: Operator
  readonly comment?: string | undefined
  readonly now: Now
}

interface Versions {
  readonly item: GrayItem | undefined
  readonly version: GrayVersion
  readonly previous: GrayVersion | undefined
}

/** The item with the version, and the record of the change. */
function versionSaved(
  view: View,
  { item, version, previous }: Versions,
  { key, operator, comment, now }: Authored & { key: ConfigKey },
): Change[] {
  const { stamp } = now
  const others = item?.versions.filter(({ name }) => name !== version.name) ?? []
  const { namespaceId, group, dataId } = key
  const own = item?.key ?? configKey(ownText(namespaceId), ownText(group), ownText(dataId))
  const value: GrayItem = { key: own, versions: inOrder([...others, version]) }
  return [recordSaved(GRAY, { id: own.text, value, stamp }), ...recorded()]

  function recorded(): Change[] {
    const type = version.type ?? view.config(key)?.type ?? 'text'
    const change = { operator, comment, atMs: version.modifiedMs }
    if (previous === undefined) return []
    const content = grayContent(view, previous)
    const before = { ...previous, rule: version.rule }
    return grayRecorded(own, { op: 'U', version: before, content, type, stamp }, change)
  }
}

/** The text where it is new, without the one that it replaces; and the record of a new version, which has its own text. */
function textSaved(
  { key, content, operator, comment }: PublishGray,
  { version, previous }: Omit<Versions, 'item'>,
  { stamp }: Now,
): Change[] {
  const id = version.textId
  if (id === previous?.textId) return []
  const value = new GrayText(content.toString())
  const saved = recordSaved(GRAY_TEXT, { id, value, stamp: textStamp(stamp) })
  if (previous !== undefined) return [recordRemoved(GRAY_TEXT, previous.textId, stamp), saved]
  const change = { operator, comment, atMs: version.modifiedMs }
  return [
    saved,
    ...grayRecorded(key, { op: 'I', version, content, type: version.type ?? 'text', stamp }, change),
  ]
}

function nextVersion(
  view: View,
  { input, item, previous }: { input: PublishGray } & Omit<Versions, 'version'>,
  now: Now,
): GrayVersion {
  const { rule, md5, operator, comment } = input
  const id = historyIdOf(now.stamp)
  const fields = {
    name: previous?.name ?? ownText(input.name),
    rule: { ...rule, expr: ownText(rule.expr), version: ownText(rule.version) },
    md5,
    size: input.content.length,
    textId: hasText(view, previous, input) ? previous.textId : String(textStamp(now.stamp)),
    type: input.type ?? previous?.type ?? typeOfNew(view, input, item),
    encryptedDataKey: ownText(input.encryptedDataKey),
    id: previous?.id ?? id,
    createdMs: previous?.createdMs ?? now.wallMs,
    createdBy: previous?.createdBy ?? ownedOperator(operator),
    ...(input.imported === true ? { imported: true as const } : {}),
  }
  return changed(fields, { operator, comment, now, previous })
}

/** Undefined where the item has a version: another type would be a change of the item. */
function typeOfNew(
  view: View,
  { key, typeIfNew }: PublishGray,
  item: GrayItem | undefined,
): ConfigType | undefined {
  if (typeIfNew === undefined || item !== undefined) return undefined
  return view.config(key) === undefined ? typeIfNew : undefined
}

/** The history record of the change has the other one. */
function textStamp(stamp: number): number {
  return stamp + 1
}

function changed(
  fields: Omit<GrayVersion, 'modifiedMs' | 'modifiedBy' | 'comment'>,
  { operator, comment = '', now, previous }: Authored & { previous: GrayVersion | undefined },
): GrayVersion {
  const modifiedMs = Math.max(now.wallMs, previous?.modifiedMs ?? 0)
  return { ...fields, modifiedMs, modifiedBy: ownedOperator(operator), comment: ownText(comment) }
}

/** A text of the same md5 may be another one. */
function hasText(
  view: View,
  version: GrayVersion | undefined,
  { md5, content }: PublishGray,
): version is GrayVersion {
  return version?.md5 === md5 && grayContent(view, version).equals(content)
}

/** Whether both are the same to their clients, and have the same rule. */
function isSame(one: GrayVersion, other: GrayVersion): boolean {
  return (
    one.textId === other.textId &&
    one.type === other.type &&
    one.encryptedDataKey === other.encryptedDataKey &&
    one.rule.type === other.rule.type &&
    one.rule.version === other.rule.version &&
    one.rule.expr === other.rule.expr &&
    one.rule.priority === other.rule.priority
  )
}
