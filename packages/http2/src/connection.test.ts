import { describe, expect, test } from 'vitest'
import {
  answer,
  blockOf,
  data,
  frame,
  OK,
  open,
  ping,
  requestBlock,
  rst,
  settings,
  TestConnection,
  uint32,
  whole,
  windowUpdate,
  zeros,
} from './connection.test-support.ts'
import { WIDE_WINDOW } from './flow-control.ts'
import { RESERVED_WINDOW } from './outgoing.ts'
import { ERROR, FLAG, FRAME, PREFACE, SETTING } from './protocol.ts'

/** The head of a request whose body is to have this many bytes. */
const saying = (bytes: number): Buffer => requestBlock(`content-length=${bytes}`)
/** A priority that depends on stream 1. */
const ON_STREAM_1 = Buffer.from('0000000110', 'hex')
const ACK_OF_SIX_BYTES = frame(FRAME.settings, 0, { flags: FLAG.ack, payload: Buffer.alloc(6) })

describe('a connection', () => {
  test('begins with SETTINGS, and acknowledges the SETTINGS of the client', () => {
    const { sent } = new TestConnection()
    expect(sent.map(({ type, flags }) => [type, flags])).toEqual([
      [FRAME.settings, 0],
      [FRAME.windowUpdate, 0],
      [FRAME.settings, FLAG.ack],
    ])
  })

  test.each<[string, ...Buffer[]]>([
    ['another protocol', Buffer.from('GET / HTTP/1.1\r\n')],
    ['another frame than SETTINGS first', PREFACE, ping()],
    ['an acknowledgement first', PREFACE, frame(FRAME.settings, 0, { flags: FLAG.ack })],
  ])('ends with %s', (_, ...begin) => {
    const client = new TestConnection({ begin: Buffer.concat(begin) })
    expect(client.goAway).toBe(ERROR.protocolError)
    expect(client.events).toEqual([`ended ${ERROR.protocolError}`])
  })

  test('answers PING with the same bytes, and asks by its own', () => {
    const client = new TestConnection().receive(ping(Buffer.from('12345678')))
    expect(client.sentOf(FRAME.ping).map(({ flags, payload }) => [flags, `${payload}`])).toEqual([
      [1, '12345678'],
    ])
    client.connection.ping()
    const own = client.flush().sentOf(FRAME.ping).at(-1)!
    client.receive(ping(Buffer.from('12345678'), FLAG.ack))
    expect(client.events).toEqual([])
    client.receive(ping(Buffer.from(own.payload), FLAG.ack))
    expect(client.events).toEqual(['ping answered'])
  })

  test('that is closed answers open streams, refuses nothing more, and ends', () => {
    const client = new TestConnection().receive(whole(1))
    client.connection.close()
    client.receive(whole(3))
    expect(client.goAway).toBe(ERROR.noError)
    expect([...client.opened.keys()]).toEqual([1])
    answer(client.stream(1), 3)
    client.flush()
    expect(client.events.slice(-2)).toEqual(['1 closed', 'ended 0'])
  })

  test('says that the client leaves', () => {
    const client = new TestConnection().receive(frame(FRAME.goAway, 0, { payload: uint32(0, 0) }))
    expect(client.events).toEqual(['leaving'])
  })

  test('that is lost closes its streams', () => {
    const client = new TestConnection().receive(whole(1), open(3))
    client.connection.lost()
    client.receive(whole(5))
    expect(client.events.slice(-2)).toEqual(['1 closed', '3 closed'])
  })

  test.each<[string, keyof typeof ERROR, ...Buffer[]]>([
    ['a frame above 16 KiB (section 4.2)', 'frameSizeError', zeros(0xee, 0, 16_385)],
    ['DATA on no stream', 'protocolError', data(0, 'x')],
    ['DATA on an idle stream', 'protocolError', data(1, 'x')],
    ['a padding that is too long', 'protocolError', open(1), data(1, Buffer.from([2, 1]), FLAG.padded)],
    ['HEADERS on an even id', 'protocolError', whole(2)],
    ['HEADERS on no stream', 'protocolError', whole(0)],
    ['an id below that of another stream', 'protocolError', whole(5), whole(3)],
    ['a priority that is cut off', 'protocolError', frame(FRAME.headers, 1, { flags: FLAG.priority })],
    ['a frame between HEADERS and CONTINUATION', 'protocolError', frame(FRAME.headers, 1), ping()],
    ['an unknown frame between them', 'protocolError', frame(FRAME.headers, 1), frame(0xee, 0)],
    [
      'CONTINUATION of another stream',
      'protocolError',
      frame(FRAME.headers, 1),
      frame(FRAME.continuation, 3),
    ],
    ['CONTINUATION after no HEADERS', 'protocolError', frame(FRAME.continuation, 1)],
    ['a block that cannot be decoded', 'compressionError', open(1, Buffer.from('80', 'hex'))],
    ['PRIORITY on no stream', 'protocolError', zeros(FRAME.priority, 0, 5)],
    ['PRIORITY of another size, on an idle stream', 'frameSizeError', zeros(FRAME.priority, 1, 4)],
    ['RST_STREAM on no stream', 'protocolError', rst(0)],
    ['RST_STREAM on an idle stream', 'protocolError', rst(1)],
    ['RST_STREAM of another size', 'frameSizeError', open(1), zeros(FRAME.rstStream, 1, 3)],
    ['SETTINGS on a stream', 'protocolError', frame(FRAME.settings, 1)],
    ['SETTINGS of another size', 'frameSizeError', zeros(FRAME.settings, 0, 5)],
    ['an acknowledgement with parameters', 'frameSizeError', ACK_OF_SIX_BYTES],
    ['ENABLE_PUSH of 2', 'protocolError', settings([SETTING.enablePush, 2])],
    ['a window of 2^31', 'flowControlError', settings([SETTING.initialWindowSize, 2 ** 31])],
    ['a frame size of 16,383', 'protocolError', settings([SETTING.maxFrameSize, 16_383])],
    ['a frame size of 2^24', 'protocolError', settings([SETTING.maxFrameSize, 2 ** 24])],
    ['PUSH_PROMISE', 'protocolError', open(1), frame(FRAME.pushPromise, 1, { payload: uint32(2) })],
    ['PING on a stream', 'protocolError', open(1), zeros(FRAME.ping, 1, 8)],
    ['PING of another size', 'frameSizeError', ping(Buffer.alloc(7))],
    ['GOAWAY on a stream', 'protocolError', frame(FRAME.goAway, 1, { payload: uint32(0, 0) })],
    ['GOAWAY of another size', 'frameSizeError', frame(FRAME.goAway, 0, { payload: uint32(0) })],
    ['WINDOW_UPDATE of nothing', 'protocolError', windowUpdate(0, 0)],
    ['WINDOW_UPDATE of another size', 'frameSizeError', zeros(FRAME.windowUpdate, 0, 3)],
    ['WINDOW_UPDATE on an idle stream', 'protocolError', windowUpdate(1, 1)],
    ['a window of the connection above 2^31 - 1', 'flowControlError', windowUpdate(0, 0x7fffffff)],
    [
      'windows of streams above 2^31 - 1, by SETTINGS',
      'flowControlError',
      open(1),
      windowUpdate(1, 0x7fff0000),
      settings([SETTING.initialWindowSize, 0x7fffffff]),
    ],
  ])('ends at %s', (_, error, ...frames) => {
    const code = ERROR[error]
    const client = new TestConnection().receive(...frames)
    expect(client.goAway).toBe(code)
    expect(client.events.at(-1)).toBe(`ended ${code}`)
    // Nothing is read any more.
    expect(client.receive(whole(99), ping()).events.at(-1)).toBe(`ended ${code}`)
  })
})

