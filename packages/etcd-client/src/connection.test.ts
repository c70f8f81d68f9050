/** The connection to a member over sockets of the loopback, where the member misbehaves. */
import { Cancellation } from './cancellation.ts'
import { once } from 'node:events'
import { constants, type ServerHttp2Stream } from 'node:http2'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { systemClock } from './clock.ts'
import { connectTo, type EtcdConnection } from './connection.ts'
import { EtcdClient } from './etcd-client.ts'
import { toEtcdError } from './etcd-error.ts'
import { framed } from './grpc-frames.ts'
import type { Method } from './methods.ts'
import {
  answering,
  begun,
  type Behaviour,
  http,
  message,
  startMisbehaving,
  startTcp,
  trailersOnly,
} from './misbehaving-member.test-support.ts'

/** A bound for calls that would hang. */
const LONG_MS = 20_000
const SHORT_MS = 100

const echo: Method<Uint8Array, Buffer> = {
  path: '/test/Echo',
  needsLeader: true,
  encode: (bytes) => bytes,
  decode: (bytes) => Buffer.from(bytes),
}
const watch = { ...echo, path: '/etcdserverpb.Watch/Watch' }

const stops: (() => unknown)[] = []
afterEach(async () => void (await Promise.all(stops.splice(0).map((stop) => stop()))))

async function start(behaviour: Behaviour) {
  const member = await startMisbehaving({ [echo.path]: behaviour })
  const connection = connectTo(systemClock)(member.endpoint, { silentMs: LONG_MS, silent() {} })
  stops.push(
    () => connection.close(),
    () => member.stop(),
  )
  await connection.connect(LONG_MS)
  return { member, connection }
}

const call = (connection: EtcdConnection, timeoutMs = LONG_MS) =>
  connection.call(echo, Buffer.from('hello'), timeoutMs)

/** The error of a call to a member with this behaviour. */
async function failure(behaviour: Behaviour, timeoutMs = LONG_MS) {
  const { connection } = await start(behaviour)
  const error = toEtcdError(
    await call(connection, timeoutMs).then(
      () => undefined,
      (reason: unknown) => reason,
    ),
  )
  return `${error.kind}${error.inDoubt ? ' in doubt' : ''}: ${error.message}`
}

const bytes = (text: string) => Buffer.from(text)

function withLength(flag: number, length: number): Buffer {
  const head = Buffer.alloc(5)
  head[0] = flag
  head.writeUInt32BE(length, 1)
  return head
}

describe('an answer', () => {
  test('is read however its bytes are cut', async () => {
    const frame = framed(bytes('an answer'))
    for (const size of [1, 3, 5, 6, 100]) {
      const chunks = Array.from({ length: Math.ceil(frame.length / size) }, (_, i) =>
        frame.subarray(i * size, (i + 1) * size),
      )
      const { connection } = await start(answering(chunks))
      expect(String(await call(connection))).toBe('an answer')
    }
  })

  test('may be empty, and may be larger than all windows', async () => {
    const { connection, member } = await start(message(bytes('')))
    expect(await call(connection)).toHaveLength(0)
    member.behaviours[echo.path] = message(Buffer.alloc(50_000_000, 'x'))
    expect(await call(connection)).toHaveLength(50_000_000)
  })

  const status = (code: string, text: string) => ({ 'grpc-status': code, 'grpc-message': text })
  const one = framed(bytes('x'))
  const FULL = 'mvcc: database space exceeded'

  test.each<[string, Behaviour, string]>([
    ['only of trailers', trailersOnly(status('3', 'a%20b %C3%A9')), 'invalid: etcd: a b é'],
    ['with a text that is not escaped well', trailersOnly(status('7', '100%')), 'denied: etcd: 100%'],
    ['that fails after its message', answering([one], status('8', FULL)), `full: etcd: ${FULL}`],
    [
      'of a proxy that asks who calls',
      http(401, 'text/html'),
      'denied: etcd: the answer has the HTTP status 401',
    ],
  ])('%s is an error', async (_, behaviour, error) => {
    expect(await failure(behaviour)).toBe(error)
  })

  test.each<[string, Behaviour, string]>([
    ['without a status', answering([one], {}), 'has ended without a status'],
    ['with a status that is no number', trailersOnly({ 'grpc-status': 'ok' }), 'has ended without a status'],
    ['of half a message', answering([withLength(0, 100), bytes('half')]), 'has ended within a message'],
    ['of half a length', answering([withLength(0, 100).subarray(0, 3)]), 'has ended within a message'],
    ['of no message', answering([]), 'has 0 messages'],
    ['of two messages', answering([one, one]), 'has 2 messages'],
    [
      'that is compressed',
      answering([withLength(1, 1), bytes('x')]),
      'is compressed, which was not asked for',
    ],
    ['of 4 GB', answering([withLength(0, 2 ** 32 - 1), bytes('x')]), 'has a message of 4294967295 bytes'],
    ['of a web page', http(200, 'text/html'), 'has the content type "text/html"'],
    ['of a proxy without a member', http(503, 'text/html'), 'has the HTTP status 503'],
  ])('%s is an error in doubt', async (_, behaviour, reason) => {
    expect(await failure(behaviour)).toBe(`unavailable in doubt: etcd: the answer ${reason}`)
  })
})

