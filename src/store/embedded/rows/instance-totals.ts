import { DamagedStore } from '../../local-file.ts'
import type { SqliteConnection } from '../database/connection.ts'
import { readMeta, writeMeta } from './meta.ts'

/**
 * The number of rows of the table `instance`, and the sum of their checksums modulo 2^32. No other row refers to an
 * instance, so only these totals show that a row is lost or out of date.
 */
export interface InstanceTotals {
  readonly rows: number
  readonly checksums: number
}

/** The totals of no rows at all. */
export const NO_INSTANCES: InstanceTotals = { rows: 0, checksums: 0 }

const TOTALS = 'SELECT count(*), ifnull(sum(checksum), 0) FROM instance'
const SOME = 'serial IN (SELECT value FROM json_each(?))'
const TOTALS_OF_SOME = `${TOTALS} WHERE ${SOME}`
const REMOVE_SOME = `DELETE FROM instance WHERE ${SOME}`
const ORPHANS = 'SELECT serial FROM instance WHERE service_serial NOT IN (SELECT serial FROM service)'

/** The totals of two disjoint sets of rows together, or with `sign` -1, of the first without the second. */
export function sumOf(a: InstanceTotals, b: InstanceTotals, sign: 1 | -1 = 1): InstanceTotals {
  return { rows: a.rows + sign * b.rows, checksums: (a.checksums + sign * b.checksums) >>> 0 }
}

/** The totals in a text of `writeTotals`; undefined for other texts. */
export function parsedTotals(text: string): InstanceTotals | undefined {
  const [, rows, checksums] = /^(\d+) (\d+)$/.exec(text) ?? []
  return rows === undefined ? undefined : { rows: Number(rows), checksums: Number(checksums) }
}

/**
 * Runs `write`, which changes only instances with these serials, and updates the stored totals.
 * The transaction is the caller's.
 */
export function keepTotals(
  connection: SqliteConnection,
  serials: readonly number[],
  write: () => void,
): void {
  if (serials.length === 0) return write()
  const values = [JSON.stringify(serials)]
  const before = totalsOf(connection, TOTALS_OF_SOME, values)
  write()
  const after = totalsOf(connection, TOTALS_OF_SOME, values)
  if (isSame(before, after)) return
  writeTotals(connection, sumOf(sumOf(storedTotals(connection), before, -1), after))
}

/** Writes the totals of the present rows. The transaction is the caller's. */
export function renewTotals(connection: SqliteConnection): void {
  writeTotals(connection, totalsOf(connection, TOTALS))
}

/** Throws `LostInstances` if the table does not hold the rows that were written last. */
export function checkTotals(connection: SqliteConnection): void {
  const [found, stored] = [totalsOf(connection, TOTALS), storedTotals(connection)]
  if (!isSame(found, stored)) throw new LostInstances(found.rows, stored.rows)
}

/** Removes the instances of services that do not exist; returns how many. Their rows are sound. */
export function removeOrphans(connection: SqliteConnection): number {
  const serials = connection.all(ORPHANS).flat().map(Number)
  // A start writes nothing if the totals are right.
  if (serials.length === 0) return 0
  const remove = () => void connection.run(REMOVE_SOME, [JSON.stringify(serials)])
  connection.transaction(() => keepTotals(connection, serials, remove))
  return serials.length
}

/** Whether both totals cover the same rows. */
export function isSame(a: InstanceTotals, b: InstanceTotals): boolean {
  return a.rows === b.rows && a.checksums === b.checksums
}

/** Rows of the table `instance` are missing, or are not the rows written last. */
class LostInstances extends DamagedStore {
  constructor(found: number, stored: number) {
    const problem = found === stored ? 'some are not those that were written last' : `${stored} were written`
    super(
      `The table instance is damaged: it has ${found} rows, and ${problem}. ` +
        'Run `waypost doctor` on the data directory, or put back a backup.',
    )
    this.name = 'LostInstances'
  }
}

function totalsOf(
  connection: SqliteConnection,
  query: string,
  values: readonly string[] = [],
): InstanceTotals {
  const [rows, checksums] = connection.first(query, values) ?? []
  return { rows: Number(rows), checksums: Number(checksums) >>> 0 }
}

function storedTotals(connection: SqliteConnection): InstanceTotals {
  return parsedTotals(readMeta(connection, 'instance_totals') ?? '') ?? NO_INSTANCES
}

function writeTotals(connection: SqliteConnection, { rows, checksums }: InstanceTotals): void {
  writeMeta(connection, 'instance_totals', `${rows} ${checksums}`)
}