describe('a stream', () => {
  test('is a request with a body, and its response', () => {
    const client = new TestConnection().receive(
      open(1, requestBlock('te=trailers', 'a=b', 'a=c')),
      data(1, 'one'),
      data(1, Buffer.from('\u0002two\u0000\u0000'), FLAG.padded),
      data(1, 'three', FLAG.endStream),
    )
    expect(client.events).toEqual([
      '1 POST / te,trailers a,b, c',
      '1 data one',
      '1 data two',
      '1 data three',
      '1 end',
    ])
    answer(client.stream(1), 5)
    client.flush()
    expect(client.sent.slice(-3).map(({ type, flags }) => [type, flags])).toEqual([
      [FRAME.headers, FLAG.endHeaders],
      [FRAME.data, 0],
      [FRAME.headers, FLAG.endHeaders | FLAG.endStream],
    ])
    expect(client.events.at(-1)).toBe('1 closed')
  })

  test('ends with trailers', () => {
    const client = new TestConnection().receive(open(1), data(1, 'one'), whole(1, blockOf('x=y')))
    expect(client.events.slice(-2)).toEqual(['1 data one', '1 end'])
  })

  test('that is answered before its request has ended is reset without an error (section 8.1)', () => {
    const client = new TestConnection().receive(open(1))
    answer(client.stream(1), 5)
    expect(client.flush().resets).toEqual([[1, ERROR.noError]])
    expect(client.events.at(-1)).toBe('1 closed')
    // Frames that the client sent before it knew are ignored.
    client.receive(data(1, 'x'), windowUpdate(1, 1), rst(1), whole(1, blockOf()), ping())
    expect(client.goAway).toBeUndefined()
    expect(client.resets.length).toBe(1)
  })

  test('may end with its head, or with DATA', () => {
    const client = new TestConnection().receive(whole(1), whole(3), whole(5))
    client.stream(1).respond(OK)
    client.stream(1).end()
    client.stream(3).respond(OK)
    client.stream(3).write(Buffer.from('x'))
    client.stream(3).end()
    client.stream(5).respond(OK)
    client.flush()
    client.stream(5).end()
    client.flush()
    const ends = client.sent.filter(({ streamId, flags }) => streamId > 0 && (flags & FLAG.endStream) !== 0)
    expect(ends.map(({ type, streamId }) => [type, streamId])).toEqual([
      [FRAME.headers, 1],
      [FRAME.data, 3],
      [FRAME.data, 5],
    ])
  })

  test('that the client resets is closed, and nothing more is sent', () => {
    const client = new TestConnection().receive(open(1), rst(1))
    const before = client.sent.length
    answer(client.stream(1), 5)
    client.stream(1).reset(ERROR.cancel)
    expect(client.flush().sent.length).toBe(before)
    expect(client.events.slice(1)).toEqual(['1 closed'])
  })

  test.each<[string, keyof typeof ERROR, ...Buffer[]]>([
    ['DATA after its end', 'streamClosed', whole(1), data(1, 'x')],
    ['HEADERS after its end', 'streamClosed', whole(1), whole(1)],
    ['trailers that do not end it', 'protocolError', open(1), open(1)],
    ['trailers with pseudo-fields', 'protocolError', open(1), whole(1)],
    ['a WINDOW_UPDATE of nothing', 'protocolError', open(1), windowUpdate(1, 0)],
    ['a window above 2^31 - 1', 'flowControlError', open(1), windowUpdate(1, 0x7fffffff)],
    ['a longer body than it said', 'protocolError', open(1, saying(1)), data(1, 'xx')],
    ['a shorter body than it said', 'protocolError', open(1, saying(3)), data(1, 'xx', FLAG.endStream)],
    ['no body, though it said one', 'protocolError', whole(1, saying(3))],
    ['PRIORITY of another size', 'frameSizeError', open(1), zeros(FRAME.priority, 1, 4)],
    ['a priority on itself', 'protocolError', open(1), frame(FRAME.priority, 1, { payload: ON_STREAM_1 })],
  ])('is reset by %s, and the connection continues', (_, error, ...frames) => {
    const client = new TestConnection().receive(...frames)
    expect(client.resets).toEqual([[1, ERROR[error]]])
    expect(client.events.at(-1)).toBe('1 closed')
    expect(client.receive(whole(3)).events.at(-1)).toBe('3 end')
  })

  test.each([
    ['upper case', 'X=y'],
    ['an empty name', '=y'],
    ['a blank in a name', 'a b=c'],
    ['a NUL in a value', 'x=y\u0000'],
    ['a line in a value', 'x=y\nz'],
    ['a blank before a value', 'x= y'],
    ['a blank after a value', 'x=y\t'],
    ['a field of a connection', 'connection=close'],
    ['TE of something else', 'te=gzip'],
    ['a pseudo-field twice', ':path=/other'],
    ['an unknown pseudo-field', ':other=x'],
    ['a pseudo-field of a response', ':status=200'],
    ['a pseudo-field after others', 'x=y', ':authority=z'],
    ['a length that is no number', 'content-length=+1'],
  ])('with %s is malformed (section 8.1.1)', (_, ...fields) => {
    const client = new TestConnection().receive(open(1, requestBlock(...fields)))
    expect(client.resets).toEqual([[1, ERROR.protocolError]])
    expect(client.events).toEqual([])
  })

  test.each([
    ['no method', ':scheme=http', ':path=/'],
    ['no path', ':method=GET', ':scheme=http'],
    ['an empty path', ':method=GET', ':scheme=http', ':path='],
    ['no scheme', ':method=GET', ':path=/'],
    ['CONNECT with a path', ':method=CONNECT', ':authority=a', ':path=/'],
    ['no fields'],
  ])('with %s is malformed (section 8.3.1)', (_, ...fields) => {
    const client = new TestConnection().receive(whole(1, blockOf(...fields)))
    expect(client.resets).toEqual([[1, ERROR.protocolError]])
  })
})

