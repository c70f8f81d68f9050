/** The limits on clients, and honest clients that do not meet them. */
import { describe, expect, test } from 'vitest'
import {
  answer,
  blockOf,
  data,
  frame,
  open,
  ping,
  requestBlock,
  rst,
  settings,
  TestConnection,
  whole,
  windowUpdate,
  zeros,
} from './connection.test-support.ts'
import { ERROR, FLAG, FRAME, PREFACE, SETTING } from './protocol.ts'

/** These frames, one after the other, again and again. */
const times = (count: number, ...frames: Buffer[]): Buffer =>
  Buffer.concat(Array.from({ length: count }, () => frames).flat())
/** The ids of streams that a client opens. */
const odd = (index: number): number => 2 * index + 1
/** The same frames on each of so many streams. */
const onStreams = (count: number, make: (id: number) => Buffer[], first = 0): Buffer =>
  Buffer.concat(Array.from({ length: count }, (_, index) => make(odd(first + index))).flat())
const continuation = (payload: Buffer, flags = 0): Buffer => frame(FRAME.continuation, 1, { flags, payload })
const padding = data(1, Buffer.concat([Buffer.from([255]), Buffer.alloc(255)]), FLAG.padded)
/** HEADERS of many fields, which do not end here. */
const manyFields = Buffer.alloc(16_000, 0x82)
const window = [SETTING.initialWindowSize, 1] as const

describe('a connection is ended that', () => {
  test.each<[string, string, ...Buffer[]]>([
    ['resets', 'opens and resets streams', onStreams(300, (id) => [open(id), rst(id)])],
    ['resets', 'is reset, by windows', onStreams(300, (id) => [open(id), windowUpdate(id, 0)])],
    ['resets', 'is reset, by malformed requests', onStreams(300, (id) => [open(id, requestBlock('X=y'))])],
    ['resets', 'is reset, by bodies after the end', onStreams(300, (id) => [whole(id), data(id, 'x')])],
    ['resets', 'is reset, by priorities', onStreams(300, (id) => [open(id), zeros(FRAME.priority, id, 4)])],
    ['resets', 'sends on closed streams', onStreams(301, (id) => [open(id), rst(id), data(id, 'x')])],
    ['streams', 'opens more streams than it may, again and again', onStreams(301, (id) => [open(id)])],
    [
      'header-bytes',
      'sends a header block without end',
      frame(FRAME.headers, 1, { payload: manyFields }),
      times(2, continuation(manyFields)),
    ],
    [
      'continuations',
      'sends CONTINUATION without end',
      frame(FRAME.headers, 1),
      times(20, continuation(Buffer.from([0x82]))),
    ],
    [
      'continuations',
      'sends empty CONTINUATION without end',
      frame(FRAME.headers, 1),
      times(20, continuation(Buffer.alloc(0))),
    ],
    ['settings', 'sends SETTINGS without end', times(30, settings())],
    ['settings', 'sends many parameters', settings(...Array.from({ length: 33 }, () => window))],
    ['pings', 'sends PING without end', times(300, ping())],
    ['empty-data', 'sends DATA without a byte', open(1), times(200, data(1, ''))],
    ['empty-data', 'sends DATA of nothing but padding', open(1), times(200, padding)],
    ['small-data', 'sends DATA of one byte', open(1), times(6_000, data(1, 'x'))],
    ['window-updates', 'sends WINDOW_UPDATE without end', times(1_100, windowUpdate(0, 1))],
  ])('%s: %s', (reason, _, ...frames) => {
    const client = new TestConnection().receive(...frames)
    expect(client.goAway).toBe(ERROR.enhanceYourCalm)
    expect(client.limits).toEqual({ [reason]: 1 })
    expect(client.events.at(-1)).toBe(`ended ${ERROR.enhanceYourCalm}`)
  })

  test('table-sizes: changes the size of the header table thrice in a block', () => {
    const client = new TestConnection().receive(open(1, Buffer.from('202020', 'hex')))
    expect(client.goAway).toBe(ERROR.compressionError)
    expect(client.limits).toEqual({ 'table-sizes': 1 })
  })

  test('small-windows: lets a large response leave byte by byte', () => {
    const begin = Buffer.concat([PREFACE, settings([SETTING.initialWindowSize, 0])])
    const client = new TestConnection({ begin, onOpen: (stream) => answer(stream, 10_000) })
    client.receive(whole(1))
    for (let count = 0; count < 1_010; count++) client.receive(windowUpdate(1, 1))
    expect(client.goAway).toBe(ERROR.enhanceYourCalm)
    expect(client.limits).toEqual({ 'small-windows': 1 })
  })

  test('unread: does not read the output of the connection', () => {
    const client = new TestConnection()
    // Nothing is taken, so that all acknowledgements wait; each second has fewer than a limit of its own.
    for (let second = 0; second < 40 && client.events.length === 0; second++)
      client.connection.receive(times(150, ping()), 1_000 * second)
    client.flush()
    expect(client.goAway).toBe(ERROR.enhanceYourCalm)
    expect(client.limits).toEqual({ unread: 1 })
  })

  test.each<[string, Buffer]>([
    ['nothing', Buffer.alloc(0)],
    ['half a preface', PREFACE.subarray(0, 10)],
    ['no SETTINGS', PREFACE],
  ])('preface-late: sends %s', (_, begin) => {
    const client = new TestConnection({ begin })
    client.connection.sweep(9_000)
    expect(client.events).toEqual([])
    client.connection.sweep(11_000)
    expect(client.flush().goAway).toBe(ERROR.settingsTimeout)
    expect(client.limits).toEqual({ 'preface-late': 1 })
  })

  test('headers-late: does not end its headers', () => {
    const client = new TestConnection()
    client.nowMs = 60_000
    client.receive(frame(FRAME.headers, 1))
    client.connection.sweep(69_000)
    expect(client.events).toEqual([])
    client.connection.sweep(71_000)
    expect(client.flush().goAway).toBe(ERROR.enhanceYourCalm)
    expect(client.limits).toEqual({ 'headers-late': 1 })
  })
})

