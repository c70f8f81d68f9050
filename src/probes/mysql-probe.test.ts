import { createServer, type AddressInfo, type Socket } from 'node:net'
import { expect, test, vi } from 'vitest'
import { mysqlProbe } from './mysql-probe.ts'
import type { ProbeResult } from './conversation.ts'

// Servers that misbehave. test/probes/mysql.test.ts probes a real server.

async function probeServer(talk: (socket: Socket) => void, timeoutMs = 5000): Promise<ProbeResult> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    talk(socket)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  return await probePort(port, timeoutMs).finally(() => server.close())
}

function probePort(port: number, timeoutMs: number): Promise<ProbeResult> {
  const checker = { type: 'MYSQL', user: 'u', pwd: 'p', cmd: 'select 1' } as const
  return mysqlProbe({ host: '127.0.0.1', port, checker }, timeoutMs)
}

function packet(payload: Buffer): Buffer {
  const head = Buffer.alloc(4)
  head.writeUIntLE(payload.length, 0, 3)
  return Buffer.concat([head, payload])
}

function refusal(errno: number, message: string): Buffer {
  const code = Buffer.alloc(3)
  code[0] = 0xff
  code.writeUInt16LE(errno, 1)
  return packet(Buffer.concat([code, Buffer.from(message)]))
}

test('a server that sends an error instead of a greeting is down at once', async () => {
  const result = await probeServer(
    (socket) => void socket.end(refusal(1130, "Host '127.0.0.1' is not allowed")),
  )
  expect(result).toMatchObject({ outcome: 'down-now' })
  expect(result.reason).toContain('is not allowed')
})

test('a server with too many connections counts as down, not as down at once', async () => {
  const result = await probeServer((socket) => void socket.end(refusal(1040, 'Too many connections')))
  expect(result).toMatchObject({ outcome: 'down' })
})

test('a silent server is down after the timeout', async () => {
  expect(await probeServer(() => {}, 100)).toMatchObject({
    outcome: 'down',
    reason: 'no answer within 100 ms',
  })
})

test('a server that closes the connection or sends invalid data is down', async () => {
  expect(await probeServer((socket) => void socket.end())).toMatchObject({ outcome: 'down' })
  const nonsense = await probeServer((socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'), 500)
  expect(nonsense.outcome).not.toBe('up')
  const shortGreeting = await probeServer((socket) => void socket.end(packet(Buffer.from([10]))), 500)
  expect(shortGreeting.outcome).not.toBe('up')
})

test('the connection of a server that sends endless data is closed', async () => {
  const flood = (socket: Socket): void => {
    socket.write(Buffer.from([0xff, 0xff, 0xff, 0, 10]))
    const more = (): void => {
      while (socket.writable && socket.write(Buffer.alloc(65_536)));
    }
    socket.on('drain', more)
    more()
  }
  const result = await probeServer(flood)
  expect(result.outcome).not.toBe('up')
  expect(result.elapsedMs).toBeLessThan(3000)
})

test('a refused connection is down at once', async () => {
  let port = 0
  const server = createServer()
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  port = (server.address() as AddressInfo).port
  await new Promise((done) => server.close(done))
  expect(await probePort(port, 5000)).toMatchObject({ outcome: 'down-now', reason: 'connection refused' })
})

test('an answer and a truncated error in one segment are a verdict, and nothing is thrown', async () => {
  const thrown: unknown[] = []
  const record = (error: unknown): void => void thrown.push(error)
  process.on('uncaughtException', record)
  const scramble = Buffer.alloc(20, 1)
  const talk = (socket: Socket): void => {
    socket.write(packet(greetingOf(scramble)))
    socket.once('data', () => {
      const [ok, cutError] = [packet(Buffer.from([0, 0, 0, 2, 0, 0, 0])), packet(Buffer.from([0xff]))]
      socket.write(withSequence(ok, 2))
      socket.once('data', () => socket.write(Buffer.concat([withSequence(ok, 1), cutError])))
    })
  }
  expect(await probeServer(talk)).toMatchObject({ outcome: 'up' })
  process.off('uncaughtException', record)
  expect(thrown).toEqual([])
})

test('packets out of order print nothing', async () => {
  const printed = vi.spyOn(console, 'error').mockImplementation(() => {})
  const hello = packet(greetingOf(Buffer.alloc(20, 1)))
  await probeServer((socket) => void socket.end(Buffer.concat([withSequence(hello, 9), hello, hello])))
  expect(printed).not.toHaveBeenCalled()
  printed.mockRestore()
})

function withSequence(whole: Buffer, sequence: number): Buffer {
  const copy = Buffer.from(whole)
  copy[3] = sequence
  return copy
}

function greetingOf(scramble: Buffer): Buffer {
  const capabilities = [0x0d, 0xa2, 45, 2, 0, 0x0a, 0]
  return Buffer.concat([
    Buffer.from('\n8.4.0\0\x07\0\0\0'),
    scramble.subarray(0, 8),
    Buffer.from([0, ...capabilities, 21, ...Array<number>(10).fill(0)]),
    scramble.subarray(8),
    Buffer.from('\0mysql_native_password\0'),
  ])
}
