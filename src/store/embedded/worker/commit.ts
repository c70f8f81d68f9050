import type { SqliteConnection } from '../database/connection.ts'
import { msOf } from '../../../core/decisions/stamps.ts'
import type { AuditEvents } from '../history/audit-events.ts'
import type { ClockMark } from '../rows/clock-mark.ts'
import type { ConfigNames } from '../history/config-names.ts'
import { readVersionSums, type VersionSums, writeVersionSums } from '../rows/current-versions.ts'
import type { EraserParts } from '../history/clean-history.ts'
import type { HistoryCutter } from '../history/cut-history.ts'
import { type HistorySize, REVISION_BYTES } from '../history/history-size.ts'
import type { HistoryTotals } from '../history/history-totals.ts'
import { keepTotals } from '../rows/instance-totals.ts'
import { writeMeta } from '../rows/meta.ts'
import type { CommitBatch, CommitOutcome, NameText, PutTable, Write } from '../rows/messages.ts'
import { RowReader } from '../rows/row-reader.ts'
import { RowWriter } from '../rows/row-writer.ts'
import { storeFailureOf } from '../database/store-errors.ts'
import type { Values } from '../rows/table.ts'
import { type InstanceRow, TABLES } from '../rows/tables.ts'

const INSTANCES = new RowReader(TABLES.instance)
const INSTANCE = `SELECT ${INSTANCES.columns.join(', ')} FROM instance WHERE serial = ?`

/** Writes commits, each in one transaction. */
export class CommitWriter {
  readonly #connection: SqliteConnection
  readonly #names: ConfigNames
  readonly #writers: Record<PutTable | 'instance' | 'config_revision' | 'config_item', RowWriter>
  readonly #clock: ClockMark
  readonly #audit: AuditEvents
  readonly #size: HistorySize
  readonly #totals: HistoryTotals
  readonly #cutter: HistoryCutter
  /** The items whose history the transaction has enlarged. */
  readonly #grown = new Set<number>()
  #versions: VersionSums

