import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import type { SqliteConnection } from '../database/connection.ts'
import { UNLIMITED_HISTORY } from '../../../core/config/state/history-limits.ts'
import type { EraserParts } from '../history/clean-history.ts'
import { AuditEvents } from '../history/audit-events.ts'
import { ConfigNames } from '../history/config-names.ts'
import { HistoryCutter } from '../history/cut-history.ts'
import { HistoryTotals } from '../history/history-totals.ts'
import { HistorySize } from '../history/history-size.ts'
import { ClockMark } from '../rows/clock-mark.ts'
import { openDatabase } from './open-database.ts'

/** The parts of a database's history, without a limit. */
function historyPartsOf(
  connection: SqliteConnection,
  limits = UNLIMITED_HISTORY,
  names = new ConfigNames(connection),
): EraserParts {
  const size = new HistorySize(connection)
  const totals = new HistoryTotals(connection)
  return { names, size, totals, cutter: new HistoryCutter(connection, { size, totals }, limits) }
}

/** The parts of a writer of commits. */
export function commitPartsOf(connection: SqliteConnection, names?: ConfigNames) {
  const history = historyPartsOf(connection, undefined, names)
  return { ...history, clock: new ClockMark(connection), audit: new AuditEvents(connection) }
}

/** Gives each test of the file that calls it an empty database of its own. */
export function temporaryDatabase(): () => SqliteConnection {
  let directory: string
  let connection: SqliteConnection
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'waypost-database-'))
    connection = openDatabase(directory)
  })
  afterEach(() => {
    connection.close()
    rmSync(directory, { recursive: true, force: true })
  })
  return () => connection
}