describe('a stream is refused', () => {
  test('beyond the most at once, and the next one after one has ended', () => {
    const client = new TestConnection().receive(onStreams(101, (id) => [open(id)]))
    expect(client.resets).toEqual([[201, ERROR.refusedStream]])
    // Frames that the client sent before it knew are ignored.
    client.receive(data(201, 'x', FLAG.endStream), rst(1), open(203))
    expect(client.opened.has(203)).toBe(true)
    expect(client.goAway).toBeUndefined()
  })

  test('with 431 whose fields are too large, and the table keeps up', () => {
    const client = new TestConnection()
    const fields = Array.from({ length: 10 }, (_, index) => `x-${index}=${'\u0001'.repeat(2_000)}`)
    const large = requestBlock(...fields)
    const half = large.length >> 1
    client.receive(
      frame(FRAME.headers, 1, { flags: FLAG.endStream, payload: large.subarray(0, half) }),
      continuation(large.subarray(half), FLAG.endHeaders),
      whole(3),
    )
    const [head] = client.sentOf(FRAME.headers)
    expect(head?.payload.equals(blockOf(':status=431'))).toBe(true)
    expect(client.limits).toEqual({ 'header-bytes': 1 })
    expect([...client.opened.keys()]).toEqual([3])
  })

  test('on which nothing happens for the time that it may have', () => {
    const client = new TestConnection({ onOpen: (stream) => (stream.mostIdleMs = 30_000) }).receive(open(1))
    client.nowMs = 20_000
    client.receive(data(1, 'xx'))
    client.connection.sweep(49_000)
    expect(client.events.at(-1)).toBe('1 data xx')
    client.connection.sweep(51_000)
    expect(client.flush().resets).toEqual([[1, ERROR.cancel]])
    expect(client.limits).toEqual({ 'request-late': 1 })
  })
})

