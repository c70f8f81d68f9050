import type { ConfigItem } from '../../../core/config/state/config-item.ts'
import type { HistoryRecord } from '../../../core/config/state/history-record.ts'
import { historyIdOf, stampOfId } from '../../../core/decisions/stamps.ts'
import { noteText } from '../rows/config-rows.ts'
import type { RevisionRow } from '../rows/tables.ts'

/** A version of an item, as far as the records that are left tell. */
type Version = Pick<RevisionRow, 'id' | 'itemId' | 'md5'>

/** The columns of a version that come from its content. */
type Shown = Pick<RevisionRow, 'md5' | 'type' | 'appName' | 'encryptedDataKey' | 'content'>

const NOTHING: Shown = { md5: null, type: null, appName: null, encryptedDataKey: null, content: null }

/**
 * Makes the rows of one name from its records, oldest first. A record shows its own text (I) or the text before it (U, D). A
 * row has the text of its own version, so it is made when the next record, or the item, is known. A version without a record
 * gets a hidden row if a record, or the item, needs its text.
 */
export class VersionRows {
  readonly #nameId: number
  readonly #item: ConfigItem | undefined
  readonly #rows: RevisionRow[] = []
  #before: Version | undefined
  #waiting: { readonly record: HistoryRecord; readonly version: Version; readonly prevId: number } | undefined

  constructor(nameId: number, item: ConfigItem | undefined) {
    this.#nameId = nameId
    this.#item = item
  }

  /** The next record. Returns the rows that are complete with it. */
  add(record: HistoryRecord): RevisionRow[] {
    this.#settle(record.op === 'I' ? undefined : shownBy(record))
    if (record.op === 'I') {
      this.#before = { id: record.id, itemId: record.id - 1, md5: record.md5 }
      this.#push(record, { itemId: this.#before.itemId, prevId: null, ...shownBy(record) })
      return this.#rows.splice(0)
    }
    const before = this.#versionBefore(record)
    const { itemId } = before
    if (record.op === 'D') {
      this.#push(record, { itemId, prevId: before.id, ...NOTHING })
      this.#before = undefined
    } else {
      this.#before = { id: record.id, itemId, md5: null }
      this.#waiting = { record, version: this.#before, prevId: before.id }
    }
    return this.#rows.splice(0)
  }

  /** All records were given. Returns the remaining rows. */
  end(): RevisionRow[] {
    const item = this.#item
    const isNewest = item !== undefined && this.#waiting?.record.id === item.historyId
    this.#settle(isNewest ? shownBy({ ...item, ...item.notes }) : undefined)
    if (item === undefined || this.#before?.id === item.historyId) return this.#rows.splice(0)
    const { origin, historyId, modifiedMs } = item
    const isFirst = historyIdOf(stampOfId(origin.id)) === historyId
    this.#rows.push({
      ...this.#hidden({ id: historyId, itemId: origin.id, atMs: modifiedMs }),
      note: noteText(item.imported),
      op: isFirst ? 'I' : 'U',
      ...shownBy({ ...item, ...item.notes }),
    })
    return this.#rows.splice(0)
  }

  /** Writes the waiting record; its own text is `shown`. Where nothing shows it, it may be the text before. */
  #settle(shown: Shown | undefined): void {
    if (this.#waiting === undefined) return
    const { record, version, prevId } = this.#waiting
    this.#waiting = undefined
    const own = shown ?? shownBy(record)
    this.#push(record, { itemId: version.itemId, prevId, ...own })
    this.#before = { ...version, md5: own.md5 }
  }

  /** The version that a record has replaced. */
  #versionBefore(record: HistoryRecord): Version {
    if (this.#before !== undefined && this.#before.md5 === record.md5) return this.#before
    const itemId = this.#before?.itemId ?? this.#itemIdOf(record)
    const first = historyIdOf(stampOfId(itemId))
    const isFree = this.#before === undefined && itemId === this.#item?.origin.id
    // Ids of records are odd: an even id belongs to no record.
    const id = isFree ? first : record.id - 1
    this.#rows.push({ ...this.#hidden({ id, itemId, atMs: record.atMs }), ...shownBy(record) })
    return { id, itemId, md5: record.md5 }
  }

  /** The id of a deleted item is unknown if the record of its creation is gone. */
  #itemIdOf({ id }: HistoryRecord): number {
    const isPresent = this.#item !== undefined && id > this.#item.origin.id
    return isPresent ? this.#item.origin.id : id - 3
  }

  #hidden({ id, itemId, atMs }: { id: number; itemId: number; atMs: number }): RevisionRow {
    const nobody = { srcIp: '', srcUser: null }
    return {
      id,
      nameId: this.#nameId,
      itemId,
      op: 'I',
      prevId: null,
      ...NOTHING,
      ...nobody,
      atMs,
      note: null,
      hidden: true,
    }
  }

  #push(
    { id, op, srcIp, srcUser, atMs, note }: HistoryRecord,
    own: Shown & Pick<RevisionRow, 'itemId' | 'prevId'>,
  ): void {
    const about = { id, op, srcIp, srcUser, atMs, note: noteText(note) }
    this.#rows.push({ ...about, nameId: this.#nameId, hidden: false, ...own })
  }
}

function shownBy(from: Shown): Shown {
  const { md5, type, appName, encryptedDataKey, content } = from
  return { md5, type, appName, encryptedDataKey, content }
}
