import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { ConfigItem, ConfigKey } from '../../../core/config/state/config-item.ts'
import type { HistoryRecord } from '../../../core/config/state/history-record.ts'
import { msOf } from '../../../core/decisions/stamps.ts'
import { type Service, type ServiceKey, serviceKeyText } from '../../../core/naming/state/service.ts'
import type { StoredInstance } from '../../../core/engine/ports.ts'
import { NotExaminable } from '../../local-file.ts'
import type { StoredPart, StoredSource, StoredTarget, Sums } from '../../stored-data.ts'
import { ConfigNames } from '../history/config-names.ts'
import { itemRow } from '../rows/config-rows.ts'
import { SqliteConnection } from '../database/connection.ts'
import { sumCurrentVersions, writeVersionSums } from '../rows/current-versions.ts'
import {
  BESIDE_A_STORE,
  databasePath,
  ensureDatabaseFile,
  ensureDirectory,
  readMarker,
  refuseUsedDirectory,
  replaceMarker,
  syncPath,
} from '../database/data-directory.ts'
import { APPLICATION_ID, FORMAT, PAGE_BYTES } from '../database/format.ts'
import { renewTotals } from '../rows/instance-totals.ts'
import { instanceText } from '../rows/instance-text.ts'
import { readMeta, writeMeta } from '../rows/meta.ts'
import { RowWriter } from '../rows/row-writer.ts'
import { SCHEMA } from '../database/schema.ts'
import { serviceRow } from '../rows/service-rows.ts'
import { nameText } from '../rows/writes-of-change.ts'
import type { Table } from '../rows/table.ts'
import { type RowOf, type TableName, TABLES } from '../rows/tables.ts'
import { VersionRows } from './version-rows.ts'

const DRAFT = '.copy'
/** The server gives out later times than this one. */
const AHEAD_MS = 1_000

/** The source of the copy, as a half-filled target records it. */
interface Begun {
  readonly source: string
  readonly revision: number
}

/** The interrupted copy in a directory; undefined if there is no such copy. */
export function begunIn(directory: string): Begun | undefined {
  return readMarker(directory)?.copying as Begun | undefined
}

/** Removes the rest of an interrupted copy, so that another copy can begin. */
export function forgetBegun(directory: string): void {
  rmSync(join(directory, DRAFT), { recursive: true, force: true })
  rmSync(join(directory, 'waypost.json'), { force: true })
}

/** A new data directory that is being filled. Its database gets its name when it is whole. */
export class DirectoryTarget implements StoredTarget {
  readonly place: string
  readonly #source: Pick<StoredSource, 'largestStamp'>
  readonly #connection: SqliteConnection
  readonly #names: ConfigNames
  readonly #writers: Partial<Record<TableName, RowWriter>> = {}
  readonly #items = new Map<string, ConfigItem>()
  readonly #withHistory = new Set<string>()
  readonly #services = new Map<string, number>()
  #versions: { readonly key: ConfigKey; readonly rows: VersionRows } | undefined
  #serial: number
  #isOpen = true
  #inTransaction = false
  readonly written: Sums

  /** Makes the directory, or continues a copy of this source there. Throws NotExaminable if it holds another store. */
  constructor(directory: string, source: Pick<StoredSource, 'place' | 'revision' | 'largestStamp'>) {
    this.place = directory
    this.#source = source
    const begun: Begun = { source: source.place, revision: source.revision }
    refuseOther(directory, begun)
    ensureDirectory(directory)
    replaceMarker(directory, { createdMs: Date.now(), copying: begun })
    const draft = join(directory, DRAFT)
    mkdirSync(draft, { recursive: true, mode: 0o700 })
    // The last step of an interrupted copy.
    const path = existsSync(databasePath(directory)) ? databasePath(directory) : databasePath(draft)
    ensureDatabaseFile(path)
    const connection = new SqliteConnection(path)
    this.#connection = connection
    prepare(connection)
    this.#names = new ConfigNames(connection)
    this.written = JSON.parse(readMeta(connection, 'copied') ?? '{}') as Sums
    this.#serial = 0
  }

  skip(part: StoredPart): void {
    if (part.of === 'items') for (const item of part.all) this.#items.set(item.key.text, item)
    if (part.of === 'history') for (const { record } of part.all) this.#withHistory.add(record.key.text)
    if (part.of === 'services')
      for (const { key } of part.all) this.#services.set(serviceKeyText(key), ++this.#serial)
    if (part.of === 'instances') this.#serial += part.all.length
  }

  /** A part is written whole, with its sums, or not at all. A part that ends within an item waits for the next part. */
  write(part: StoredPart, sums: Sums): Promise<void> {
    this.#begin()
    this.#add(part)
    if (part.of === 'history' && !part.isWhole) return Promise.resolve()
    this.#endItem()
    this.#commit(() => writeMeta(this.#connection, 'copied', JSON.stringify(sums)))
    return Promise.resolve()
  }

