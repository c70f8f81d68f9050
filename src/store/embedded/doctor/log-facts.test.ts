import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { SqliteConnection } from '../database/connection.ts'
import { PAGE_BYTES } from '../database/format.ts'
import { readLog } from './log-facts.ts'

const FRAME = 24 + PAGE_BYTES
let path: string
let directory: string
let connection: SqliteConnection
let log: Buffer

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'waypost-log-'))
  path = join(directory, 'log')
  const database = join(directory, 'a.db')
  connection = new SqliteConnection(database)
  connection.exec(`PRAGMA page_size = ${PAGE_BYTES}; PRAGMA journal_mode = WAL`)
  connection.exec('PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (a)')
  for (let row = 0; row < 4; row++) connection.run('INSERT INTO t VALUES (?)', [row])
  log = readFileSync(`${database}-wal`)
})
afterEach(() => {
  connection.close()
  rmSync(directory, { recursive: true })
})

function factsOf(bytes: Buffer, frames: number) {
  writeFileSync(path, bytes)
  return readLog(path, frames)
}

test('a whole log has its commits and no tail', () => {
  const frames = (log.length - 32) / FRAME
  expect(frames).toBeGreaterThanOrEqual(5)
  expect(factsOf(log, frames)).toEqual({
    commits: 5,
    pages: new Set([1, 2]),
    tailBytes: 0,
    commitsBehindDamage: 0,
  })
})

test('commits behind the frames that hold are counted, and a cut one is in the tail', () => {
  const facts = factsOf(log.subarray(0, -100), 3)
  expect(facts).toMatchObject({ tailBytes: log.length - 100 - 32 - 3 * FRAME })
  expect(facts.commits + facts.commitsBehindDamage).toBe(5)
})

test('frames of an older generation, which have other salts, are no damage', () => {
  const bytes = Buffer.from(log)
  for (let at = 32 + 3 * FRAME; at < bytes.length; at += FRAME) bytes[at + 8]! ^= 1
  expect(factsOf(bytes, 3).commitsBehindDamage).toBe(0)
})

test.each([0, 31])('a log of %d bytes has no frames', (length) => {
  const facts = { commits: 0, tailBytes: length, commitsBehindDamage: 0 }
  expect(factsOf(log.subarray(0, length), 0)).toMatchObject(facts)
})

test('commits behind a damaged header are counted', () => {
  const bytes = Buffer.from(log)
  bytes[0]! ^= 1
  expect(factsOf(bytes, 0)).toMatchObject({ commits: 0, commitsBehindDamage: 5 })
})
