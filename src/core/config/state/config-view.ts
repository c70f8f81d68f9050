import type { RecordView } from '../../records/record-tables.ts'
import type { ConfigItem, ConfigKey } from './config-item.ts'
import { NO_NOTES } from './config-notes.ts'
import { shareOf } from './gray-rule.ts'
import { isRuleFor } from './rule-matches.ts'
import type { Viewer } from './viewer.ts'
import { GRAY, grayContentOf, type GrayItem, type GrayVersion } from './gray-version.ts'

/** The version that a client sees: the formal one, or a gray one in the shape of an item. */
export interface SeenItem extends ConfigItem {
  /** The gray version that it is; absent: it is the formal one. */
  readonly gray?: GrayVersion
}

/** The part of the state that a view reads. */
export interface ViewedState extends Pick<RecordView, 'record'> {
  config(key: ConfigKey): ConfigItem | undefined
}

/** The version that a client sees, or undefined. It depends on item and client only: all servers give the same. */
export function viewOf(state: ViewedState, key: ConfigKey, who: Viewer): SeenItem | undefined {
  const formal = state.config(key)
  const gray = state.record(GRAY, key.text)
  const formalSeen = who.asksForTag === true ? undefined : formal
  if (gray === undefined) return formalSeen
  const version = grayFor(gray, who)
  return version === undefined ? formalSeen : seenGray(state, { key: gray.key, formal, version })
}

/** The md5 of the version that a client sees; the empty string: it sees nothing. */
export function viewedMd5(state: ViewedState, key: ConfigKey, who: Viewer): string {
  const gray = state.record(GRAY, key.text)
  const version = gray === undefined ? undefined : grayFor(gray, who)
  if (version !== undefined) return version.md5
  return who.asksForTag === true ? '' : (state.config(key)?.md5 ?? '')
}

/** The version that a client sees, for people. */
export function seenBy(state: ViewedState, key: ConfigKey, who: Viewer) {
  const gray = state.record(GRAY, key.text)
  const version = gray === undefined ? undefined : grayFor(gray, who)
  return { md5: version?.md5 ?? state.config(key)?.md5 ?? '', gray: version?.name, ip: who.ip }
}

/** The gray version that a client gets, or undefined. */
export function grayFor(item: GrayItem, who: Viewer): GrayVersion | undefined {
  const known = who.labels === undefined ? LAST_LOOKS.get(item) : lastLabelled
  if (known?.item === item && isSameViewer(known.who, who)) return known.version
  const version = item.versions.find((one) => matches(one, who))
  // A copy: the viewer may be a poll, which must not live as long as the item.
  const { ip, tag, asksForTag, labels } = who
  const look = { item, who: { ip, tag, asksForTag, labels }, version }
  if (labels === undefined) LAST_LOOKS.set(item, look)
  else lastLabelled = look
  return version
}

/** A gray version with its text, in the shape of an item. Throws an Error if the store has lost the text. */
export function seenGray(
  state: Pick<RecordView, 'record'>,
  { key, formal, version }: { key: ConfigKey; formal: ConfigItem | undefined; version: GrayVersion },
): SeenItem {
  const known = SEEN.get(version)
  if (known !== undefined && known.formal === formal) return known.item
  const content = grayContentOf(state, version.textId)
  if (content === undefined) throw new Error(`The text of the gray version ${version.name} is missing`)
  const { createdMs, createdBy, id } = version
  const notes = formal?.notes ?? NO_NOTES
  const item: SeenItem = {
    key,
    origin: formal?.origin ?? { id, createdMs, createUser: createdBy.user, createIp: createdBy.ip },
    historyId: id,
    content,
    md5: version.md5,
    type: formal?.type ?? version.type ?? 'text',
    notes: { ...notes, encryptedDataKey: version.encryptedDataKey },
    modifiedMs: version.modifiedMs,
    gray: version,
  }
  SEEN.set(version, { formal, item })
  return item
}

/** Why a client gets a version or not: each is asked in its order, and the first that is for the client counts. */
export interface ExplainedVersion {
  readonly version: GrayVersion
  readonly isForClient: boolean
  /** How large a share must be so that the client is among it, in percent; undefined: the version is for no share. */
  readonly neededShare: number | undefined
}

/** Says of each gray version of an item whether it is for a client. */
export function explainedVersions(item: GrayItem | undefined, who: Viewer): ExplainedVersion[] {
  return (item?.versions ?? []).map((version) => {
    const isShare = version.rule.type === 'percent'
    const neededShare = isShare ? (placeInRelease(version, who) + 1) / 100 : undefined
    return { version, isForClient: matches(version, who), neededShare }
  })
}

/** Identifies a client when a share of clients is chosen: the label `instance`, else address and application. */
export function identityOf({ ip, labels }: Viewer): string {
  return labels?.get('instance') ?? `${ip} ${labels?.get('AppName') ?? ''}`
}

/** How many hundredths of a percent a share must have so that this client is among them. It never changes within a release. */
export function placeInRelease({ id }: Pick<GrayVersion, 'id'>, who: Viewer): number {
  return hashOf(`${id} ${identityOf(who)}`) % 10_000
}

/** The items of versions, made once: reads are far more frequent than publishes. */
const SEEN = new WeakMap<GrayVersion, { readonly formal: ConfigItem | undefined; readonly item: SeenItem }>()

/** A viewer of an item, and its version. */
interface LastLook {
  readonly item: GrayItem
  readonly who: Pick<Viewer, 'ip' | 'tag' | 'asksForTag' | 'labels'>
  readonly version: GrayVersion | undefined
}

/** A request looks at an item several times. The versions of an item never change: a change makes another GrayItem. */
const LAST_LOOKS = new WeakMap<GrayItem, LastLook>()
/** Labels must not live as long as an item: one look of their viewers is known. */
let lastLabelled: LastLook | undefined

function isSameViewer(one: Viewer, other: Viewer): boolean {
  return (
    one.ip === other.ip &&
    one.tag === other.tag &&
    one.asksForTag === other.asksForTag &&
    one.labels === other.labels
  )
}

/** Whether a release is for a client. */
export function matches(release: Pick<GrayVersion, 'id' | 'rule'>, who: Viewer): boolean {
  const { type, expr } = release.rule
  switch (type) {
    case 'beta':
    case 'tagv2':
      return isRuleFor(type, expr, who)
    case 'tag':
      return who.tag === expr
    case 'percent':
      return who.asksForTag !== true && placeInRelease(release, who) < shareOf(expr)
  }
}

/** FNV-1a over the characters, then the last steps of MurmurHash3, so that every bit depends on all characters. */
function hashOf(text: string): number {
  let bits = 0x811c9dc5
  for (let at = 0; at < text.length; at++) bits = Math.imul(bits ^ text.charCodeAt(at), 0x01000193)
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
  return (bits ^ (bits >>> 16)) >>> 0
}

/** An item that a client watches. */
export interface WatchedItem {
  readonly key: ConfigKey
  /** The md5 of the client; the empty string if it has no version. */
  readonly md5: string
  /** How the client named the item, as its protocol repeats it in answers. */
  readonly echo: string
}
