import type { SqlValue } from '../database/connection.ts'

/** The values of one row, in the order of `columnsOf` its table. */
export type Values = readonly SqlValue[]

/**
 * How rows of a table are written, read and checked. `R` is a row with named fields.
 * The row's checksum covers the columns of `checked` and the checksum of the content.
 */
export interface Table<R> {
  readonly name: string
  /** The columns that the checksum covers. */
  readonly checked: readonly string[]
  /** Columns that change without a new checksum. */
  readonly loose: readonly string[]
  /** A column of bytes or NULL. It has a checksum of its own, so that a row can be checked without it. */
  readonly content: string | undefined
  /** The columns that identify a row; of `checked`. */
  readonly key: readonly string[]
  /** The columns that hold a text or NULL. All others hold numbers, except `content`. */
  readonly texts: readonly string[]
  /** Rows are only inserted. In other tables a row replaces the row with the same key. */
  readonly isAppended: boolean
  /** How many rows one INSERT statement takes at most. */
  readonly rowsAtOnce: number
  /** The row's values in the order of `columnsOf`. */
  encode(row: R): Values
  /** The row from such values, which are checked. */
  decode(values: Values): R
  /** One field of the row with these values. */
  field<F extends keyof R>(values: Values, field: F): R[F]
  /** The values with other values in some fields. Cheaper than `decode` and `encode`. */
  replace(values: Values, fields: Partial<R>): Values
}

/** A column whose values are of the type `V` in a row with named fields. */
interface TableColumn<V> {
  readonly name: string
  readonly kind: 'number' | 'text' | 'flag' | 'bytes'
  /** Never there: it carries the type. */
  readonly value?: V
}

type Columns = Readonly<Record<string, TableColumn<unknown>>>

/** A row with named fields, from the columns of its fields. */
type RowWith<C extends Columns> = { readonly [F in keyof C]: C[F] extends TableColumn<infer V> ? V : never }

/** A column of numbers. */
export function number(name: string): TableColumn<number> {
  return { name, kind: 'number' }
}

/** A column of texts. */
export function text<V extends string = string>(name: string): TableColumn<V> {
  return { name, kind: 'text' }
}

/** A column of 0 and 1. */
export function flag(name: string): TableColumn<boolean> {
  return { name, kind: 'flag' }
}

/** The column of the content; the last one of its table. */
export function bytes(name: string): TableColumn<Buffer> {
  return { name, kind: 'bytes' }
}

/** The same column, with NULL allowed. */
export function orNull<V>(column: TableColumn<V>): TableColumn<V | null> {
  return column
}

/**
 * Defines a table by the columns of its fields: checked ones first, then the loose ones, then the content. `key` names
 * the fields that identify a row.
 */
export function defineTable<C extends Columns>(
  name: string,
  columns: C,
  options: {
    key: readonly (keyof C & string)[]
    loose?: readonly (keyof C & string)[]
    isAppended?: boolean
    rowsAtOnce?: number
  },
): Table<RowWith<C>> {
  const { key, loose = [], isAppended = false, rowsAtOnce = 16 } = options
  const all = Object.entries(columns)
  const namesOf = (entries: typeof all) => entries.map(([, column]) => column.name)
  const isContent = (column: TableColumn<unknown>) => column.kind === 'bytes'
  return {
    name,
    checked: namesOf(all.filter(([field, column]) => !loose.includes(field) && !isContent(column))),
    loose: namesOf(all.filter(([field]) => loose.includes(field))),
    content: all.find(([, column]) => isContent(column))?.[1].name,
    key: key.map((field) => columns[field]?.name ?? field),
    texts: namesOf(all.filter(([, column]) => column.kind === 'text')),
    isAppended,
    rowsAtOnce,
    ...codecOf<RowWith<C>>(columns),
  }
}

function codecOf<R>(columns: Columns): Pick<Table<R>, 'encode' | 'decode' | 'field' | 'replace'> {
  const fields = Object.keys(columns)
  const flags = fields.map((_, at) => at).filter((at) => columns[fields[at] ?? '']?.kind === 'flag')
  const places = new Map<PropertyKey, number>(fields.map((field, at) => [field, at]))
  const placeOf = (field: PropertyKey) => places.get(field) ?? fields.length
  const coded = (value: unknown) => (typeof value === 'boolean' ? Number(value) : value) as SqlValue
  return {
    field(values, field) {
      const value = values[placeOf(field)]
      return (flags.includes(placeOf(field)) ? value !== 0 : value) as R[typeof field]
    },
    replace(values, changed) {
      const replaced = [...values]
      for (const [field, value] of Object.entries(changed)) replaced[placeOf(field)] = coded(value)
      return replaced
    },
    encode(row) {
      // A value that cannot be stored stays as it is: the writer refuses it.
      const values: SqlValue[] = []
      for (const field of fields) values.push((row as Record<string, SqlValue>)[field] as SqlValue)
      for (const at of flags) values[at] = Number(values[at])
      return values
    },
    decode(values) {
      const row: Record<string, SqlValue | boolean> = {}
      let at = 0
      for (const field of fields) row[field] = values[at++] as SqlValue
      for (const flagAt of flags) row[fields[flagAt] ?? ''] = values[flagAt] !== 0
      return row as R
    },
  }
}
