import type { SqlValue } from './connection.ts'
import { columnsOf, verifiedRow, type Row, type Table } from './tables.ts'

// The driver ends the whole process when it is given a text that is not UTF-8, as a flipped bit makes it. So it
// never sees a text of the file: what a query reads of one is its bytes in hexadecimal digits. And since the way
// through the driver has its price per value, the texts of a row come as one.

/** Bytes that no UTF-8 has: one between two texts, and one that stands for NULL. */
const BETWEEN = 0xff
const NOTHING = 0xfe

/** Reads whole rows of one table. */
export class RowReader {
  readonly #table: Table
  /** Whether a column of the table is a text, in order. */
  readonly #isText: readonly boolean[]
  /** The expressions that a query has to select; `read` takes their values. The first column stays first if it is a number. */
  readonly columns: readonly string[]

  constructor(table: Table) {
    this.#table = table
    const columns = columnsOf(table)
    this.#isText = columns.map((column) => table.texts.includes(column))
    const others = columns.filter((column) => !table.texts.includes(column))
    this.columns = [
      ...others.map((column) => expressionOf(table, column)),
      `${table.name}.checksum + 0`,
      packedTexts(table.texts.map((column) => `${table.name}.${column}`)),
    ]
  }

  /** The row, in the order of `columnsOf`, from the values of `columns` that begin at `from`. Throws `DamagedRow`. */
  read(values: Row, from = 0): Row {
    const texts = unpackedTexts(String(values[from + this.columns.length - 1]))
    let text = 0
    let other = from
    const row: SqlValue[] = []
    for (const isText of this.#isText) row.push((isText ? texts[text++] : values[other++]) ?? null)
    row.push(values[other] ?? null)
    return verifiedRow(this.#table, row)
  }
}

/** Damage can make anything of a value's type; these make it a number or bytes again, or leave it NULL. */
function expressionOf(table: Table, column: string): string {
  return column === table.content ? `CAST(${table.name}.${column} AS BLOB)` : `${table.name}.${column} + 0`
}

/** The expression by which a query reads columns that hold a text (or the bytes of one) or NULL; see `unpackedTexts`. */
export function packedTexts(columns: readonly string[]): string {
  if (columns.length === 0) return "''"
  const values = columns.map((column) => `ifnull(${column}, x'${NOTHING.toString(16)}')`)
  return `hex(${values.join(` || x'${BETWEEN.toString(16)}' || `)})`
}

/** What the columns of `packedTexts` held. */
export function unpackedTexts(digits: string): (string | null)[] {
  const bytes = Buffer.from(digits, 'hex')
  const texts: (string | null)[] = []
  for (let start = 0; start <= bytes.length;) {
    const found = bytes.indexOf(BETWEEN, start)
    const end = found < 0 ? bytes.length : found
    const isNothing = end === start + 1 && bytes[start] === NOTHING
    texts.push(isNothing ? null : bytes.toString('utf8', start, end))
    start = end + 1
  }
  return texts
}
