/** Calls that end in any way at any moment. The server is the built one: these tests judge whatever speaks HTTP/2 in it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectGrpc, framed, frameOf } from '../support/grpc-client.ts'
import {
  begin,
  callTo,
  connectRaw,
  END_HEADERS,
  END_STREAM,
  field,
  FRAME,
  goAway,
  http2Frame,
  INITIAL_WINDOW,
  type RawConnection,
  reset,
  setup,
  uint32,
  whole,
} from '../support/raw-http2.ts'
import { startWaypost, type Waypost } from '../support/waypost.ts'

let server: Waypost
let bystander: RawConnection
let lastId = 1
beforeAll(async () => {
  server = await startWaypost({ settings: { 'log-level': 'warn', 'request-timeout': '2s' } })
  bystander = await connectRaw(server.port + 1_000)
  // The window of a connection is only enough for some hundred answers.
  await bystander.send(
    Buffer.concat([http2Frame(FRAME.window, 0, { body: uint32(1_000_000_000) }), setup(lastId)]),
  )
})
afterAll(async () => {
  bystander.socket.destroy()
  await server.stop()
})

/** The same process answers proper calls, on a connection that was there before. */
async function answers(): Promise<boolean> {
  lastId += 2
  await bystander.send(whole(lastId, 'HealthCheckRequest'))
  await bystander.answered(lastId)
  return !bystander.socket.destroyed
}

/** The stream of the call; the stream of the setup has 1. */
const ID = 3
const NOTHING = Buffer.alloc(0)
const MESSAGE = frameOf('HealthCheckRequest', { requestId: '1' })
const data = (body: Buffer, flags = 0): Buffer => http2Frame(FRAME.data, ID, { flags, body })
const more = (flags: number): Buffer => http2Frame(FRAME.headers, ID, { flags, body: field('x-more', 'a') })

/** What was sent of a call before something ends it, by the header block of the call. */
const STATES: Readonly<Record<string, (head: Buffer) => Buffer[]>> = {
  'no data': (head) => [begin(ID, head)],
  'half a message': (head) => [begin(ID, head), data(MESSAGE.subarray(0, 20))],
  'half a head of a message': (head) => [begin(ID, head), data(MESSAGE.subarray(0, 3))],
  'a whole message': (head) => [begin(ID, head), data(MESSAGE)],
  'two messages': (head) => [begin(ID, head), data(Buffer.concat([MESSAGE, MESSAGE]))],
  'a message, and half of another': (head) => [begin(ID, head), data(MESSAGE), data(MESSAGE.subarray(0, 9))],
  'a message that is none': (head) => [begin(ID, head), data(framed(Buffer.from('ffffffffff', 'hex')))],
  'all of it': (head) => [begin(ID, head), data(MESSAGE, END_STREAM)],
  'all of it, and no data': (head) => [
    http2Frame(FRAME.headers, ID, { flags: END_HEADERS | END_STREAM, body: head }),
  ],
  'all of it, in two messages': (head) => [begin(ID, head), data(MESSAGE), data(MESSAGE, END_STREAM)],
  'headers that are not ended': (head) => [http2Frame(FRAME.headers, ID, { body: head })],
  'headers that go on and are not ended': (head) => [
    http2Frame(FRAME.headers, ID, { body: head.subarray(0, 20) }),
    http2Frame(FRAME.continuation, ID, { body: head.subarray(20) }),
  ],
  'headers in two frames': (head) => [
    http2Frame(FRAME.headers, ID, { body: head.subarray(0, 20) }),
    http2Frame(FRAME.continuation, ID, { flags: END_HEADERS, body: head.subarray(20) }),
  ],
  trailers: (head) => [begin(ID, head), data(MESSAGE), more(END_HEADERS | END_STREAM)],
  'trailers before data': (head) => [begin(ID, head), more(END_HEADERS | END_STREAM)],
  'trailers that are not ended': (head) => [begin(ID, head), data(MESSAGE), more(END_STREAM)],
  'trailers that do not end the call': (head) => [begin(ID, head), data(MESSAGE), more(END_HEADERS)],
}

