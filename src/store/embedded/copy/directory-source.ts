import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ConfigKey, configKey, type ConfigType } from '../../../core/config/state/config-item.ts'
import { noteOfText } from '../rows/config-rows.ts'
import type { Snapshot } from '../../../core/engine/ports.ts'
import { DamagedStore, type OnProgress } from '../../local-file.ts'
import type { RememberedValue, ShownRecord, StoredPart, StoredSource } from '../../stored-data.ts'
import { DamagedRow, RowReader } from '../rows/row-reader.ts'
import type { SqliteConnection, SqlValue } from '../database/connection.ts'
import { refuseWithoutStore } from '../database/data-directory.ts'
import { openCopy, openPrivate, type StoreFile } from '../doctor/store-file.ts'
import { lastRevisionOf } from '../worker/embedded-database.ts'
import { databaseRefusal } from '../database/format.ts'
import { readBatches } from '../worker/load.ts'
import { SnapshotBuilder } from '../snapshot.ts'
import { TABLES } from '../rows/tables.ts'

const AT_ONCE = 500
/** Contents of one part. */
const MOST_BYTES = 4 * 1024 * 1024
/** Estimated bytes of a record in etcd, without its content. */
const RECORD_BYTES = 1024

const NAMES = new RowReader(TABLES.config_name)
const EVENTS = new RowReader(TABLES.audit)
const RECORDS = new RowReader(TABLES.config_revision, { as: 'record', content: false })
const SOURCES = new RowReader(TABLES.config_revision, { as: 'source' })
const META = new RowReader(TABLES.meta)

const SHOWN = `
  FROM config_revision AS record INDEXED BY config_revision_by_name
  LEFT JOIN config_revision AS source ON source.id = CASE record.op WHEN 'I' THEN record.id ELSE record.prev_id END
  WHERE record.hidden = 0`
const HISTORY = `SELECT ${[...RECORDS.columns, ...SOURCES.columns].join(', ')} ${SHOWN} ORDER BY record.name_id, record.id`
const HISTORY_SIZE = `SELECT count(*), ifnull(sum(length(source.content)), 0) ${SHOWN}`
const ROWS = `SELECT ${['config_item', 'record', 'service', 'instance', 'audit'].map((table) => `(SELECT count(*) FROM ${table})`).join(' + ')}`

/** The store of a backup, or of the data directory of a stopped server, which stays locked until `close`. */
export class DirectorySource implements StoredSource {
  readonly place: string
  readonly revision: number
  readonly largestStamp: number
  readonly size: { readonly records: number; readonly bytes: number }
  readonly #connection: SqliteConnection
  readonly #close: () => void
  readonly #snapshot: Snapshot

  private constructor(place: string, connection: SqliteConnection, close: () => void) {
    this.place = place
    this.#connection = connection
    this.#close = close
    const highestEvent = connection.number('SELECT max(id) FROM audit')
    this.revision = Math.max(lastRevisionOf(connection), highestEvent)
    this.largestStamp = this.revision
    const builder = new SnapshotBuilder()
    for (const batch of readBatches(connection)) builder.add(batch)
    this.#snapshot = builder.snapshot(this.revision)
    const [records, bytes] = (connection.first(HISTORY_SIZE) ?? []).map(Number)
    const items = this.#snapshot.configs.reduce((sum, { content }) => sum + content.length, 0)
    const rows = connection.number(ROWS)
    this.size = {
      records: (records ?? 0) + rows,
      bytes: (bytes ?? 0) + items + RECORD_BYTES * ((records ?? 0) + rows),
    }
  }

  /** Reads without writing; a backup, which nobody else uses, in place. Throws NotExaminable, NothingStored, DamagedStore. */
  static open(directory: string, isBackup: boolean, onProgress: OnProgress): DirectorySource {
    refuseWithoutStore(directory)
    const copyTo = isBackup ? undefined : mkdtempSync(join(tmpdir(), 'waypost-copy-'))
    let file: StoreFile | undefined
    const close = (): void => {
      file?.close()
      if (copyTo !== undefined) rmSync(copyTo, { recursive: true, force: true })
    }
    try {
      file =
        copyTo === undefined
          ? openPrivate(directory)
          : openCopy(directory, { copyTo, isTraceless: false, onProgress })
      if ('problem' in file.opened)
        throw new DamagedStore(`The database in ${directory} cannot be opened: ${file.opened.problem}.`)
      const { connection } = file.opened
      const applicationId = connection.number('PRAGMA application_id')
      const format = connection.number('PRAGMA user_version')
      const refusal = databaseRefusal(directory, { applicationId, format })
      if (refusal !== undefined) throw refusal
      return new DirectorySource(directory, connection, close)
    } catch (error) {
      close()
      throw error
    }
  }

