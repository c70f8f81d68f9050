import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import type { SqliteConnection } from './connection.ts'
import { openDatabase } from './open-database.ts'

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
