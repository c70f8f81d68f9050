import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectGrpc, framed, frameOf, openCall } from '../support/grpc-client.ts'
import { startWaypost, type Waypost } from '../support/waypost.ts'

let server: Waypost
beforeAll(async () => void (server = await startWaypost()))
afterAll(() => server.stop())

/** Sends bytes as a request, and gives the status of gRPC, or without it the status of HTTP. */
async function statusOf(bytes: Buffer, path = '/Request/request'): Promise<string> {
  const client = await connectGrpc(server)
  const stream = openCall(client.session, path)
  let status = 'none'
  stream.on('response', (head) => (status = `${head['grpc-status'] ?? head[':status']}`))
  stream.on('trailers', (trailers) => (status = `${trailers['grpc-status']}`))
  stream.resume().end(bytes)
  await once(stream, 'close')
  // Nothing else on the connection has suffered.
  const { type } = await client.ask('HealthCheckRequest')
  expect(type).toBe('HealthCheckResponse')
  await client.close()
  return status
}

const OK = '0'
const INVALID_ARGUMENT = '3'
const RESOURCE_EXHAUSTED = '8'
const UNIMPLEMENTED = '12'
/** What gRPC says of messages that cannot be parsed, whoever has made them. */
const INTERNAL = '13'

describe('a request', () => {
  test('in one frame is answered', async () => {
    expect(await statusOf(frameOf('HealthCheckRequest', {}))).toBe(OK)
  })

  test('whose frame is cut off is refused', async () => {
    expect(await statusOf(frameOf('HealthCheckRequest', {}).subarray(0, 12))).toBe(INVALID_ARGUMENT)
  })

  test('that is no message of protobuf is refused', async () => {
    expect(await statusOf(framed(Buffer.from('ffffffffff', 'hex')))).toBe(INTERNAL)
  })

  test('of no message is refused', async () => {
    expect(await statusOf(Buffer.alloc(0))).toBe(UNIMPLEMENTED)
  })

  test('of two messages is refused', async () => {
    const frame = frameOf('HealthCheckRequest', {})
    expect(await statusOf(Buffer.concat([frame, frame]))).toBe(UNIMPLEMENTED)
  })

  test('that says it is larger than 10 MiB and a margin is refused before it comes', async () => {
    const head = Buffer.alloc(5)
    head.writeUInt32BE(11 * 1024 * 1024, 1)
    expect(await statusOf(head)).toBe(RESOURCE_EXHAUSTED)
  })

  test('to an unknown path is not found', async () => {
    expect(await statusOf(frameOf('HealthCheckRequest', {}), '/Other/request')).toBe('404')
  })
})
