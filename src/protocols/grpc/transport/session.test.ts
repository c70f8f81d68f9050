import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import {
  data,
  frame,
  framesIn,
  open,
  PREFACE_AND_SETTINGS,
  whole,
  windowUpdate,
} from '@waypost/http2/connection.test-support'
import { LimitCounts } from '@waypost/http2/limits'
import { FRAME } from '@waypost/http2/protocol'
import type { CallStream } from './call-stream.ts'
import { ConnectionSession } from './session.ts'
import { SessionTurns } from './session-turns.ts'

const LARGE_BYTES = 2_000_000

/** A socket whose client reads when the test says so. */
class TestSocket extends Duplex {
  readonly written: Buffer[] = []
  #reads = true
  #taken: (() => void) | undefined

  override _read(): void {
    // The test pushes the received bytes.
  }

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.written.push(bytes)
    if (this.#reads) done()
    else this.#taken = done
  }

  /** The client reads nothing. */
  stall(): void {
    this.#reads = false
  }

  /** The client has read everything. */
  readWritten(): void {
    this.#taken?.()
  }
}

async function session() {
  const socket = new TestSocket()
  const calls: CallStream[] = []
  const made = new ConnectionSession({
    socket: socket as unknown as Socket,
    openedMs: 0,
    monotonicMs: () => 0,
    counts: new LimitCounts(),
    turns: new SessionTurns(),
    keeper: { opened: (_session, stream) => void calls.push(stream), closed: () => undefined },
  })
  const receive = async (...frames: Buffer[]): Promise<void> => {
    socket.push(Buffer.concat(frames))
    await settled()
  }
  await receive(PREFACE_AND_SETTINGS)
  socket.written.length = 0
  return { socket, calls, made, receive }
}

async function settled(): Promise<void> {
  for (let turns = 0; turns < 5; turns++) await nextTurn()
}

test('answers of one turn of the event loop leave with one write', async () => {
  const { socket, calls, receive } = await session()
  await receive(whole(1), whole(3), whole(5))
  expect(calls.length).toBe(3)
  const [first, second, third] = calls
  first!.answer([Buffer.from('one')])
  second!.answer([Buffer.from('two')])
  await Promise.resolve()
  third!.begin()
  third!.write([Buffer.from('three')])
  await settled()
  expect(socket.written.length).toBe(1)
  const types = framesIn(socket.written[0]!).map(({ type, streamId }) => [type, streamId])
  expect(types.filter(([type]) => type === FRAME.data).map(([, id]) => id)).toEqual([1, 3, 5])
})

test('unread answers stay in their stream, and are sent as the client reads (CVE-2019-9517)', async () => {
  const { socket, calls, receive } = await session()
  await receive(whole(1), windowUpdate(0, LARGE_BYTES), windowUpdate(1, LARGE_BYTES))
  socket.stall()
  calls[0]!.answer([Buffer.alloc(LARGE_BYTES)])
  await settled()
  expect(socket.written.length).toBe(1)
  expect(calls[0]!.unsentBytes).toBeGreaterThan(LARGE_BYTES - 100_000)
  expect(socket.writableLength).toBeLessThan(100_000)
  for (let reads = 0; calls[0]!.isOpen; reads++) {
    expect(reads).toBeLessThan(100)
    socket.readWritten()
    await settled()
  }
  expect(Buffer.concat(socket.written).length).toBeGreaterThan(LARGE_BYTES)
})

test('data that comes while a call is paused is received after it', async () => {
  const { calls, receive } = await session()
  await receive(open(1))
  const [call] = calls
  const came: string[] = []
  call!.receive({
    data: (piece) => void came.push(piece.toString()),
    ended: () => void came.push('end'),
    closed: () => void came.push('closed'),
  })
  call!.pause()
  await receive(data(1, 'one'), data(1, 'two', 1))
  expect(came).toEqual([])
  call!.resume()
  expect(came).toEqual(['one', 'two', 'end'])
})

test('a client is asked whether it has read, once for all that wait', async () => {
  const { socket, made, receive } = await session()
  const done: string[] = []
  made.whenRead(() => done.push('first'))
  made.whenRead(() => done.push('second'))
  await settled()
  const [ping] = framesIn(Buffer.concat(socket.written))
  expect(ping!.type).toBe(FRAME.ping)
  const answer = Buffer.from(socket.written[0]!)
  answer[4] = 1
  await receive(answer)
  expect(done).toEqual(['first'])
  made.destroy()
  await settled()
  expect(done).toEqual(['first', 'second'])
})

test('a client that sends faster than it is served is not read meanwhile', async () => {
  const { socket, calls, receive } = await session()
  // Frames of an unknown type.
  for (let pieces = 0; pieces < 30; pieces++) socket.push(frame(0xee, 0, { payload: Buffer.alloc(10_000) }))
  expect(socket.isPaused()).toBe(true)
  await receive(open(1))
  expect(socket.isPaused()).toBe(false)
  expect(calls.length).toBe(1)
})

test('requests before the end of a connection are handled', async () => {
  const { socket, calls } = await session()
  socket.push(whole(1))
  socket.destroy()
  await settled()
  expect(calls.length).toBe(1)
})

test('requests before the server closes a connection are answered', async () => {
  const { socket, calls, made } = await session()
  socket.push(whole(1))
  made.close()
  await settled()
  calls[0]!.answer([Buffer.from('one')])
  await settled()
  const frames = framesIn(Buffer.concat(socket.written))
  expect(frames.find(({ type }) => type === FRAME.goAway)!.payload.readUInt32BE(0)).toBe(1)
  expect(frames.find(({ type }) => type === FRAME.data)!.payload.toString()).toBe('one')
})

test('a request counts in its turn with all its bytes', async () => {
  const { socket, calls, made, receive } = await session()
  await receive(open(1))
  calls[0]!.receive({ data: () => undefined, ended: () => undefined, closed: () => undefined })
  await receive(data(1, 'x'.repeat(10_000)), data(1, 'x'.repeat(10_000)))
  socket.push(data(1, 'x', 1))
  expect(made.serve()).toBeGreaterThan(20_000)
})
