import { type SqlValue, storable } from '../database/connection.ts'
import type { Table, Values } from './table.ts'
import { crc32 } from 'node:zlib'
import { DamagedStore } from '../../local-file.ts'

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

// A row is covered by two checksums: its own covers the checked columns and the checksum of the content.

/** The facts of a table that checking needs. */
export type CheckedTable = Omit<Table<unknown>, 'encode' | 'decode' | 'field' | 'replace'>

/** The columns of a row's values: first the checked columns, then the loose columns, then the content. */
export function columnsOf({ checked, loose, content }: CheckedTable): string[] {
  return [...checked, ...loose, ...(content === undefined ? [] : [content])]
}

/** The columns of the checksums of a row. */
export function checksumColumnsOf({ content }: CheckedTable): string[] {
  return content === undefined ? ['checksum'] : ['content_checksum', 'checksum']
}

/** The values of a row as they are stored, followed by its checksums. */
export function withChecksums(table: CheckedTable, values: readonly unknown[]): SqlValue[] {
  const row: SqlValue[] = []
  for (const value of values) row.push(storable(value))
  if (table.content === undefined) return [...row, rowChecksum(table, row, [])]
  const content = contentChecksum(row.at(-1))
  return [...row, content, rowChecksum(table, row, [content])]
}

/** The checked values of a row. If `hasContent` is false, the content was not read. Throws `DamagedRow`. */
function verified(
  table: CheckedTable,
  { values, checksums, hasContent }: { values: Values; checksums: Values; hasContent: boolean },
): Values {
  const content = checksums.slice(0, -1)
  const isSound =
    rowChecksum(table, values, content) === checksums.at(-1) &&
    (!hasContent || table.content === undefined || contentChecksum(values.at(-1)) === content[0])
  if (isSound) return values
  throw new DamagedRow(table.name, rowName(table, values), 'its checksum does not fit its contents')
}

/**
 * The CRC-32 of the table's name, the checked columns and the checksum of the content, as JSON. With the name, a row of
 * another table with as many columns never fits.
 */
function rowChecksum(table: CheckedTable, values: Values, content: Values): number {
  return crc32(JSON.stringify([table.name, ...values.slice(0, table.checked.length), ...content]))
}

/** The CRC-32 of a content; null without a content. */
function contentChecksum(content: SqlValue | undefined): number | null {
  if (!Buffer.isBuffer(content)) return null
  // zlib gives an arbitrary result for an empty buffer without memory.
  return content.length > 0 ? crc32(content) : 0
}

function rowName(table: CheckedTable, values: Values): string {
  return table.key.map((column) => String(values[table.checked.indexOf(column)])).join(' ')
}

/** The file does not hold the values that were written. The message names the table, the row and the way out. */
export class DamagedRow extends DamagedStore {
  constructor(table: string, rowName: string, problem: string) {
    super(
      `The row ${rowName} of the table ${table} is damaged: ${problem}. ` +
        'Run `waypost doctor` on the data directory, or put back a backup.',
    )
    this.name = 'DamagedRow'
  }
}
