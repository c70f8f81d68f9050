/** Databases that send without an end, or nothing: a move ends, says why, and keeps its memory. */
import { spawn } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest'
import { Database } from '../../src/move/database/connection.ts'
import type { Waiting } from '../../src/move/waiting.ts'
import { column, EOF, fakeMysql, type FakeSession, greeting, OK, refusal, row } from '../probes/fake-mysql.ts'
import { startMariadb, type TemporaryMariadb } from '../probes/temporary-mariadb.ts'
import { needTool } from '../support/need-tool.ts'
import { sampled } from '../support/sampled.ts'
import { MAIN, runWaypost } from '../support/waypost.ts'
import { schemaOf } from './old-schemas.ts'

const mariadb = needTool('mariadbd', 'mariadb-install-db')
const TEST_MS = 180_000
const silently: Waiting = (_what, work) => work
const PASSWORD = { WAYPOST_MYSQL_PASSWORD: 's' }
/** The bytes of the largest packet: the next one belongs to the same message. */
const FULL = 0xff_ff_ff

/** A row with one cell of 60,000 bytes. */
const LARGE_ROW = Buffer.concat([Buffer.of(0xfc, 0x60, 0xea), Buffer.alloc(60_000, 'x')])

/** The rows of one answer. */
type Answer = readonly [columns: readonly string[], rows: Iterable<Uint8Array>] | 'ok'
type Answering = (sql: string, session: FakeSession) => Answer | Promise<Answer> | undefined

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

/** What is in the way of a socket that is full. */
const drained = ({ stream }: FakeSession): Promise<unknown> =>
  stream.writableNeedDrain ? new Promise((resolve) => stream.once('drain', resolve)) : Promise.resolve()

function* endless(payload: Uint8Array): Generator<Uint8Array> {
  for (;;) yield payload
}

async function reply(session: FakeSession, answer: Answer): Promise<void> {
  if (answer === 'ok') return session.send(OK)
  const [columns, rows] = answer
  session.send(Buffer.of(columns.length), ...columns.map(column), EOF)
  let batch: Uint8Array[] = []
  for (const payload of rows) {
    if (session.stream.destroyed) return
    batch.push(payload)
    if (payload.length < 1_000 && batch.length < 500) continue
    session.send(...batch)
    batch = []
    await drained(session)
  }
  session.send(...batch)
  session.send(EOF)
}

/** A database of a server with nothing in it, in which a query may have another answer. */
async function database(answering: Answering) {
  const server = await fakeMysql(async (session) => {
    session.send(greeting(session.scramble, { method: 'mysql_native_password' }))
    await session.next()
    session.send(OK)
    for (;;) {
      const sql = (await session.next()).subarray(1).toString()
      const answer = await (answering(sql, session) ?? usual(sql))
      await reply(session, answer)
    }
  })
  closing.push(server.close)
  return server
}

function usual(sql: string): Answer {
  if (/^(SET|START)/.test(sql)) return 'ok'
  if (sql.includes('information_schema'))
    return [
      ['t', 'c', 'o'],
      ['id', 'data_id', 'group_id', 'tenant_id', 'content'].map((name) =>
        row('config_info', name, 'utf8mb4_bin'),
      ),
    ]
  if (sql.includes('VERSION()')) return [['v'], [row('8.4.0')]]
  if (sql.includes('COUNT(*) AS n')) return [['n'], [row('1')]]
  return [['id', 'data_id', 'group_id', 'tenant_id'], []]
}

function fileOf(): string {
  return join(mkdtempSync(join(inject('temporaryDirectory'), 'plan-')), 'old.plan')
}

const planFrom = (port: number) =>
  runWaypost(
    ['move', '--from', `mysql://nacos@127.0.0.1:${port}/nacos`, '--plan', fileOf()],
    PASSWORD,
    TEST_MS,
  )

/** Parts of a message that has no end. */
function* endlessPacket(): Generator<Uint8Array> {
  const part = Buffer.alloc(FULL, 'x')
  // The first part begins a cell that says how long it is.
  yield Buffer.concat([Buffer.from('feffffffffffffff0f', 'hex'), part]).subarray(0, FULL)
  yield* endless(part)
}

test('an empty database of the right form is read', { timeout: TEST_MS }, async () => {
  const { port } = await database(() => undefined)
  expect(await planFrom(port)).toMatchObject({ code: 0, stderr: '' })
})