describe('fields that decode from few bytes are not kept', () => {
  test('a block of indices to a large field', () => {
    const client = new TestConnection()
    const large = Buffer.concat([Buffer.from('4001617fa11e', 'hex'), Buffer.alloc(4_000, 'x')])
    client.receive(whole(1, Buffer.concat([requestBlock(), large])))
    for (let id = 3; id < 60; id += 2)
      client.receive(whole(id, Buffer.concat([requestBlock(), Buffer.alloc(15_000, 0xbe)])))
    expect([...client.opened.keys()]).toEqual([1])
    expect(client.limits).toEqual({ 'header-bytes': 29 })
  })

  test('blocks of thousands of small fields, of a client that gives no window', () => {
    const small = Buffer.concat([Buffer.from('4001610162', 'hex'), Buffer.alloc(400, 0xbe)])
    const client = new TestConnection({
      begin: Buffer.concat([PREFACE, settings([SETTING.initialWindowSize, 0])]),
      onOpen: (stream) => {
        stream.mostIdleMs = 30_000
        answer(stream, 10)
      },
    })
    client.receive(whole(1, Buffer.concat([requestBlock(), small])))
    for (let id = 3; id < 203; id += 2)
      client.receive(whole(id, Buffer.concat([requestBlock(), Buffer.alloc(10_000, 0xbe)])))
    expect([...client.opened.keys()]).toEqual([1])
    client.connection.sweep(31_000)
    expect(client.flush().resets).toEqual([[1, ERROR.cancel]])
    expect(client.limits).toEqual({ 'header-bytes': 100, 'request-late': 1 })
  })
})

describe('an honest client meets no limit', () => {
  test('that sends 5,000 priorities and 5,000 unknown frames', () => {
    const client = new TestConnection().receive(
      onStreams(5_000, (id) => [frame(FRAME.priority, id, { payload: Buffer.from('0000000010', 'hex') })]),
      times(5_000, frame(0xee, 1, { flags: 0xff, payload: Buffer.alloc(10) })),
      whole(20_001),
    )
    expect(client.events.at(-1)).toBe('20001 end')
  })

  test('that measures the bandwidth by a PING for each response, and gives credit for each', () => {
    const client = new TestConnection({ onOpen: (stream) => answer(stream, 500) })
    for (let index = 0; index < 5_000; index++)
      client.receive(whole(odd(index)), windowUpdate(0, 500), windowUpdate(odd(index), 500), ping())
    expect(client.limits).toEqual({})
    expect(client.goAway).toBeUndefined()
  })

  test('that reads 10 MiB with the windows that HTTP/2 begins with', () => {
    const bytesInAll = 10 * 1024 * 1024
    const client = new TestConnection({ onOpen: (stream) => answer(stream, bytesInAll) }).receive(whole(1))
    for (let read = client.sent.length; client.bytesOn(1) < bytesInAll;) {
      const updates = client.sent.slice(read).map(({ payload }) => payload.length)
      const bytes = updates.length === 0 ? 65_535 : updates.reduce((sum, length) => sum + length, 0)
      read = client.sent.length
      client.receive(windowUpdate(0, bytes), windowUpdate(1, bytes))
    }
    expect(client.limits).toEqual({})
  })

  test('that changes the size of its header table', () => {
    const client = new TestConnection().receive(
      whole(1, Buffer.concat([Buffer.from('20', 'hex'), requestBlock()])),
      whole(3, Buffer.concat([Buffer.from('203fe11f', 'hex'), requestBlock()])),
    )
    expect([...client.opened.keys()]).toEqual([1, 3])
  })

  test('that cancels all its calls at once, a hundred each second', () => {
    const client = new TestConnection()
    for (let second = 0; second < 5; second++) {
      client.nowMs = 1_000 * second
      const first = 100 * second
      client.receive(
        onStreams(100, (id) => [open(id)], first),
        onStreams(100, (id) => [rst(id)], first),
      )
    }
    expect(client.goAway).toBeUndefined()
    expect(client.limits).toEqual({})
  })
})