describe('a call', () => {
  test('that is reset is in doubt, unless the member has refused the stream', async () => {
    const reset = (code: number) => failure((stream) => stream.close(code))
    expect(await reset(constants.NGHTTP2_INTERNAL_ERROR)).toMatch(
      /^unavailable in doubt: etcd: the connection has/,
    )
    expect(await reset(constants.NGHTTP2_CANCEL)).toMatch(/^unavailable in doubt: /)
    expect(await reset(constants.NGHTTP2_NO_ERROR)).toMatch(/^unavailable in doubt: /)
    expect(await reset(constants.NGHTTP2_REFUSED_STREAM)).toMatch(/^unavailable: /)
  })

  test('whose connection breaks is in doubt, and the next one uses a new connection', async () => {
    const { connection, member } = await start((stream) => stream.session!.destroy())
    await expect(
      call(connection).catch((reason: unknown) => Promise.reject(toEtcdError(reason))),
    ).rejects.toMatchObject({ kind: 'unavailable', inDoubt: true })
    member.behaviours[echo.path] = message(bytes('again'))
    await connection.connect(LONG_MS)
    expect(String(await call(connection))).toBe('again')
    expect(member.sessions).toHaveLength(2)
  })

  test('is answered after GOAWAY, and the next one uses a new connection', async () => {
    const { connection, member } = await start((stream) => {
      stream.session!.goaway(constants.NGHTTP2_NO_ERROR)
      setTimeout(() => message(bytes('late'))(stream), SHORT_MS)
    })
    expect(String(await call(connection))).toBe('late')
    member.behaviours[echo.path] = message(bytes('new'))
    await connection.connect(LONG_MS)
    expect(String(await call(connection))).toBe('new')
    expect(member.sessions).toHaveLength(2)
  })

  test('fails if GOAWAY reports an error', async () => {
    expect(await failure((stream) => stream.session!.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM))).toMatch(
      /^unavailable/,
    )
  })

  test.each<[string, Behaviour]>([
    ['is not answered', () => {}],
    ['is answered by a head alone', begun],
    ['is answered by half a message', (stream) => (begun(stream), stream.write(withLength(0, 9)))],
  ])('that %s fails after its time, and the member is notified', async (_, behaviour) => {
    let seen: ServerHttp2Stream | undefined
    const { connection } = await start((stream) => behaviour((seen = stream)))
    await expect(call(connection, SHORT_MS)).rejects.toMatchObject({ message: 'there is no answer in time' })
    await expect.poll(() => seen?.rstCode, { timeout: LONG_MS }).toBe(constants.NGHTTP2_CANCEL)
  })

  test('ends with its connection', async () => {
    const { connection } = await start(() => connection.close())
    await expect(call(connection)).rejects.toMatchObject({ message: 'the connection was closed' })
    await expect(call(connection)).rejects.toMatchObject({ notBegun: true })
  })

  test('that has no answer for some time is reported again and again', async () => {
    const { member } = await start(() => {})
    let reports = 0
    const connection = connectTo(systemClock)(member.endpoint, { silentMs: 20, silent: () => reports++ })
    stops.push(() => connection.close())
    await connection.connect(LONG_MS)
    const silent = call(connection).catch(() => undefined)
    await expect.poll(() => reports, { timeout: LONG_MS }).toBeGreaterThan(1)
    connection.close()
    await silent
  })
})