test('a packet that the driver cannot read ends the move', { timeout: TEST_MS }, async () => {
  const { port } = await database(async (sql, session) => {
    if (!sql.includes('information_schema')) return usual(sql)
    // A column without its texts.
    session.send(Buffer.of(1), Buffer.of(255))
    return new Promise<Answer>(() => {})
  })
  const { code, stderr } = await planFrom(port)
  expect([code, stderr.split('\n').filter((line) => line.startsWith('waypost:'))]).toEqual([
    2,
    [expect.stringContaining(`/nacos: `)],
  ])
})

test.each(sampled(['feffffffffffffff0f', 'fe0000000000000010', 'fdffffff', 'fcffff', '04']))(
  'a cell that says more bytes (%s) than it has ends the move',
  { timeout: TEST_MS },
  async (length) => {
    const cut = Buffer.concat([row('1'), Buffer.from(length, 'hex'), Buffer.from('abc')])
    // The driver keeps the last ones while the first ones are read.
    const rows = [...Array.from({ length: 20 }, () => row('1', 'abc')), cut]
    const { port } = await database((sql) =>
      sql.includes('DISTINCT') ? [['tenant_id', 'x'], rows] : undefined,
    )
    const { code, stderr } = await planFrom(port)
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/^waypost: .*no answer: a value is longer.*\n$/),
    ])
  },
)

describe('a move from a database that sends without an end', { timeout: TEST_MS }, () => {
  const endlessAnswers: [string, Answering, RegExp][] = [
    [
      'a cell',
      (sql) => (sql.includes('AS tags') ? [['id', 'data_id'], endlessPacket()] : undefined),
      /more than 83886080 bytes for one row/,
    ],
    [
      'the columns of an answer',
      async (sql, session) => {
        if (!sql.includes('information_schema')) return usual(sql)
        session.send(Buffer.from('feffffffffffffff00', 'hex'))
        const columns = Array.from({ length: 1_000 }, () => column('x'.repeat(200)))
        while (!session.stream.destroyed) {
          session.send(...columns)
          await drained(session)
        }
        return 'ok'
      },
      /more than 83886080 bytes for one row/,
    ],
    [
      'an answer to a setting',
      async (sql, session) => {
        if (!sql.startsWith('SET')) return usual(sql)
        for (const part of endlessPacket()) {
          if (session.stream.destroyed) break
          session.send(part)
          await drained(session)
        }
        return 'ok'
      },
      /more than 83886080 bytes for one row/,
    ],
    [
      'columns of tables',
      (sql) =>
        sql.includes('information_schema') ? [['t', 'c', 'o'], endless(row('t', 'c', 'o'))] : undefined,
      /more than 500000 rows/,
    ],
    [
      'large rows of a small table',
      (sql) => (sql.includes('DISTINCT') ? [['tenant_id'], endless(LARGE_ROW)] : undefined),
      /more than 268435456 bytes/,
    ],
    [
      'items',
      (sql) => (sql.includes('AS tags') ? [['id', 'data_id'], endless(row('1', 'a'))] : undefined),
      /more than 10002 rows/,
    ],
  ]

  test.each(sampled(endlessAnswers))('%s ends, and says why in one line', async (_, answering, reason) => {
    const { port } = await database(answering)
    const { code, stderr } = await planFrom(port)
    expect([code, stderr]).toEqual([2, expect.stringMatching(reason)])
    const lines = stderr.trimEnd().split('\n')
    expect(lines.filter((line) => !/^waypost: (items|history|waiting)/.test(line))).toHaveLength(1)
  })

  test('and counts more than it has, or nothing, is told apart', async () => {
    const { port } = await database((sql) => (sql.includes('COUNT(*) AS n') ? [['n'], []] : undefined))
    expect(await planFrom(port)).toMatchObject({ code: 2, stderr: expect.stringMatching(/counts no rows/) })
  })
})

test('an error of a database is one line', { timeout: TEST_MS }, async () => {
  const forged = 'gone\nwaypost: all is well\r\n\u001b[2J\u2028waypost: so it is'
  for (const at of ['SET', 'information_schema', 'AS tags']) {
    const { port } = await database(async (sql, session) => {
      if (!sql.includes(at)) return usual(sql)
      session.send(refusal(1105, forged))
      await new Promise((resolve) => session.stream.once('close', resolve))
      return 'ok'
    })
    const { code, stderr } = await planFrom(port)
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^waypost: \P{C}*gone\P{C}*\n$/u)])
  }
})

