/** The server's own HTTP/2 at the real port. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WIDE_WINDOW } from '@waypost/http2/flow-control'
import { RESERVED_WINDOW } from '@waypost/http2/outgoing'
import { until } from '../interface/client.ts'
import { connectGrpc, frameOf } from '../support/grpc-client.ts'
import {
  begin,
  connectRaw,
  callTo,
  END_STREAM,
  FRAME,
  goAway,
  http2Frame,
  type RawConnection,
  setup,
  uint32,
  whole,
} from '../support/raw-http2.ts'
import { startWaypost, type Waypost } from '../support/waypost.ts'

const ITEM = { dataId: 'large', group: 'G', tenant: '' }
const LARGE_BYTES = 10 * 1024 * 1024

let server: Waypost
beforeAll(async () => void (server = await startWaypost()))
afterAll(() => server.stop())

/** The bytes of DATA that came on a stream. */
const bytesOn = ({ frames }: RawConnection, id: number): number =>
  frames.reduce(
    (sum, { type, stream, body }) => sum + (type === FRAME.data && stream === id ? body.length : 0),
    0,
  )

const credit = (stream: number, bytes: number): Buffer =>
  http2Frame(FRAME.window, stream, { body: uint32(bytes) })

test('an answer of 10 MiB to a client that reads slowly is passed by a health check, and comes as a whole', async () => {
  const writer = await connectGrpc(server)
  await writer.ask('ConfigPublishRequest', { ...ITEM, content: 'x'.repeat(LARGE_BYTES) })
  await writer.close()
  const client = await connectRaw(server.port + 1_000)
  await client.send(Buffer.concat([setup(1), whole(3, 'ConfigQueryRequest', ITEM), credit(3, 2 ** 30)]))
  // It has used the window of the connection but for what is reserved, and the client gives no more.
  await until(
    async () => bytesOn(client, 3),
    (bytes) => bytes === 65_535 - RESERVED_WINDOW,
  )
  await client.send(whole(5, 'HealthCheckRequest'))
  await client.answered(5)
  expect(bytesOn(client, 5)).toBeGreaterThan(50)
  expect(bytesOn(client, 3)).toBe(65_535 - RESERVED_WINDOW)
  await client.send(credit(0, 2 ** 30))
  await client.answered(3)
  expect(bytesOn(client, 3)).toBeGreaterThan(LARGE_BYTES)
  client.socket.destroy()
})

test('a large publish gets a wide window once its caller may send it, and no caller gets it before', async () => {
  const client = await connectRaw(server.port + 1_000)
  const message = frameOf('ConfigPublishRequest', { ...ITEM, content: 'y'.repeat(LARGE_BYTES / 20) })
  const pieceOf = (from: number): Buffer => message.subarray(from, from + 16_000)
  const credited = (): number[] =>
    client.frames
      .filter(({ type, stream }) => type === FRAME.window && stream === 3)
      .map(({ body }) => body.readUInt32BE(0))
  await client.send(Buffer.concat([setup(1), begin(3), http2Frame(FRAME.data, 3, { body: pieceOf(0) })]))
  await client.settled()
  expect(credited()).toEqual([])
  await client.send(http2Frame(FRAME.data, 3, { body: pieceOf(16_000) }))
  await until(
    async () => credited(),
    (found) => found.includes(WIDE_WINDOW - 65_535),
  )
  for (let from = 32_000; from < message.length; from += 16_000)
    await client.send(http2Frame(FRAME.data, 3, { body: pieceOf(from) }))
  await client.send(http2Frame(FRAME.data, 3, { flags: END_STREAM }))
  await client.answered(3)
  const reader = await connectGrpc(server)
  expect((await reader.ask('ConfigQueryRequest', ITEM)).body['content']).toBe('y'.repeat(LARGE_BYTES / 20))
  await reader.close()
  client.socket.destroy()
})

test('a call that is not gRPC is answered once its small body has come, and a large body is not read', async () => {
  const client = await connectRaw(server.port + 1_000)
  const head = callTo('/Request/request', 'text/plain')
  const piece = (stream: number, bytes: number, flags = 0): Buffer =>
    http2Frame(FRAME.data, stream, { flags, body: Buffer.alloc(bytes) })
  const typesOn = (id: number): number[] =>
    client.frames.filter(({ stream }) => stream === id).map(({ type }) => type)
  await client.send(Buffer.concat([begin(1, head), begin(3, head), piece(1, 1_000), piece(3, 9_000)]))
  await client.settled()
  expect([typesOn(1), typesOn(3)]).toEqual([[], []])
  await client.send(Buffer.concat([piece(1, 0, END_STREAM), piece(3, 9_000)]))
  await client.settled()
  // The reset leaves behind the answer to the first ping.
  await client.settled()
  expect([typesOn(1), typesOn(3)]).toEqual([[FRAME.headers], [FRAME.headers, FRAME.reset]])
  await client.send(begin(5, callTo('/Other/stream', 'application/grpc+json')))
  await client.settled()
  await client.settled()
  expect(typesOn(5)).toEqual([FRAME.headers, FRAME.reset])
  client.socket.destroy()
})

test('limits that clients meet are counted by their reasons', async () => {
  const metric = async (): Promise<string> => {
    const text = await (await fetch(`${server.url}/metrics`)).text()
    return /waypost_grpc_http2_limits_total\{reason="pings"\} (\d+)/.exec(text)?.[1] ?? ''
  }
  expect(await metric()).toBe('0')
  const client = await connectRaw(server.port + 1_000)
  const pings = Array.from({ length: 300 }, () => http2Frame(FRAME.ping, 0, { body: Buffer.alloc(8) }))
  await client.send(Buffer.concat(pings))
  await client.ended
  // ENHANCE_YOUR_CALM, and why: the last frame.
  expect(client.frames.at(-1)!.body.readUInt32BE(4)).toBe(0xb)
  await until(metric, (count) => count === '1')
})

test('a client that says it leaves is answered, and its connection ends with it', async () => {
  const client = await connectRaw(server.port + 1_000)
  await client.send(Buffer.concat([setup(1), whole(3, 'HealthCheckRequest'), goAway(0)]))
  await client.answered(3)
  expect(client.socket.destroyed).toBe(false)
  client.socket.end()
  await client.ended
})
