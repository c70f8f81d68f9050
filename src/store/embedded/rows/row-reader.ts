import type { SqlValue } from '../database/connection.ts'
import { checksumColumnsOf, columnsOf, type CheckedTable, verified } from './checked-row.ts'
import type { Table, Values } from './table.ts'

// The driver ends the whole process when it reads a text that is not UTF-8, such as after a flipped bit. So queries return
// the bytes of texts as hexadecimal digits. Each value that crosses the driver costs time, so a row's texts come as one.

/** Bytes that UTF-8 does not have, for the border of two texts and for NULL. */
const BETWEEN = 0xff
const NOTHING = 0xfe

/** Reads rows of one table by queries of its own. */
export class RowReader<R> {
  readonly #table: Table<R>
  readonly #hasContent: boolean
  /** Whether a column of the values is a text, in order. */
  readonly #isText: readonly boolean[]
  /** How many of the columns read are numbers or content. */
  readonly #others: number
  /** The expressions that a query selects; `read` takes their values. The first column stays first if it is a number. */
  readonly columns: readonly string[]

  /** `as` is the alias of the table in the query. With `content: false` the content is not read and is null. */
  constructor(table: Table<R>, { as = table.name, content = true }: { as?: string; content?: boolean } = {}) {
    this.#table = table
    this.#hasContent = content
    const columns = columnsOf(table).filter((column) => content || column !== table.content)
    this.#isText = columns.map((column) => table.texts.includes(column))
    const others = columns.filter((column) => !table.texts.includes(column))
    this.#others = others.length
    this.columns = [
      ...others.map((column) => expressionOf(table, `${as}.${column}`)),
      ...checksumColumnsOf(table).map((column) => `${as}.${column} + 0`),
      packedTexts(table.texts.map((column) => `${as}.${column}`)),
    ]
  }

  /** The row from the values of `columns` that begin at `from`. Throws `DamagedRow`. */
  read(read: readonly SqlValue[], from = 0): R {
    return this.#table.decode(this.values(read, from))
  }

  /** As `read`, but the values of the row instead of named fields, to be sent somewhere. */
  values(read: readonly SqlValue[], from = 0): Values {
    const textsAt = from + this.columns.length - 1
    const texts = unpackedTexts(String(read[textsAt]))
    let text = 0
    let other = from
    const values: SqlValue[] = []
    for (const isText of this.#isText) values.push((isText ? texts[text++] : read[other++]) ?? null)
    if (!this.#hasContent) values.push(null)
    const checksums = read.slice(from + this.#others, textsAt)
    return verified(this.#table, { values, checksums, hasContent: this.#hasContent })
  }
}

/** Damage can make anything of a value's type; these make it a number or bytes again, or leave it NULL. */
function expressionOf({ content }: CheckedTable, column: string): string {
  return column.endsWith(`.${content}`) ? `CAST(${column} AS BLOB)` : `${column} + 0`
}

/** The expression by which a query reads columns that hold a text (or the bytes of one) or NULL; see `unpackedTexts`. */
function packedTexts(columns: readonly string[]): string {
  if (columns.length === 0) return "''"
  const values = columns.map((column) => `ifnull(${column}, x'${NOTHING.toString(16)}')`)
  return `hex(${values.join(` || x'${BETWEEN.toString(16)}' || `)})`
}

/** The texts in the value of `packedTexts`. */
function unpackedTexts(digits: string): (string | null)[] {
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