describe('a database that does not answer', { timeout: TEST_MS }, () => {
  test.each(sampled(['SET', 'information_schema', 'AS tags']))('%s is named as waited for', async (at) => {
    const { port } = await database((sql) => (sql.includes(at) ? new Promise(() => {}) : undefined))
    const args = ['move', '--from', `mysql://nacos@127.0.0.1:${port}/nacos`, '--plan', fileOf()]
    const child = spawn(process.execPath, [MAIN, ...args], { env: { ...process.env, ...PASSWORD } })
    closing.push(() => child.kill('SIGKILL'))
    let stderr = ''
    child.stderr.on('data', (text: Buffer) => (stderr += text.toString()))
    await expect
      .poll(() => stderr, { timeout: 60_000 })
      .toMatch(new RegExp(`waypost: waiting for mysql://127.0.0.1:${port}/nacos \\(S`))
  })

  test.each(['SET', 'SELECT', 'a byte at a time'])('in time ends the reading: %s', async (at) => {
    const { port } = await database(async (sql, session) => {
      if (!sql.startsWith(at === 'SET' ? 'SET' : 'SELECT')) return usual(sql)
      if (at === 'a byte at a time') {
        session.stream.write(Buffer.of(0xff, 0xff, 0, 1))
        const dripping = setInterval(() => session.stream.write(Buffer.of(1)), 50)
        closing.push(() => clearInterval(dripping))
      }
      return new Promise<Answer>(() => {})
    })
    process.env['WAYPOST_MYSQL_PASSWORD'] = 's'
    const parts = { flags: {}, waiting: silently, patienceMs: 1_000 }
    const read = async (): Promise<unknown> => {
      const opened = await Database.open(`mysql://nacos@127.0.0.1:${port}/nacos`, parts)
      return opened.rows('SELECT 1')
    }
    await expect(read()).rejects.toThrow(/does not answer within 1 s/)
  })
})

describe.skipIf(mariadb.skip)('a real database', { timeout: TEST_MS }, () => {
  let server: TemporaryMariadb
  beforeAll(async () => {
    process.env['WAYPOST_MYSQL_PASSWORD'] = 's'
    server = await startMariadb(
      [
        "CREATE USER nacos@'127.0.0.1' IDENTIFIED BY 's'",
        "GRANT SELECT ON *.* TO nacos@'127.0.0.1'",
        ...schemaOf('2.1', 'nacos'),
        'CREATE TABLE n (i INT)',
        'INSERT INTO n VALUES (1)',
        ...Array.from({ length: 11 }, () => 'INSERT INTO n SELECT i FROM n'),
        'CREATE TABLE large (content LONGBLOB)',
        "INSERT INTO large VALUES (REPEAT('x', 60 * 1024 * 1024))",
        "INSERT INTO large VALUES (REPEAT('y', 100 * 1024 * 1024))",
      ],
      ['--max-allowed-packet=256M'],
    )
  }, TEST_MS)
  afterAll(async () => server?.stop())

  const opened = async (patienceMs?: number): Promise<Database> => {
    const parts = { flags: {}, waiting: silently, ...(patienceMs !== undefined && { patienceMs }) }
    const database = await Database.open(`mysql://nacos@127.0.0.1:${server.port}/nacos`, parts)
    closing.push(() => database.close())
    return database
  }

  test('gives a cell of 60 MiB, and none of 100 MiB', async () => {
    const database = await opened()
    const [{ content } = {}] = await database.rows("SELECT content FROM large WHERE content LIKE 'x%'")
    expect(content).toHaveLength(60 * 1024 * 1024)
    await expect(database.rows("SELECT content FROM large WHERE content LIKE 'y%'")).rejects.toThrow(
      /more than 83886080 bytes/,
    )
  })

  test('gives rows up to the limit of a small table, and streams more of them', async () => {
    const database = await opened()
    await expect(database.rows('SELECT a.i FROM n a JOIN n b')).rejects.toThrow(/more than 500000 rows/)
    const again = await opened()
    let count = 0
    for await (const _ of again.stream('SELECT a.i FROM n a JOIN n b LIMIT 700000', [], 2_000_000)) count++
    expect(count).toBe(700_000)
    expect(await again.count('n')).toBe(2_048)
  })

  test('that is slow is waited for, and left after its time', async () => {
    expect(await (await opened(60_000)).rows('SELECT SLEEP(1.5) AS s')).toEqual([{ s: '0' }])
    await expect((await opened(8_000)).rows('SELECT SLEEP(1000) AS s')).rejects.toThrow(
      /does not answer within 8 s \(SELECT SLEEP/,
    )
  })

  test('that refuses something says so in one line', async () => {
    const database = await opened()
    await expect(database.rows('SELECT `a\nwaypost: b` FROM n')).rejects.toThrow(
      /^[^\n]*Unknown column[^\n]*$/,
    )
  })
})
