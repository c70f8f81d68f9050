import { once } from 'node:events'
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import type { Outlet } from '../../src/protocols/grpc/connections/client-connection.ts'
import { GrpcServer, type GrpcServerParts } from '../../src/protocols/grpc/transport/grpc-server.ts'
import type { ClientServices } from '../../src/protocols/grpc/transport/call-parts.ts'
import type { Message } from '../../src/protocols/grpc/wire/message-reader.ts'
import { toSend } from '../../src/protocols/grpc/wire/payload.ts'
import { until } from '../interface/client.ts'
import { connectGrpc, frameOf, openCall } from '../support/grpc-client.ts'
import { connectRaw, FRAME, http2Frame, INITIAL_WINDOW, whole } from '../support/raw-http2.ts'

/** Makes the window of a connection larger. */
function window(bytes: number): Buffer {
  const body = Buffer.alloc(4)
  body.writeUInt32BE(bytes)
  return http2Frame(FRAME.window, 0, { body })
}

/** Answers everything with an empty message, and knows every caller who has asked something. */
const ANSWERING: ClientServices = {
  answer: async ({ type }, session) => {
    session.isKnown = true
    return toSend(type, {}, {})
  },
  judge: () => undefined,
  open: () => ({ received: () => undefined, ended: () => undefined }),
}

let server: GrpcServer | undefined
afterEach(() => server?.stop())

async function start(settings: Partial<GrpcServerParts['settings']>, parts: Partial<GrpcServerParts> = {}) {
  server = new GrpcServer({
    services: ANSWERING,
    settings: {
      maxConnections: 100,
      maxConnectionsPerAddress: 0,
      maxBodyMemoryBytes: 64 * 1024,
      requestTimeoutMs: 30_000,
      ...settings,
    },
    tls: undefined,
    isSetUp: () => false,
    wallMs: () => 0,
    monotonicMs: () => 0,
    log: { warn: () => undefined },
    ...parts,
  })
  const port = await server.listen({ host: '127.0.0.1', port: 0 })
  const open = () => connectGrpc({ port }, { grpcPort: port, setup: false })
  return { server, port, open }
}

describe('connections of clients', () => {
  test('beyond the most are closed', async () => {
    const { open, server } = await start({ maxConnections: 2 })
    const first = await open()
    await open()
    await expect(open()).rejects.toThrow(Error)
    expect(server.admission.refused).toBe(1)
    await first.close()
    await until(
      async () => server.admission.size,
      (size) => size === 1,
    )
    await (await open()).close()
  })

  test('beyond the most of an address are closed', async () => {
    const { open } = await start({ maxConnectionsPerAddress: 1 })
    await open()
    await expect(open()).rejects.toThrow(Error)
  })

  test('that set nothing up are closed after a while', async () => {
    const { open, server } = await start({})
    const client = await open()
    server.tick(19_000)
    await client.ask('HealthCheckRequest')
    server.tick(21_000)
    await client.ended
    expect(server.idle).toBe(1)
  })

  test('that do not speak HTTP/2 are closed', async () => {
    const { port, open } = await start({})
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => undefined)
    socket.resume().write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await once(socket, 'close')
    await (await open()).close()
  })
})

describe('requests', () => {
  /** Sends a request of this size, and gives the status of gRPC. */
  async function statusOf(bytes: number, client: Awaited<ReturnType<typeof connectGrpc>>): Promise<string> {
    const stream = openCall(client.session, '/Request/request')
    let status = 'none'
    stream.on('response', (head) => (status = `${head['grpc-status'] ?? status}`))
    stream.on('trailers', (trailers) => (status = `${trailers['grpc-status']}`))
    stream.resume().end(frameOf('SomeRequest', { text: 'x'.repeat(bytes) }))
    await once(stream, 'close')
    return status
  }

  test('that are more than the server may hold are refused, and small ones still answered', async () => {
    const { open } = await start({})
    const client = await open()
    expect(await statusOf(100_000, client)).toBe('8')
    expect(await statusOf(8_000, client)).toBe('0')
    expect(await statusOf(50_000, client)).toBe('0')
    await client.close()
  })

  test('that are begun and small are held within the limit: the oldest of whoever has most are ended', async () => {
    const { open } = await start({ maxBodyMemoryBytes: 1024 * 1024 })
    const clients = [await open(), await open()]
    let ended = 0
    for (const client of clients) {
      expect(await statusOf(1, client)).toBe('0')
      for (let calls = 0; calls < 90; calls++) {
        const stream = openCall(client.session, '/Request/request').on('error', () => undefined)
        stream.on('trailers', () => void ended++)
        stream.on('response', (head) => (ended += head['grpc-status'] === '8' ? 1 : 0))
        stream.resume().write(frameOf('SomeRequest', { text: 'x'.repeat(12_000) }).subarray(0, 10_000))
      }
    }
    // 180 calls of about 18 KB; some 70 have room.
    await until(
      async () => ended,
      (count) => count >= 100,
    )
    expect(await statusOf(1_000, clients[0]!)).toBe('0')
    expect(ended).toBeLessThan(140)
    for (const client of clients) client.session.destroy()
  })

  test('that are begun and not gone on with are ended', async () => {
    const monotonicMs = (): number => performance.now()
    const { open, server } = await start({ requestTimeoutMs: 50 }, { monotonicMs })
    const client = await open()
    const stream = openCall(client.session, '/Request/request')
    stream.resume().write(frameOf('SomeRequest', {}).subarray(0, 7))
    const ticking = setInterval(() => server.tick(monotonicMs()), 100)
    await once(stream, 'close')
    clearInterval(ticking)
    expect((await client.ask('HealthCheckRequest')).type).toBe('HealthCheckRequest')
    await client.close()
  })

  test('of another method are refused', async () => {
    const { open } = await start({})
    const client = await open()
    const stream = client.session.request({ ':method': 'GET', ':path': '/Request/request' })
    const [head] = (await once(stream, 'response')) as [Record<string, unknown>]
    expect(head[':status']).toBe(405)
    await client.close()
  })
})

