import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Refusal } from '../../../core/refusal.ts'
import { Connection, type Sequenced } from './connection.ts'

class FakeSocket extends EventEmitter {
  bytesRead = 0
  writableLength = 0
  destroyed = false
  destroySoon(): void {
    this.destroy()
  }
  destroy(): void {
    this.destroyed = true
    this.emit('close')
  }
}

/** A request that notes its events. */
class FakeRequest implements Sequenced {
  isReceived = true
  isAnswering = false
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
  begin = (): void => void events.push(`begin ${this.name}`)
  refuse = ({ code }: Refusal): void => void events.push(`${code} ${this.name}`)
  drop = (): void => void events.push(`drop ${this.name}`)
  connectionClosed = (): void => void events.push(`closed ${this.name}`)
}

const events: string[] = []
let socket: FakeSocket
let connection: Connection
beforeEach(() => {
  events.length = 0
  socket = new FakeSocket()
  connection = new Connection(socket as unknown as Socket, 0)
})

function arrive(name: string, most = 2): FakeRequest {
  const request = new FakeRequest(name)
  connection.arrive(request, most)
  return request
}

describe('requests', () => {
  test('begin one after the other, each once the one before it is answered', async () => {
    const [a, b] = [arrive('a'), arrive('b')]
    expect(events).toEqual(['begin a'])
    expect([connection.isIdle, connection.hasWaiting]).toEqual([false, true])
    connection.answered(a)
    await nextTurn()
    expect(events).toEqual(['begin a', 'begin b'])
    connection.answered(b)
    expect([connection.isIdle, connection.hasWaiting]).toEqual([true, false])
  })

  test('beyond the limit are refused once, then dropped, even when there is room again', () => {
    const a = arrive('a')
    for (const name of ['b', 'c', 'd', 'e']) arrive(name)
    connection.answered(a)
    arrive('f')
    expect(events).toEqual(['begin a', 'too-many-requests d', 'drop e', 'drop f'])
    expect(socket.destroyed).toBe(false)
  })

  test('very many beyond the limit cut the connection', () => {
    for (let number = 0; number < 1_004; number++) arrive(String(number))
    expect(socket.destroyed).toBe(true)
  })

  test('that have arrived are answered when a connection retires; later ones are dropped', async () => {
    const [a, b] = [arrive('a'), arrive('b')]
    connection.retire()
    arrive('c')
    connection.answered(a)
    await nextTurn()
    expect([events, socket.destroyed]).toEqual([['begin a', 'drop c', 'begin b'], false])
    connection.answered(b)
    expect(socket.destroyed).toBe(true)
  })

  test('an idle connection that retires ends at once', () => {
    connection.answered(arrive('a'))
    connection.retire()
    expect(socket.destroyed).toBe(true)
  })

  test('learn that the connection closed, begun or not', () => {
    for (const name of ['a', 'b']) arrive(name)
    socket.destroy()
    expect(events).toEqual(['begin a', 'closed a', 'closed b'])
  })

  test('leave the connection busy until their bytes are written', () => {
    connection.answered(arrive('a'))
    socket.writableLength = 1
    expect(connection.isIdle).toBe(false)
  })
})

describe('a client is too slow', () => {
  const LIMIT = 100
  /** Looks every 50 ms from `fromMs`, and gives the first time at which the client is too slow. */
  function slowAtMs(fromMs: number, each: () => void = () => undefined): number | undefined {
    for (let nowMs = fromMs; nowMs < fromMs + 1_000; nowMs += 50) {
      each()
      if (connection.isTooSlow(nowMs, LIMIT)) return nowMs
    }
    return undefined
  }

  test('when it sends nothing on a new connection', () => {
    expect(slowAtMs(50)).toBe(150)
  })

  test('when it sends the head of a request bit by bit, first or later', () => {
    expect(slowAtMs(50, () => socket.bytesRead++)).toBe(150)
  })

  test('when a later request does not get complete', () => {
    connection.answered(arrive('a'))
    expect(slowAtMs(50)).toBeUndefined()
    socket.bytesRead += 10
    expect(slowAtMs(2_000)).toBeDefined()
  })

  test('when it sends a body bit by bit, even though the answer was sent', () => {
    const request = new FakeRequest('a')
    request.isReceived = false
    connection.arrive(request, 2)
    connection.answered(request)
    expect(slowAtMs(50, () => socket.bytesRead++)).toBe(200)
  })

  test('not while its connection is idle, whatever it sent before', () => {
    const upload = new FakeRequest('a')
    upload.isReceived = false
    connection.arrive(upload, 2)
    expect(connection.isTooSlow(50, LIMIT)).toBe(false)
    socket.bytesRead += 1_000
    upload.isReceived = true
    connection.answered(upload)
    expect(slowAtMs(100)).toBeUndefined()
  })

  test('not while it waits for an answer, whatever it sends meanwhile', () => {
    arrive('poll')
    expect(slowAtMs(50, () => (socket.bytesRead += 10))).toBeUndefined()
  })

  test('not when it sends one request after the other', () => {
    const next = (): void => {
      socket.bytesRead += 10
      connection.answered(arrive('a'))
    }
    expect(slowAtMs(50, next)).toBeUndefined()
  })
})
