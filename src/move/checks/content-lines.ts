import { createHash } from 'node:crypto'
import { isFarAhead } from '../../core/config/state/imported-time.ts'
import type { PlanConfig, PlanGray, PlanHistory, PlanLine, PlanNote } from '../../plan/plan.ts'
import { nameOf } from '../../plan/plan.ts'
import { isText } from '../no-text.ts'
import { missedNote } from '../reading.ts'

/** The prefix of the names of items that plugins encrypt. */
export const ENCRYPTED = 'cipher-'

/** Whether a plugin may have encrypted the item of this name. */
export function isEncrypted(dataId: string): boolean {
  return dataId.startsWith(ENCRYPTED)
}

/** Why a content does not come. */
export const NOT_UTF8 = 'its content is not text in UTF-8'

/** The line of a content, and the notes about it. */
export function contentLines<T extends PlanConfig | PlanGray>(line: T): PlanLine[] {
  if (!isText(line.content)) return [missedNote(line.kind, nameOf(line), NOT_UTF8)]
  return [...withDigest(line), ...(line.kind === 'config' ? timeNotes(line) : [])]
}

/** A server takes over such a time, and gives it to later changes, too (docs/move-plan.md, "Times"). */
function timeNotes(line: PlanConfig): PlanNote[] {
  if (line.modifiedMs === null || !isFarAhead(line.modifiedMs, Date.now())) return []
  const reason = `its time, ${line.modifiedMs} ms, is more than a day ahead; it gets that of its import`
  return [{ kind: 'remark', about: line.kind, name: nameOf(line), reason }]
}

function withDigest(line: PlanConfig | PlanGray): PlanLine[] {
  const md5 = md5Of(line.content)
  const isStored = line.md5 === null || line.md5 === md5
  const note = (reason: string): PlanNote => ({
    kind: 'remark',
    about: line.kind,
    name: nameOf(line),
    reason,
  })
  if (isEncrypted(line.dataId) && line.encryptedDataKey !== '' && !isStored)
    // The server has decrypted the text for its answer. The key would make clients decrypt it once more.
    return [
      { ...line, encryptedDataKey: '', md5: null },
      note('an encrypted item: it comes as plain text, because the source gives only that'),
    ]
  if (isEncrypted(line.dataId))
    return [line, note(`an encrypted item: it comes ${asWhat(line.encryptedDataKey)}`)]
  return isStored
    ? [line]
    : [line, note(`the md5 of the source, ${line.md5}, is of other bytes; it becomes ${md5}`)]
}

function asWhat(key: string): string {
  return key === '' ? 'as it is, and has no key' : 'as ciphertext, with its key'
}

/** Counts the records whose md5 at the source differs from the md5 of their text, and the records with a time far ahead. */
export class HistoryDigests {
  #others = 0
  #ahead = 0

  add({ content, md5, atMs }: PlanHistory): void {
    if (isFarAhead(atMs, Date.now())) this.#ahead++
    if (md5 !== null && md5 !== md5Of(content)) this.#others++
  }

  /** The lines about such records. */
  lines(): PlanLine[] {
    const md5s = `the md5 of the source is of other bytes in ${this.#others} records; they get new ones`
    const times = `the time of ${this.#ahead} records is more than a day ahead; they get that of their import`
    const reasons = [...(this.#others > 0 ? [md5s] : []), ...(this.#ahead > 0 ? [times] : [])]
    return reasons.map((reason) => ({ kind: 'remark', about: 'history', name: 'all items', reason }))
  }
}

/** The md5 of a text in UTF-8, in hex. */
export function md5Of(text: string): string {
  return createHash('md5').update(text).digest('hex')
}
