import { mayHaveSecrets } from '../../../src/formats/secret-texts.ts'
import type { ConfigName, ConfigNotes } from '../server/configs.ts'
import { forget, keep, keptNames, readKept } from '../state/kept.ts'
import { mayKeepEdits, username } from '../state/user.ts'
import type { Base, Edit } from './edit.ts'

/** The subject of a draft: an item, or one of its gray versions. */
export interface DraftPlace extends ConfigName {
  readonly grayName?: string | undefined
}

/** An edit that is not published, as this browser keeps it for its user. */
export interface Draft {
  /** When it was last typed in: epoch ms. */
  readonly atMs: number
  /** A new item is kept under the names that it has so far. */
  readonly name: DraftPlace
  readonly edit: Edit
  /** The version that the author began with. */
  readonly base: Omit<Base, keyof ConfigName>
}

const KEPT_MS = 7 * 86_400_000
/** Browsers keep 5 MB in all. */
const MOST_CHARACTERS = 200_000
const START = 'draft '

/** The place of the draft of a new item: there is one in each namespace. */
export const newItemIn = (tenant: string): ConfigName => ({ tenant, group: '', dataId: '' })

const keyOf = ({ tenant, group, dataId, grayName }: DraftPlace): string =>
  START + JSON.stringify([username(), tenant, group, dataId, ...(grayName === undefined ? [] : [grayName])])

/** Whether an edit may be kept: one that may have covered values never is, because others may use this browser. */
export const mayKeep = ({ content }: Edit, base: Pick<Base, 'content'>): boolean =>
  content.length + base.content.length <= MOST_CHARACTERS && ![content, base.content].some(mayHaveSecrets)

/** Keeps the draft of an item, in place of an older one. If this edit may not be kept, the older draft is removed. */
export function keepDraft(place: DraftPlace, draft: Draft): void {
  if (!mayKeepEdits()) return
  if (mayKeep(draft.edit, draft.base)) keep(keyOf(place), JSON.stringify(draft))
  else dropDraft(place)
}

/** The draft of an item or a gray version, if there is one of the last 7 days. */
export function readDraft(place: DraftPlace, nowMs: number): Draft | undefined {
  const draft = draftIn(readKept(keyOf(place)))
  return draft !== undefined && nowMs - draft.atMs < KEPT_MS ? draft : undefined
}

/** Removes such a draft. */
export const dropDraft = (place: DraftPlace): void => forget(keyOf(place))

/** The drafts of this user, youngest first. Older ones than 7 days are removed, those of others too. */
export function ownDrafts(nowMs: number): Draft[] {
  const own: Draft[] = []
  for (const key of keptNames(START)) {
    const draft = draftIn(readKept(key))
    if (draft === undefined || nowMs - draft.atMs >= KEPT_MS) forget(key)
    else if (key.startsWith(START + JSON.stringify([username()]).slice(0, -1))) own.push(draft)
  }
  return own.toSorted((a, b) => b.atMs - a.atMs)
}

/** Removes all drafts of this user, who signs out. */
export function dropOwnDrafts(): void {
  for (const key of keptNames(START + JSON.stringify([username()]).slice(0, -1))) forget(key)
}

function draftIn(text: string | undefined): Draft | undefined {
  try {
    const draft = JSON.parse(text ?? '') as Draft
    return typeof draft.atMs === 'number' && typeof draft.edit.content === 'string' ? draft : undefined
  } catch {
    return undefined
  }
}

/** The notes of a base, without its names. */
export const baseOf = ({
  content,
  md5,
  type,
  desc,
  appName,
  configTags,
  encryptedDataKey,
}: Base): Draft['base'] => ({
  content,
  md5,
  type,
  desc,
  appName,
  configTags,
  ...(encryptedDataKey === undefined ? {} : { encryptedDataKey }),
})

/** The notes of an edit. */
export const editOf = (content: string, notes: ConfigNotes): Edit => ({ ...notes, content })
