import type { RecordKind, RecordRemoved, RecordSaved } from './record-kind.ts'

type RecordChange = RecordSaved | RecordRemoved

/** Reads records of any kind. */
export interface RecordView {
  record<T>(kind: RecordKind<T>, id: string): T | undefined
  /** All records of a kind, in the order in which they were first saved. */
  records<T>(kind: RecordKind<T>): Iterable<readonly [id: string, value: T]>
}

/** A view that notices changes without comparing records. */
export interface VersionedRecords extends RecordView {
  /** A number that every change of a record of this kind raises. */
  recordVersion(kind: RecordKind<unknown>): number
}

/** A read of a decision: one record, or all records of a kind. The decision depends on each. */
export type RecordRead =
  | { readonly of: 'record'; readonly recordKind: string; readonly id: string; readonly found: boolean }
  | { readonly of: 'records'; readonly recordKind: string }

/** Notes which records a decision reads. */
interface RecordReadLog {
  note(read: RecordRead): void
}

/** All records, by kind and id. */
export class RecordTables implements RecordView {
  readonly #tables = new Map<string, Map<string, unknown>>()
  readonly #versions = new Map<string, number>()

  record<T>(kind: RecordKind<T>, id: string): T | undefined {
    return this.#tables.get(kind.name)?.get(id) as T | undefined
  }

  records<T>(kind: RecordKind<T>): Iterable<readonly [id: string, value: T]> {
    return (this.#tables.get(kind.name) as Map<string, T> | undefined) ?? []
  }

  /** How many records of a kind there are. */
  count(kind: RecordKind<unknown>): number {
    return this.#tables.get(kind.name)?.size ?? 0
  }

  /** A number that every change of a record of this kind raises. */
  version(kind: RecordKind<unknown>): number {
    return this.#versions.get(kind.name) ?? 0
  }

  apply(change: RecordChange): void {
    this.#versions.set(change.recordKind, (this.#versions.get(change.recordKind) ?? 0) + 1)
    const table = tableOf(this.#tables, change)
    if (change.kind === 'record-saved') table.set(change.id, change.value)
    else table.delete(change.id)
  }
}

/** The records of a view with the changes of a batch over them. */
export class DraftRecords implements RecordView {
  readonly #base: RecordView
  readonly #log: RecordReadLog | undefined
  /** The records that the batch has changed; undefined: removed. */
  readonly #changed = new Map<string, Map<string, unknown>>()

  /** `log`: notes which records of `base` are read. */
  constructor(base: RecordView, log?: RecordReadLog) {
    this.#base = base
    this.#log = log
  }

  record<T>(kind: RecordKind<T>, id: string): T | undefined {
    const changed = this.#changed.get(kind.name)
    if (changed?.has(id) === true) return changed.get(id) as T | undefined
    const value = this.#base.record(kind, id)
    if (!kind.isLocal)
      this.#log?.note({ of: 'record', recordKind: kind.name, id, found: value !== undefined })
    return value
  }

  *records<T>(kind: RecordKind<T>): Generator<readonly [id: string, value: T]> {
    if (!kind.isLocal) this.#log?.note({ of: 'records', recordKind: kind.name })
    const changed = this.#changed.get(kind.name)
    const left = new Map(changed)
    for (const [id, value] of this.#base.records(kind)) {
      left.delete(id)
      const now = changed?.has(id) === true ? (changed.get(id) as T | undefined) : value
      if (now !== undefined) yield [id, now]
    }
    for (const [id, value] of left) if (value !== undefined) yield [id, value as T]
  }

  /** Whether the batch has changed any record of a kind; with an id: that record. */
  hasChanged({ name }: RecordKind<unknown>, id?: string): boolean {
    const changed = this.#changed.get(name)
    return changed !== undefined && (id === undefined || changed.has(id))
  }

  add(change: RecordChange): void {
    tableOf(this.#changed, change).set(change.id, change.kind === 'record-saved' ? change.value : undefined)
  }
}

function tableOf(tables: Map<string, Map<string, unknown>>, { recordKind }: RecordChange) {
  const known = tables.get(recordKind)
  if (known !== undefined) return known
  const table = new Map<string, unknown>()
  tables.set(recordKind, table)
  return table
}