describe('a connection', () => {
  test.each([
    ['where nothing is sent', ''],
    ['where another protocol is spoken', 'HTTP/1.1 400 Bad Request\r\n\r\n'],
  ])('%s is not made, without doubt', async (_, text) => {
    const tcp = await startTcp(text)
    stops.push(() => tcp.stop())
    const connection = connectTo(systemClock)(tcp.endpoint, { silentMs: LONG_MS, silent() {} })
    await expect(connection.connect(text === '' ? SHORT_MS : LONG_MS)).rejects.toMatchObject({
      kind: 'unavailable',
      inDoubt: false,
    })
  })
})

describe('a stream', () => {
  test('sends and receives messages until it is cancelled; the connection stays', async () => {
    const { connection, member } = await start(message(bytes('still there')))
    let seen: ServerHttp2Stream | undefined
    member.behaviours[watch.path] = (stream) => {
      begun((seen = stream))
      stream.on('data', (chunk) => stream.write(chunk))
    }
    const end = new Cancellation()
    const stream = await connection.stream(watch, end)
    stream.send(bytes('one'))
    const received: string[] = []
    const reason = new Error('enough')
    await expect(async () => {
      for await (const response of stream.responses) {
        received.push(String(response))
        if (received.length === 1) stream.send(bytes('two'))
        else end.cancel(reason)
      }
    }).rejects.toBe(reason)
    expect(received).toEqual(['one', 'two'])
    if (!seen!.closed) await once(seen!, 'close')
    stream.send(bytes('too late'))
    expect(String(await call(connection))).toBe('still there')
    expect(member.sessions).toHaveLength(1)
  })

  test('that is not read holds up no call', async () => {
    const { connection, member } = await start(message(Buffer.alloc(3_000_000, 'y')))
    member.behaviours[watch.path] = (stream) => {
      begun(stream)
      stream.write(framed(Buffer.alloc(50_000_000, 'x')))
    }
    await connection.stream(watch, new Cancellation())
    await sleep(SHORT_MS)
    expect(await call(connection)).toHaveLength(3_000_000)
  })

  test('fails if it is reset or ends', async () => {
    const { connection, member } = await start(() => {})
    const read = async () => {
      const received: string[] = []
      const stream = await connection.stream(watch, new Cancellation())
      try {
        for await (const response of stream.responses) received.push(String(response))
      } catch (error) {
        received.push(toEtcdError(error).kind)
      }
      return received
    }
    member.behaviours[watch.path] = (stream) => {
      begun(stream)
      stream.write(framed(bytes('x')), () => stream.close(constants.NGHTTP2_INTERNAL_ERROR))
    }
    expect((await read()).at(-1)).toBe('unavailable')
    member.behaviours[watch.path] = answering([framed(bytes('x'))])
    expect(await read()).toEqual(['x'])
    member.behaviours[watch.path] = answering([framed(bytes('x')), withLength(0, 7)])
    expect(await read()).toEqual(['x', 'unavailable'])
    member.behaviours[watch.path] = trailersOnly({ 'grpc-status': '16', 'grpc-message': 'who?' })
    expect(await read()).toEqual(['denied'])
  })
})

