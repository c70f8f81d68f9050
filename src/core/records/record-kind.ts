/**
 * A kind of small records: its name, and how a stored record is read. State, batches, stores, doctor, backup
 * and metrics treat all kinds alike. See `docs/recipes/add-a-record.md`.
 */
export interface RecordKind<T> {
  /** Lower case, words joined by hyphens. Stores keep it, so it never changes. */
  readonly name: string
  /** Records of this kind are known to this server only, until it stops, and are never stored. */
  readonly isLocal: boolean
  /** No decision reads all records of this kind: so a shared store need not compare all of the kind. */
  readonly isReadOneByOne?: boolean
  /**
   * Values may be as large as a content. The id of such a record is the stamp of the change that saves it, which no
   * other change has. It is removed, and never saved again.
   */
  readonly isLarge?: boolean
  /** It helps to sign in, or to find out a password: a store of several servers can seal it. */
  readonly isSecret?: boolean
  /** The value of a stored record, from its JSON. Throws an Error with the reason. */
  readonly decode: (json: unknown, id: string) => T
}

/** A record as a store gives it. */
export interface StoredRecord {
  readonly recordKind: string
  /** Names the record within its kind. */
  readonly id: string
  /** The result of `decode` of its kind. */
  readonly value: unknown
}

/** A small record was saved, new or changed: its whole value (`RecordKind`). */
export interface RecordSaved {
  readonly kind: 'record-saved'
  /** The name of its kind. */
  readonly recordKind: string
  readonly id: string
  /** Plain JSON data; `savedValue` gives it with its type. */
  readonly value: unknown
  readonly stamp: number
}

/** A small record is gone. */
export interface RecordRemoved {
  readonly kind: 'record-removed'
  readonly recordKind: string
  readonly id: string
  readonly stamp: number
}

const KINDS = new Map<string, RecordKind<unknown>>()

/** Defines a kind of records. Their values are plain JSON data. Throws if the name is taken. */
export function defineRecordKind<T>(
  name: string,
  decode: RecordKind<T>['decode'],
  {
    isLocal = false,
    isReadOneByOne = false,
    isLarge = false,
    isSecret = false,
  }: Partial<Pick<RecordKind<T>, 'isLocal' | 'isReadOneByOne' | 'isLarge' | 'isSecret'>> = {},
): RecordKind<T> {
  if (KINDS.has(name)) throw new Error(`There are two kinds of records called ${name}`)
  const kind = { name, decode, isLocal, isReadOneByOne, isLarge, isSecret }
  KINDS.set(name, kind)
  return kind
}

/** The kind of that name. */
export function recordKindNamed(name: string): RecordKind<unknown> | undefined {
  return KINDS.get(name)
}

/** Whether records of a kind are never stored. */
export function isLocalRecord({ recordKind }: { recordKind: string }): boolean {
  return KINDS.get(recordKind)?.isLocal === true
}

/** The change that saves a record. */
export function recordSaved<T>(
  kind: RecordKind<T>,
  { id, value, stamp }: { id: string; value: T; stamp: number },
): RecordSaved {
  return { kind: 'record-saved', recordKind: kind.name, id, value, stamp }
}

/** The change that removes a record. */
export function recordRemoved(kind: RecordKind<unknown>, id: string, stamp: number): RecordRemoved {
  return { kind: 'record-removed', recordKind: kind.name, id, stamp }
}
