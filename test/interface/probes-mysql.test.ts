import { createServer } from 'mysql2'
import type { AddressInfo, Server } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hostsOf, serverForThisFile, unique, until } from './client.ts'

/** The server side of the package, which its declarations lack. */
interface MysqlServer {
  _server: Server
  listen(port: number, host: string, backlog: undefined, listening: () => void): void
  close(): void
}

interface MysqlConnection {
  on(event: string, listener: (sql: string) => void): void
  serverHandshake(welcome: object): void
  writeOk(): void
  writeError(error: object): void
}

const listenFor = createServer as unknown as (serve: (connection: MysqlConnection) => void) => MysqlServer

const waypost = serverForThisFile()
const asked: string[] = []
const users: string[] = []
let answers = true
let mysql: MysqlServer
let port = 0

/** Greets like MySQL 8, lets the user `probe` in, and answers every query with OK while `answers` is true. */
function serve(connection: MysqlConnection): void {
  const welcome = {
    protocolVersion: 10,
    serverVersion: '8.0.0',
    connectionId: 1,
    statusFlags: 2,
    characterSet: 33,
    capabilityFlags: 0xff_ff_ff & ~0x8_00,
    authCallback: ({ user }: { user: string }, done: (_: null, refusal?: object) => void) => {
      users.push(user)
      done(null, user === 'probe' ? undefined : { message: 'who are you', code: 1045 })
    },
  }
  connection.serverHandshake(welcome)
  connection.on('query', (sql) => {
    asked.push(sql)
    if (answers) connection.writeOk()
    else connection.writeError({ message: 'no such table', code: 1146 })
  })
  connection.on('error', () => {})
}

beforeAll(async () => {
  mysql = listenFor(serve)
  await new Promise<void>((resolve) => mysql.listen(0, '127.0.0.1', undefined, resolve))
  port = (mysql._server.address() as AddressInfo).port
  const entries = { checkTimes: '1', mysqlHealthParams: '{"max":2000,"min":2000,"factor":0.5}' }
  for (const [entry, value] of Object.entries(entries))
    expect((await waypost.svc.put('/ns/operator/switches', { entry, value })).text).toBe('ok')
})

afterAll(() => mysql.close())

async function probedAs(user: string): Promise<string> {
  const serviceName = unique('mysql')
  await waypost.svc.post('/ns/instance', { serviceName, ip: '127.0.0.1', port, ephemeral: false })
  const healthChecker = JSON.stringify({ type: 'MYSQL', user, pwd: 'secret', cmd: `select '${serviceName}'` })
  const cluster = { serviceName, clusterName: 'DEFAULT', checkPort: 1, useInstancePort4Check: true }
  expect((await waypost.svc.put('/ns/cluster', { ...cluster, healthChecker })).text).toBe('ok')
  return serviceName
}

const healthBecomes = (serviceName: string, healthy: boolean) =>
  until(
    () => hostsOf(waypost.svc, { serviceName }),
    ([host]) => host?.healthy === healthy,
    30_000,
  )

test.concurrent('an instance whose MySQL answers the query is healthy, and one whose query fails is not', async () => {
  const serviceName = await probedAs('probe')
  await until(
    async () => asked.join(),
    (sql) => sql.includes(serviceName),
    30_000,
  )
  expect(users).toContain('probe')
  expect(await hostsOf(waypost.svc, { serviceName })).toMatchObject([{ healthy: true }])
  answers = false
  await healthBecomes(serviceName, false)
  answers = true
  await healthBecomes(serviceName, true)
}, 60_000)

test.concurrent('an instance whose MySQL refuses the user is not healthy', async () => {
  const serviceName = await probedAs('stranger')
  await healthBecomes(serviceName, false)
})