/** The first 14 codes have names (RFC 9113), from NO_ERROR to HTTP_1_1_REQUIRED. */
const CODES = [...Array.from({ length: 14 }, (_, code) => code), 0xdeadbeef]

/** What ends a call, or its connection: bytes, or what is done with the connection. */
type End = Buffer | ((connection: RawConnection) => unknown)

const ENDS: Readonly<Record<string, End>> = {
  ...Object.fromEntries(CODES.map((code) => [`a reset with ${code}`, reset(ID, code)])),
  'two resets': Buffer.concat([reset(ID, 0), reset(ID, 0)]),
  'a reset and more data': Buffer.concat([reset(ID, 0), data(MESSAGE, END_STREAM)]),
  'GOAWAY without an error': goAway(0),
  'GOAWAY with an error': goAway(2),
  'GOAWAY with an unknown error': goAway(0xdeadbeef),
  'a window that is too large': http2Frame(FRAME.window, ID, { body: uint32(0x7fffffff) }),
  'half a frame': reset(ID).subarray(0, 11),
  'the end of the connection by half': ({ socket }) => socket.end(),
  'the end of the connection': ({ socket }) => socket.destroy(),
  'a reset of TCP': (connection) => connection.reset(),
}

const PATHS = ['/Request/request', '/BiRequestStream/requestBiStream', '/Other/path']

/** Ends a call: in the same packet as what was sent of it, or later. */
async function endCall(connection: RawConnection, sent: Buffer, end: End): Promise<void> {
  if (Buffer.isBuffer(end)) return connection.send(Buffer.concat([sent, end]))
  await connection.send(sent)
  end(connection)
}

/** Lets the server receive what was sent. A ping between the frames of headers would be an error of its own. */
async function received(connection: RawConnection, state: string): Promise<void> {
  if (state.includes('not ended')) await new Promise((resolve) => setTimeout(resolve, 5))
  else await connection.settled()
}

async function expectWell(pid: number): Promise<void> {
  const client = await connectGrpc(server)
  expect((await client.ask('HealthCheckRequest')).type).toBe('HealthCheckResponse')
  await client.close()
  expect(process.kill(pid, 0)).toBe(true)
  expect(server.output().replaceAll(/.*the event loop stood still.*\n/g, '')).not.toMatch(
    /"level":(40|50|60)/,
  )
}

describe.each(PATHS)('a call to %s', (path) => {
  test.each(Object.keys(STATES))('that has sent %s may end in any way', async (state) => {
    const { pid } = server
    const frames = Buffer.concat(STATES[state]!(callTo(path)))
    for (const [name, end] of Object.entries(ENDS)) {
      const atOnce = await connectRaw(server.port + 1_000)
      await endCall(atOnce, frames, end)
      const later = await connectRaw(server.port + 1_000)
      await later.send(frames)
      await received(later, state)
      await endCall(later, NOTHING, end)
      // Its answer cannot leave, so that the call ends in the middle of it.
      const unread = await connectRaw(server.port + 1_000, { settings: [[INITIAL_WINDOW, 0]] })
      await unread.send(frames)
      await received(unread, state)
      await endCall(unread, NOTHING, end)
      expect(await answers(), name).toBe(true)
      for (const { socket } of [atOnce, later, unread]) socket.destroy()
    }
    await expectWell(pid)
  })
})

test('a request may end in any way while it is carried out', async () => {
  const { pid } = server
  const publish = whole(ID, 'ConfigPublishRequest', { dataId: 'a', group: 'b', content: 'c' })
  for (const [name, end] of Object.entries(ENDS)) {
    const connection = await connectRaw(server.port + 1_000)
    await connection.send(setup(1))
    await connection.settled()
    await endCall(connection, publish, end)
    expect(await answers(), name).toBe(true)
    connection.socket.destroy()
  }
  await expectWell(pid)
})