  complete(): Promise<void> {
    const connection = this.#connection
    this.#begin()
    for (const item of this.#items.values())
      if (!this.#withHistory.has(item.key.text) && !this.#hasVersion(item)) {
        this.#startItem(item.key)
        this.#endItem()
      }
    this.#commit(() => {
      writeVersionSums(connection, sumCurrentVersions(connection))
      renewTotals(connection)
      writeMeta(connection, 'clock_high_ms', String(msOf(this.#source.largestStamp) + AHEAD_MS))
    })
    connection.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    this.close()
    const draft = join(this.place, DRAFT)
    if (!existsSync(databasePath(this.place))) renameSync(databasePath(draft), databasePath(this.place))
    syncPath(databasePath(this.place))
    rmSync(draft, { recursive: true, force: true })
    return Promise.resolve()
  }

  release(): Promise<void> {
    replaceMarker(this.place, { createdMs: readMarker(this.place)?.createdMs })
    return Promise.resolve()
  }

  close(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#connection.close()
  }

  #add(part: StoredPart): void {
    switch (part.of) {
      case 'values':
        for (const { name, value } of part.all) writeMeta(this.#connection, `server:${name}`, value)
        return
      case 'records':
        for (const { recordKind, id, value } of part.all)
          this.#put('record', { recordKind, id, value: JSON.stringify(value) })
        return
      case 'services':
        for (const service of part.all) this.#addService(service)
        return
      case 'instances':
        for (const instance of part.all) this.#addInstance(instance)
        return
      case 'items':
        for (const item of part.all) this.#addItem(item)
        return
      case 'history':
        for (const { record } of part.all) this.#addRecord(record)
        return
      case 'audit':
        for (const event of part.all) this.#put('audit', event)
        return
    }
  }

  #addService(service: Service): void {
    const serial = ++this.#serial
    this.#services.set(serviceKeyText(service.key), serial)
    const stamp = this.#source.largestStamp
    this.#put('service', serviceRow({ kind: 'service-saved', service: { ...service, serial }, stamp }))
  }

  #addInstance({ serviceKey, record, healthy }: StoredInstance): void {
    const serial = ++this.#serial
    const serviceSerial = this.#serialOf(serviceKey)
    this.#put('instance', { serial, serviceSerial, healthy, record: instanceText(record) })
  }

  #addItem(item: ConfigItem): void {
    this.#items.set(item.key.text, item)
    this.#put('config_item', { ...itemRow(item), nameId: this.#names.findOrMake(nameText(item.key)) })
  }

  #addRecord(record: HistoryRecord): void {
    if (this.#versions?.key.text !== record.key.text) {
      this.#endItem()
      this.#startItem(record.key)
    }
    if (this.#versions !== undefined) this.#putVersions(this.#versions.rows.add(record))
  }

  #serialOf(key: ServiceKey): number {
    const serial = this.#services.get(serviceKeyText(key))
    if (serial === undefined)
      throw new Error(
        `The service ${key.groupedName} of an instance is missing. Run \`waypost doctor\` on the source.`,
      )
    return serial
  }

  #startItem(key: ConfigKey): void {
    this.#withHistory.add(key.text)
    const nameId = this.#names.findOrMake(nameText(key))
    this.#versions = { key, rows: new VersionRows(nameId, this.#items.get(key.text)) }
  }

  #endItem(): void {
    if (this.#versions !== undefined) this.#putVersions(this.#versions.rows.end())
    this.#versions = undefined
  }

  /** An interrupted `complete` may have written it. */
  #hasVersion({ historyId }: ConfigItem): boolean {
    return this.#connection.first('SELECT 1 FROM config_revision WHERE id = ?', [historyId]) !== undefined
  }

  #putVersions(rows: ReturnType<VersionRows['end']>): void {
    for (const row of rows) this.#put('config_revision', row)
  }

  #put<T extends TableName>(table: T, row: RowOf<T>): void {
    const writer = (this.#writers[table] ??= new RowWriter(this.#connection, TABLES[table]))
    // Each table has rows of its own: TypeScript does not follow that.
    writer.add((TABLES[table] as Table<RowOf<T>>).encode(row))
  }

  #begin(): void {
    if (!this.#inTransaction) this.#connection.exec('BEGIN IMMEDIATE')
    this.#inTransaction = true
  }

  #commit(last: () => void): void {
    for (const writer of Object.values(this.#writers)) writer?.flush()
    last()
    this.#connection.exec('COMMIT')
    this.#inTransaction = false
  }
}

function refuseOther(directory: string, { source, revision }: Begun): void {
  const begun = begunIn(directory)
  if (begun !== undefined) {
    if (begun.source === source && begun.revision === revision) return
    throw new NotExaminable(
      `The directory ${directory} is half filled by a copy of ${begun.source} at revision ${begun.revision}. ` +
        'Continue that one, or remove the directory.',
    )
  }
  refuseUsedDirectory(directory, BESIDE_A_STORE)
}

function prepare(connection: SqliteConnection): void {
  connection.exec(`PRAGMA page_size = ${PAGE_BYTES}; PRAGMA locking_mode = EXCLUSIVE`)
  connection.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
  if (connection.number('SELECT count(*) FROM sqlite_schema') > 0) return
  connection.transaction(() => {
    connection.exec(SCHEMA)
    connection.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${FORMAT}`)
  })
}