  constructor(
    connection: SqliteConnection,
    { names, clock, audit, size, totals, cutter }: EraserParts & { clock: ClockMark; audit: AuditEvents },
  ) {
    this.#connection = connection
    this.#names = names
    this.#clock = clock
    this.#audit = audit
    this.#size = size
    this.#totals = totals
    this.#cutter = cutter
    this.#writers = {
      service: new RowWriter(connection, TABLES.service),
      instance: new RowWriter(connection, TABLES.instance),
      record: new RowWriter(connection, TABLES.record),
      config_revision: new RowWriter(connection, TABLES.config_revision),
      config_item: new RowWriter(connection, TABLES.config_item),
    }
    this.#versions = readVersionSums(connection)
  }

  /** Writes all groups, or returns the number of the group that cannot be written. Throws `StoreFailure`. */
  commit(batch: CommitBatch): CommitOutcome {
    if (batch.writes.length === 0 && batch.events.length === 0) return undefined
    try {
      this.#transaction(batch, () => this.#writeTogether(batch))
      return undefined
    } catch (error) {
      throwStoreFailure(error)
    }
    return this.#findFailingGroup(batch)
  }

  /** Writes the rows once more, one by one, to find the group with the bad row. */
  #findFailingGroup(batch: CommitBatch): CommitOutcome {
    let group = 0
    try {
      this.#transaction(batch, () => {
        for (; group < batch.ends.length; group++) this.#writeOneByOne(batch, group)
      })
      return undefined
    } catch (error) {
      throwStoreFailure(error)
      // All groups were written: no row caused the failure.
      if (group === batch.ends.length) throw error
      return { failedGroup: group, error: error instanceof Error ? error.message : String(error) }
    }
  }

  #transaction(batch: CommitBatch, write: () => void): void {
    const versionsBefore = this.#versions.copy()
    const sizeBefore = this.#size.total
    this.#grown.clear()
    this.#clock.begin()
    try {
      this.#connection.transaction(() => {
        keepTotals(this.#connection, instancesOf(batch.writes), write)
        this.#cutHistory(batch.revision)
        if (!this.#versions.equals(versionsBefore)) writeVersionSums(this.#connection, this.#versions)
        this.#clock.raise(msOf(batch.revision))
        if (batch.events.length > 0) this.#audit.write(batch.events)
      })
    } catch (error) {
      this.#clock.undo()
      this.#size.undo(sizeBefore)
      this.#totals.reset()
      this.#cutter.reset()
      if (batch.events.length > 0) this.#audit.reset()
      this.#versions = versionsBefore
      this.#names.reset()
      for (const writer of Object.values(this.#writers)) writer.reset()
      throw error
    }
  }

  /** Ids follow from the highest record, which may go with a deleted item. */
  #cutHistory(revision: number): void {
    if (this.#grown.size === 0) return
    if (this.#cutter.cut(this.#grown) > 0) writeMeta(this.#connection, 'revision_floor', String(revision))
    this.#size.write()
  }

  #writeTogether(batch: CommitBatch): void {
    for (const write of batch.writes) this.#write(write, batch.contents)
    this.#flushAll()
  }

  #writeOneByOne({ writes, ends, contents }: CommitBatch, group: number): void {
    for (const write of writes.slice(ends[group - 1] ?? 0, ends[group])) {
      this.#write(write, contents)
      this.#flushAll()
    }
  }

  #flushAll(): void {
    for (const writer of Object.values(this.#writers)) writer.flush()
  }

  /** Order matters within a table only: a writer keeps to it. */
  #write(write: Write, contents: ArrayBuffer): void {
    switch (write[0]) {
      case 'published': {
        const [, name, revision, item, contentAt, contentLength, previousLength] = write
        const content = Buffer.from(contents, contentAt, contentLength)
        const { nameId, id, prevId } = this.#addRevision(name, revision, content)
        this.#versions.move(nameId, prevId ?? 0, id)
        if (prevId !== null) this.#becomesHistory(nameId, prevId, REVISION_BYTES + previousLength)
        if (item !== undefined) this.#addItem(nameId, item)
        return
      }
      case 'recorded': {
        const [, name, revision, contentAt, contentLength] = write
        const { nameId } = this.#addRevision(name, revision, Buffer.from(contents, contentAt, contentLength))
        this.#size.change(nameId, REVISION_BYTES + contentLength)
        this.#grown.add(nameId)
        return
      }
      case 'deleted': {
        const { nameId, prevId } = this.#addRevision(write[1], write[2], null)
        this.#versions.move(nameId, prevId ?? 0, 0)
        this.#becomesHistory(nameId, prevId ?? 0, 2 * REVISION_BYTES + write[3])
        this.#writers.config_item.drop([nameId])
        return
      }
      case 'put':
        this.#writers[write[1]].add(write[2])
        return
      case 'drop':
        this.#writers[write[1]].drop(write[2])
        return
      case 'instance': {
        const [, serial, serviceSerial, healthy, record] = write
        // A new instance is healthy.
        const kept = healthy ?? this.#storedInstance(serial)?.healthy ?? true
        this.#addInstance({ serial, serviceSerial, healthy: kept, record })
        return
      }
      case 'instance-health': {
        const stored = this.#storedInstance(write[1])
        if (stored !== undefined) this.#addInstance({ ...stored, healthy: write[2] })
        return
      }
      case 'instance-gone':
        this.#writers.instance.drop([write[1]])
        return
      default:
        unknownWrite(write)
    }
  }

  /** The revision `id` of an item, and older ones, now belong to history. */
  #becomesHistory(nameId: number, id: number, bytes: number): void {
    this.#size.change(nameId, bytes)
    this.#cutter.noteOlder(nameId, id)
    this.#grown.add(nameId)
  }

  #storedInstance(serial: number): InstanceRow | undefined {
    this.#writers.instance.flush()
    const row = this.#connection.first(INSTANCE, [serial])
    return row === undefined ? undefined : INSTANCES.read(row)
  }

  #addInstance(row: InstanceRow): void {
    this.#writers.instance.add(TABLES.instance.encode(row))
  }

  #addRevision(name: NameText, values: Values, content: Buffer | null) {
    const { config_revision: table } = TABLES
    const nameId = this.#names.findOrMake(name)
    this.#writers.config_revision.add(table.replace(values, { nameId, content }))
    const id = table.field(values, 'id')
    this.#totals.added(nameId, id)
    return { nameId, id, prevId: table.field(values, 'prevId') }
  }

  #addItem(nameId: number, values: Values): void {
    this.#writers.config_item.add(TABLES.config_item.replace(values, { nameId }))
  }
}

/** The serials of the instances that are written or removed. */
function instancesOf(writes: readonly Write[]): number[] {
  const serials: number[] = []
  for (const write of writes) {
    if (write[0] === 'instance' || write[0] === 'instance-health' || write[0] === 'instance-gone')
      serials.push(write[1])
  }
  return serials
}

function throwStoreFailure(error: unknown): void {
  const failure = storeFailureOf(error)
  if (failure !== undefined) throw failure
}

function unknownWrite(write: never): never {
  throw new Error(`The store does not know this write: ${JSON.stringify(write)}`)
}
