/** What no library sends: frames of HTTP/2 that exhaust a server. */
import { readFileSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { until } from '../interface/client.ts'
import { connectGrpc, type GrpcClient } from '../support/grpc-client.ts'
import { startWaypost, type Waypost } from '../support/waypost.ts'
import {
  begin,
  CALL,
  connectRaw,
  field,
  FRAME,
  http2Frame,
  type RawConnection,
  reset,
  whole,
} from '../support/raw-http2.ts'

let server: Waypost
let bystander: GrpcClient
const open: RawConnection[] = []
beforeAll(async () => {
  server = await startWaypost({ settings: { 'log-level': 'warn' } })
  bystander = await connectGrpc(server)
})
afterEach(async () => {
  for (const { socket } of open.splice(0)) socket.destroy()
  expect((await bystander.ask('HealthCheckRequest')).type).toBe('HealthCheckResponse')
  expect(server.output().replaceAll(/.*the event loop stood still.*\n/g, '')).not.toMatch(
    /"level":(40|50|60)/,
  )
})
afterAll(async () => {
  await bystander.close()
  await server.stop()
})

async function connected(): Promise<RawConnection> {
  const connection = await connectRaw(server.port + 1_000, { settings: [] })
  open.push(connection)
  return connection
}

const times = (count: number, make: (index: number) => Buffer): Buffer =>
  Buffer.concat(Array.from({ length: count }, (_, index) => make(index)))

/** The ids of streams that a client opens. */
const odd = (index: number): number => 2 * index + 1

function residentBytes(): number {
  const status = readFileSync(`/proc/${server.pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1024
}

// Every other frame that ends a connection is in packages/http2.
test.each<[string, Buffer]>([
  [
    'opens and resets thousands of requests',
    times(5_000, (index) => Buffer.concat([begin(odd(index)), reset(odd(index))])),
  ],
  [
    'sends headers without end',
    Buffer.concat([
      http2Frame(FRAME.headers, 1, { body: CALL.request }),
      times(5_000, () => http2Frame(FRAME.continuation, 1, { body: field('x-more', 'x'.repeat(100)) })),
    ]),
  ],
])('a connection is ended that %s', async (_, bytes) => {
  const connection = await connected()
  await connection.send(bytes)
  await until(async () => connection.socket.closed || connection.came.includes(FRAME.goAway), Boolean)
})

test('nothing comes of priorities of streams that are not there', async () => {
  const connection = await connected()
  const priority = (index: number): Buffer =>
    http2Frame(FRAME.priority, odd(index), { body: Buffer.from('0000000010', 'hex') })
  await connection.send(times(5_000, priority))
  await connection.send(whole(20_001, 'ServerCheckRequest'))
  // Headers, the message, and the trailers.
  await until(
    async () => connection.came.filter((type) => type === FRAME.headers).length,
    (heads) => heads >= 2,
  )
})

test('a client that pings and reads nothing does not fill the memory', async () => {
  const before = residentBytes()
  const connection = await connected()
  connection.socket.pause()
  const pings = times(10_000, () => http2Frame(FRAME.ping, 0, { body: Buffer.alloc(8) }))
  for (let count = 0; count < 20 && connection.socket.writable; count++)
    await Promise.race([connection.send(pings), new Promise((resolve) => setTimeout(resolve, 50))])
  expect(residentBytes() - before).toBeLessThan(60 * 1024 * 1024)
})

test('connections that are closed by half leave at once', async () => {
  const connections = await Promise.all(Array.from({ length: 20 }, () => connected()))
  await connections[0]!.send(begin(1))
  for (const { socket } of connections) socket.end()
  await Promise.all(connections.map(({ ended }) => ended))
})

test('a flood of connections leaves room for others, and its memory', async () => {
  const before = residentBytes()
  const connections = await Promise.all(Array.from({ length: 1_000 }, () => connected()))
  expect((await bystander.ask('HealthCheckRequest')).type).toBe('HealthCheckResponse')
  for (const { socket } of connections) socket.destroy()
  expect(residentBytes() - before).toBeLessThan(100 * 1024 * 1024)
})
