import { createConnection } from 'mysql2/promise'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mysqlProbe } from '../../src/probes/mysql-probe.ts'
import type { ProbeResult } from '../../src/probes/conversation.ts'
import { Authority } from '../support/certificates.ts'
import { needTool } from '../support/need-tool.ts'
import { startMariadb, type TemporaryMariadb } from './temporary-mariadb.ts'

const tools = needTool('mariadbd', 'mariadb-install-db')

const SETUP = [
  'CREATE DATABASE w',
  "CREATE USER probe@'%' IDENTIFIED BY 'se cret|:'",
  "CREATE USER operator@'%' IDENTIFIED BY 'o'",
  "GRANT SELECT ON w.* TO probe@'%'",
  "GRANT ALL ON *.* TO operator@'%'",
  "CREATE USER busy@'%' IDENTIFIED BY 'b' WITH MAX_USER_CONNECTIONS 1",
]

describe.skipIf(tools.skip)(
  `a MySQL probe against a real server${tools.skip ? ` (${tools.reason})` : ''}`,
  () => {
    let database: TemporaryMariadb

    beforeAll(async () => {
      database = await startMariadb(SETUP)
    }, 60_000)

    afterAll(() => database?.stop())

    const probe = (
      checker: { user?: string; pwd?: string; cmd?: string },
      timeoutMs = 5000,
    ): Promise<ProbeResult> =>
      mysqlProbe(
        {
          host: '127.0.0.1',
          port: database.port,
          checker: { type: 'MYSQL', user: 'probe', pwd: 'se cret|:', cmd: 'select 1', ...checker },
        },
        timeoutMs,
      )

    const asOperator = async (statement: string): Promise<void> => {
      const connection = await createConnection({
        host: '127.0.0.1',
        port: database.port,
        user: 'operator',
        password: 'o',
      })
      await connection.query(statement)
      await connection.end()
    }

    test.each([
      'select 1',
      '',
      'do 0',
      "show global variables where variable_name='read_only'",
      'select 1 from dual where 0',
    ])('is up if the query %j succeeds', async (cmd) => {
      expect(await probe({ cmd })).toMatchObject({ outcome: 'up', reason: 'query answered' })
    })

    test('is down at once if the server refuses the sign-in or the query', async () => {
      const denied = await probe({ pwd: 'wrong' })
      expect(denied.outcome).toBe('down-now')
      expect(denied.reason).toMatch(/^ER_ACCESS_DENIED/)
      expect(denied.reason).not.toContain('wrong')
      expect(await probe({ cmd: 'select * from nowhere.at_all' })).toMatchObject({ outcome: 'down-now' })
      expect(await probe({ cmd: 'select 1; select 2' })).toMatchObject({ outcome: 'down-now' })
    })

    test('is down, but not at once, while the server is read only and the query checks that', async () => {
      const variable = "show global variables where variable_name='read_only'"
      await asOperator('set global read_only = 1')
      try {
        expect(await probe({ cmd: variable })).toMatchObject({
          outcome: 'down',
          reason: 'read_only is ON: not the primary',
        })
        expect(await probe({ cmd: 'select @@global.read_only' })).toMatchObject({ outcome: 'down' })
        expect(await probe({ cmd: 'select 1' })).toMatchObject({ outcome: 'up' })
      } finally {
        await asOperator('set global read_only = 0')
      }
      expect(await probe({ cmd: variable })).toMatchObject({ outcome: 'up' })
      expect(await probe({ cmd: 'select @@global.read_only' })).toMatchObject({ outcome: 'up' })
    })

    test('too many connections count as down, not as down at once', async () => {
      const held = await createConnection({
        host: '127.0.0.1',
        port: database.port,
        user: 'busy',
        password: 'b',
      })
      try {
        expect(await probe({ user: 'busy', pwd: 'b' })).toMatchObject({ outcome: 'down' })
      } finally {
        await held.end()
      }
    })

    test('a query that takes too long is down after the timeout', async () => {
      expect(await probe({ cmd: 'select sleep(5)' }, 300)).toMatchObject({
        outcome: 'down',
        reason: 'no answer within 300 ms',
      })
    })

    test('the connection of an endless answer is closed', async () => {
      const many = await probe({ cmd: 'select seq from w.seq_1_to_100000000' })
      expect(many).toMatchObject({ outcome: 'up' })
      const wide = await probe({ cmd: "select repeat('x', 4000000)" })
      expect(wide).toMatchObject({ outcome: 'down', reason: 'answer of more than 262144 bytes' })
    })

    test('no connection is left behind', async () => {
      const connection = await createConnection({
        host: '127.0.0.1',
        port: database.port,
        user: 'operator',
        password: 'o',
      })
      const open = async (): Promise<unknown> => {
        const [rows] = await connection.query(
          "select count(*) n from information_schema.processlist where user <> 'operator' and command <> 'Daemon' and info is null",
        )
        return rows
      }
      try {
        await probe({})
        await expect.poll(open, { timeout: 5000 }).toEqual([{ n: 0 }])
      } finally {
        await connection.end()
      }
    })
  },
)

const tlsTools = needTool('mariadbd', 'mariadb-install-db', 'openssl')

describe.skipIf(tlsTools.skip)('a MySQL probe over TLS against a real server', () => {
  let database: TemporaryMariadb
  let authority: Authority

  beforeAll(async () => {
    authority = new Authority()
    const { cert, key } = authority.forServer()
    const setup = [
      "CREATE USER safe@'%' IDENTIFIED BY 's' REQUIRE SSL",
      "CREATE USER free@'%' IDENTIFIED BY 'f'",
    ]
    database = await startMariadb(setup, [`--ssl-cert=${cert}`, `--ssl-key=${key}`])
  }, 60_000)

  afterAll(() => database?.stop())

  const probe = (checker: { user: string; pwd: string; ca?: string }): Promise<ProbeResult> =>
    mysqlProbe(
      { host: '127.0.0.1', port: database.port, checker: { type: 'MYSQL', cmd: 'select 1', ...checker } },
      5000,
    )

  test('signs in where the server requires TLS, with the certificates of the checker', async () => {
    const safe = { user: 'safe', pwd: 's' }
    expect(await probe({ ...safe, ca: authority.ca })).toMatchObject({
      outcome: 'up',
      reason: 'query answered',
    })
    expect((await probe(safe)).reason).toMatch(/^ER_ACCESS_DENIED/)
    expect(await probe({ ...safe, ca: new Authority().ca })).toMatchObject({ outcome: 'down' })
  })

  test('is not used without certificates', async () => {
    expect(await probe({ user: 'free', pwd: 'f' })).toMatchObject({ outcome: 'up', reason: 'query answered' })
  })
})