  *parts(): Generator<StoredPart> {
    const { records, services, instances, configs } = this.#snapshot
    yield { of: 'values', all: this.#values() }
    for (const all of inPieces(records)) yield { of: 'records', all }
    for (const all of inPieces(services)) yield { of: 'services', all }
    for (const all of inPieces(instances)) yield { of: 'instances', all }
    for (const all of inPieces(configs, ({ content }) => content.length)) yield { of: 'items', all }
    yield* this.#history()
    const events = this.#connection.each(`SELECT ${EVENTS.columns.join(', ')} FROM audit ORDER BY id`)
    for (const rows of inPieces(events)) yield { of: 'audit', all: rows.map((row) => EVENTS.read(row)) }
  }

  close(): void {
    this.#close()
  }

  #values(): RememberedValue[] {
    const rows = this.#connection.all(`SELECT ${META.columns.join(', ')} FROM meta NOT INDEXED`)
    const prefix = 'server:'
    return rows
      .map((row) => META.read(row))
      .flatMap(({ name, value }) =>
        name.startsWith(prefix) ? [{ name: name.slice(prefix.length), value }] : [],
      )
  }

  *#history(): Generator<StoredPart> {
    const names = this.#names()
    let all: ShownRecord[] = []
    let bytes = 0
    for (const row of this.#connection.each(HISTORY)) {
      const next = shownRecord(row, names)
      const isOther = all.at(-1)?.record.key !== next.record.key
      // A part ends with an item, unless its history is very large.
      const isFull = all.length >= AT_ONCE || bytes >= MOST_BYTES
      if (all.length > 0 && isFull && (isOther || bytes >= MOST_BYTES)) {
        yield { of: 'history', all, isWhole: isOther }
        all = []
        bytes = 0
      }
      all.push(next)
      bytes += next.record.content.length
    }
    if (all.length > 0) yield { of: 'history', all, isWhole: true }
  }

  #names(): Map<number, ConfigKey> {
    const names = new Map<number, ConfigKey>()
    for (const row of this.#connection.each(`SELECT ${NAMES.columns.join(', ')} FROM config_name`)) {
      const { id, namespaceId, group, dataId } = NAMES.read(row)
      names.set(id, configKey(namespaceId, group, dataId))
    }
    return names
  }
}

function shownRecord(row: readonly SqlValue[], names: ReadonlyMap<number, ConfigKey>): ShownRecord {
  const { id, op, nameId, srcIp, srcUser, atMs, note } = RECORDS.read(row)
  const at = RECORDS.columns.length
  const key = names.get(nameId)
  if (key === undefined) throw new DamagedRow('config_name', String(nameId), 'it is missing')
  const source = row[at] === null ? undefined : SOURCES.read(row, at)
  if (source === undefined || source.content === null)
    throw new DamagedRow('config_revision', String(id), 'the content that it answers is missing')
  const { md5, type, appName, encryptedDataKey, content } = source
  const notes = { appName: appName ?? '', encryptedDataKey: encryptedDataKey ?? '' }
  const shown = { md5: md5 ?? '', type: type as ConfigType, ...notes, content }
  return {
    record: { id, key, op, ...shown, srcIp, srcUser, atMs, note: noteOfText(note) },
    versionId: source.id,
  }
}

/** Pieces of a list, of a bounded number and size. */
function* inPieces<T>(all: Iterable<T>, bytesOf: (one: T) => number = () => 0): Generator<T[]> {
  let piece: T[] = []
  let bytes = 0
  for (const one of all) {
    piece.push(one)
    bytes += bytesOf(one)
    if (piece.length < AT_ONCE && bytes < MOST_BYTES) continue
    yield piece
    piece = []
    bytes = 0
  }
  if (piece.length > 0) yield piece
}