describe('what clients leave unread', () => {
  /** Asks on a connection that reads nothing: the head of the answer comes, and what it says. */
  async function askDeaf(session: ClientHttp2Session) {
    const stream = openCall(session, '/Request/request')
    stream.end(frameOf('SomeRequest', {}))
    const [head] = (await once(stream, 'response')) as [Record<string, unknown>]
    return { stream, status: head['grpc-status'] }
  }

  const connectDeaf = async (port: number) => {
    const session = connectHttp2(`http://127.0.0.1:${port}`, { settings: { initialWindowSize: 0 } })
    await once(session, 'remoteSettings')
    return session
  }

  /** The size of the next answer, and a server for it. */
  const answering = (maxBodyMemoryBytes: number) =>
    start({ maxBodyMemoryBytes }, { services: { ...ANSWERING, answer: largeAnswer } })
  const largeAnswer = async () => toSend('SomeResponse', {}, { text: 'x'.repeat(40_000) })

  test('is limited: the oldest answer is given up for the next', async () => {
    const { port } = await answering(64 * 1024)
    const session = await connectDeaf(port)
    const first = await askDeaf(session)
    const isGivenUp = new Promise((resolve) => first.stream.on('close', resolve))
    const second = await askDeaf(session)
    expect([first.status, second.status]).toEqual([undefined, undefined])
    await isGivenUp
    expect(second.stream.closed).toBe(false)
    session.destroy()
  })

  test('is limited: a client that may have read nothing of its answers leaves for the next', async () => {
    const { port, open } = await answering(256 * 1024)
    const silent = await connectRaw(port, { settings: [[INITIAL_WINDOW, 1_000_000]] })
    const calls = [1, 3, 5, 7, 9].map((stream) => whole(stream, 'SomeRequest'))
    await silent.send(Buffer.concat([window(1_000_000), ...calls]))
    // Each answer has headers twice.
    await until(
      async () => silent.came.filter((type) => type === FRAME.headers).length,
      (heads) => heads === 10,
    )
    const client = await open()
    await Promise.all(Array.from({ length: 5 }, () => client.ask('SomeRequest')))
    await silent.ended
    await client.close()
  })

  test('is limited: the oldest client with too many pushes is left', async () => {
    const outlets: Outlet[] = []
    const open: ClientServices['open'] = (outlet) => {
      outlets.push(outlet)
      return ANSWERING.open(outlet, undefined as never)
    }
    const { port } = await start({}, { services: { ...ANSWERING, open } })
    const push = (outlet: Outlet) => outlet.send(toSend('SomeRequest', {}, { text: 'x'.repeat(40_000) }))
    const session = await connectDeaf(port)
    const [first, second] = [1, 2].map(() => openCall(session, '/BiRequestStream/requestBiStream'))
    const isLeft = new Promise((resolve) => first!.on('close', resolve))
    await Promise.all([once(first!, 'response'), once(second!, 'response')])
    expect(outlets.map((outlet) => push(outlet))).toEqual([true, true])
    await isLeft
    // Node's client does not stand being destroyed by one of its own events.
    await new Promise((resolve) => setImmediate(resolve))
    expect(second!.closed).toBe(false)
    session.destroy()
  })
})

test('a call that ends while its request waits to be read takes the body away', async () => {
  const asked: Message[] = []
  const answer: ClientServices['answer'] = (message, session) => {
    if (message.type !== 'SlowRequest') return ANSWERING.answer(message, session)
    asked.push(message)
    return new Promise(() => undefined)
  }
  const { open } = await start({}, { services: { ...ANSWERING, answer } })
  const client = await open()
  const stream = openCall(client.session, '/Request/request')
  stream.end(frameOf('SlowRequest', { text: 'x' }))
  await until(
    async () => asked.length,
    (count) => count === 1,
  )
  expect(asked[0]).toMatchObject({ isOver: false, body: { length: 12 } })
  stream.close(8)
  await until(
    async () => asked[0]!.isOver,
    (isOver) => isOver === true,
  )
  expect(asked[0]!.body).toHaveLength(0)
  await client.close()
})

test('a stop ends connections whose clients neither read nor leave', async () => {
  const { open, server } = await start({})
  const client = await open()
  const stream = openCall(client.session, '/Request/request')
  stream.write(frameOf('SomeRequest', {}).subarray(0, 7))
  client.session.on('goaway', () => undefined)
  await Promise.all([server.stop(), client.ended])
})