describe('flow control', () => {
  test('sends as much as the windows of stream and connection allow', () => {
    const begin = Buffer.concat([PREFACE, settings([SETTING.initialWindowSize, 10])])
    const client = new TestConnection({ begin, onOpen: (stream) => answer(stream, 100_000) })
    expect(client.receive(whole(1)).bytesOn(1)).toBe(10)
    expect(client.receive(windowUpdate(1, 5)).bytesOn(1)).toBe(15)
    client.receive(settings([SETTING.initialWindowSize, 20]))
    expect(client.bytesOn(1)).toBe(25)
    // The window may become negative (section 6.9.2).
    client.receive(settings([SETTING.initialWindowSize, 0]), windowUpdate(1, 20))
    expect(client.bytesOn(1)).toBe(25)
    client.receive(windowUpdate(1, 1_000_000))
    expect(client.bytesOn(1)).toBe(65_535 - RESERVED_WINDOW)
    client.receive(windowUpdate(0, 1_000_000))
    expect(client.bytesOn(1)).toBe(100_000)
    expect(client.events.at(-1)).toBe('1 closed')
  })

  test('a stream that is made wide may send eight times as much, and no more', () => {
    const client = new TestConnection().receive(open(1), open(3))
    client.stream(1).widen()
    client.stream(1).widen()
    client.flush()
    const credit = client.sentOf(FRAME.windowUpdate).filter(({ streamId }) => streamId === 1)
    expect(credit.map(({ payload }) => payload.readUInt32BE(0))).toEqual([WIDE_WINDOW - 65_535])
    const body = Buffer.alloc(16_384)
    for (const id of [1, 3]) client.stream(id).pause()
    for (const id of [1, 3]) client.receive(data(id, body), data(id, body), data(id, body), data(id, body))
    expect(client.resets).toEqual([[3, ERROR.flowControlError]])
    for (let sent = 4 * body.length; sent < WIDE_WINDOW; sent += body.length) client.receive(data(1, body))
    expect(client.resets).toEqual([[3, ERROR.flowControlError]])
    client.receive(data(1, body))
    expect(client.resets).toContainEqual([1, ERROR.flowControlError])
  })

  test('gives credit for received bytes, and not for a stream that is paused', () => {
    const client = new TestConnection().receive(open(1), open(3))
    const body = Buffer.alloc(16_384)
    client.stream(3).pause()
    client.receive(...[1, 1, 1, 3, 3, 3].map((id) => data(id, body)))
    const credit = () =>
      client.sentOf(FRAME.windowUpdate).map(({ streamId, payload }) => [streamId, payload.readUInt32BE(0)])
    expect(credit().slice(1)).toEqual([[1, 32_768]])
    client.stream(3).resume()
    expect(client.flush().resets).toEqual([])
    expect(credit().slice(1)).toEqual([
      [1, 32_768],
      [3, 49_152],
    ])
    // DATA of closed streams counts for the connection's credit too.
    for (let times = 0; times < 40; times++) client.receive(data(1, body))
    expect(credit().some(([id]) => id === 0)).toBe(true)
    expect(client.goAway).toBeUndefined()
  })

  test('ends a stream that sends more than it may', () => {
    const client = new TestConnection({ onOpen: (stream) => stream.pause() })
    client.receive(open(1), ...Array.from({ length: 5 }, () => data(1, Buffer.alloc(16_000))))
    expect(client.resets).toEqual([[1, ERROR.flowControlError]])
  })

  test('lets a small response pass a large one', () => {
    const client = new TestConnection({
      onOpen: (stream) => answer(stream, stream.id === 1 ? 10_000_000 : 20),
    })
    client.receive(whole(1), windowUpdate(1, 10_000_000))
    expect(client.bytesOn(1)).toBe(65_535 - RESERVED_WINDOW)
    // The client gives no window.
    client.receive(whole(3))
    expect(client.bytesOn(3)).toBe(20)
    expect(client.events.at(-1)).toBe('3 closed')
    client.receive(windowUpdate(0, 1_000))
    expect(client.bytesOn(1)).toBe(65_535 - RESERVED_WINDOW + 1_000 - 20)
  })

  test('reserves nothing for a client that gives no window before all of it is used', () => {
    const client = new TestConnection({ onOpen: (stream) => answer(stream, 200_000) })
    client.receive(whole(1), windowUpdate(1, 200_000))
    client.nowMs = 4_000
    client.connection.sweep(4_000)
    expect(client.flush().bytesOn(1)).toBe(65_535 - RESERVED_WINDOW)
    client.connection.sweep(5_000)
    expect(client.flush().bytesOn(1)).toBe(65_535)
    // From then on it is reserved again.
    client.receive(windowUpdate(0, 65_535))
    expect(client.bytesOn(1)).toBe(2 * 65_535 - RESERVED_WINDOW)
  })

  test('keeps the reserve if the stream that waited for it has been reset', () => {
    const client = new TestConnection({ onOpen: (stream) => answer(stream, 200_000) })
    client.receive(whole(1), windowUpdate(1, 200_000))
    expect(client.bytesOn(1)).toBe(65_535 - RESERVED_WINDOW)
    client.receive(rst(1))
    client.connection.sweep(5_000)
    client.receive(whole(3), windowUpdate(3, 200_000))
    expect(client.bytesOn(3)).toBe(0)
  })

  test('asks the writer to wait, and says when all has left', () => {
    const client = new TestConnection().receive(whole(1))
    const stream = client.stream(1)
    stream.respond(OK)
    expect([stream.write(Buffer.alloc(10_000)), stream.write(Buffer.alloc(10_000))]).toEqual([true, false])
    expect(stream.queuedBytes).toBe(20_000)
    client.flush()
    expect(client.events.at(-1)).toBe('1 drained')
    expect(stream.queuedBytes).toBe(0)
  })

  test('sends at most about as much at once as its caller asks for', () => {
    const client = new TestConnection().receive(
      whole(1),
      windowUpdate(0, 1_000_000),
      windowUpdate(1, 1_000_000),
    )
    answer(client.stream(1), 500_000)
    expect(client.connection.take(65_536)!.length).toBeLessThan(65_536 + 17_000)
  })
})

test('a client that has no header table gets a table of no bytes once (RFC 7541, section 4.2)', () => {
  const client = new TestConnection({ onOpen: (stream) => answer(stream, 1) })
  client.receive(settings([SETTING.headerTableSize, 0], [SETTING.headerTableSize, 4_096]), whole(1), whole(3))
  const blocks = client.sentOf(FRAME.headers).map(({ payload }) => payload)
  expect(blocks[0]!.equals(Buffer.concat([Buffer.from([0x20]), OK]))).toBe(true)
  expect(blocks[2]!.equals(OK)).toBe(true)
})

test('a response head above 16 KiB has CONTINUATION', () => {
  const client = new TestConnection().receive(whole(1))
  client.stream(1).respond(blockOf(':status=200', `x=${'\u0001'.repeat(40_000)}`))
  client.flush()
  expect(client.sent.slice(-3).map(({ type, flags }) => [type, flags])).toEqual([
    [FRAME.headers, 0],
    [FRAME.continuation, 0],
    [FRAME.continuation, FLAG.endHeaders],
  ])
})