describe('the token of a user', () => {
  const AUTHENTICATE = '/etcdserverpb.Auth/Authenticate'
  const user = { name: 'ann', password: () => 'secret' }

  async function startWithUser(known: string) {
    let tokens = 0
    const member = await startMisbehaving({
      [AUTHENTICATE]: (stream) => {
        const token = bytes(`token ${++tokens}`)
        message(Buffer.concat([Buffer.from([0x12, token.length]), token]))(stream)
      },
      [echo.path]: (stream) => {
        const isKnown = `token ${tokens}` === known
        const refusal = { 'grpc-status': '16', 'grpc-message': 'etcdserver: invalid auth token' }
        ;(isKnown ? message(bytes('done')) : trailersOnly(refusal))(stream)
      },
    })
    const connection = connectTo(systemClock, { user })(member.endpoint, { silentMs: LONG_MS, silent() {} })
    stops.push(
      () => connection.close(),
      () => member.stop(),
    )
    await connection.connect(LONG_MS)
    return { connection, asked: () => tokens }
  }

  test('that etcd does not know is replaced once, and the call is sent again', async () => {
    const { connection, asked } = await startWithUser('token 2')
    expect(String(await call(connection))).toBe('done')
    expect(asked()).toBe(2)
    expect(String(await call(connection))).toBe('done')
    expect(asked()).toBe(2)
  })

  test('that is never known fails the call', async () => {
    const { connection, asked } = await startWithUser('none')
    await expect(call(connection)).rejects.toMatchObject({ message: 'etcdserver: invalid auth token' })
    expect(asked()).toBe(2)
  })
})

describe('a member that tells its status and does nothing else', () => {
  const STATUS = '/etcdserverpb.Maintenance/Status'
  const TXN = '/etcdserverpb.KV/Txn'
  const RANGE = '/etcdserverpb.KV/Range'
  const status = message(Buffer.from([0x12, 5, ...Buffer.from('3.6.4')]))
  const done = message(Buffer.from([0x0a, 2, 0x18, 7, 0x10, 1]))
  const write = { compare: [], success: [{ do: 'put', key: 'k', value: bytes('v') }] } as const

  async function clientOf(other: Record<string, Behaviour>, attemptMs = 200) {
    let asked = 0
    const counted: Behaviour = (stream) => {
      asked++
      status(stream)
    }
    const stuck = await startMisbehaving({ [STATUS]: counted })
    const next = await startMisbehaving({ [STATUS]: status, ...other })
    const client = new EtcdClient({
      endpoints: [stuck.endpoint, next.endpoint],
      clock: systemClock,
      random: () => 0,
      open: connectTo(systemClock),
      limits: { callMs: LONG_MS, attemptMs },
    })
    stops.push(
      () => client.close(),
      () => stuck.stop(),
      () => next.stop(),
    )
    return { client, stuck, asked: () => asked }
  }

  test('is left by its calls and watches if another one serves, before their time is over', async () => {
    const { client, stuck } = await clientOf({ [RANGE]: message(bytes('')), [TXN]: done })
    const lost = client.txn(write)
    await expect(lost).rejects.toMatchObject({
      kind: 'unavailable',
      inDoubt: true,
      message: 'etcd: the connection was closed',
    })
    expect((await client.txn(write)).revision).toBe(7)
    await expect
      .poll(() => stuck.sessions.every(({ destroyed }) => destroyed), { timeout: LONG_MS })
      .toBe(true)
  })

  test('is not left if no other one serves', async () => {
    // A busy machine needs more of the time in which it tells its status.
    const { client, stuck, asked } = await clientOf({}, 2_000)
    // Its end is taken from the beginning, because it may come early.
    const slow = client.txn(write).catch(toEtcdError)
    // The member is asked again after it has answered, and was kept.
    await expect.poll(asked, { timeout: LONG_MS }).toBeGreaterThan(1)
    expect(stuck.sessions.filter(({ destroyed }) => !destroyed)).toHaveLength(1)
    client.close()
    expect(await slow).toMatchObject({ kind: 'unavailable' })
  })
})
