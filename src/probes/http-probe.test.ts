import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTcpServer } from 'node:net'
import type { AddressInfo, Server as TcpServer, Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { httpProbe } from './http-probe.ts'
import type { CheckerOf, ProbeTarget } from './conversation.ts'

const opened: TcpServer[] = []
const sockets = new Set<Socket>()

afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  await Promise.all(opened.splice(0).map((server) => new Promise((done) => server.close(done))))
})

async function listen<S extends TcpServer | Server>(server: S): Promise<number> {
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  })
  opened.push(server)
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return (server.address() as AddressInfo).port
}

const serve = (answer: RequestListener): Promise<number> => listen(createServer(answer))

const serveRaw = (talk: (socket: Socket) => void): Promise<number> => listen(createTcpServer(talk))

function targetAt(port: number, checker: Partial<CheckerOf<'HTTP'>> = {}): ProbeTarget<CheckerOf<'HTTP'>> {
  const plain = { type: 'HTTP', path: '', headers: '', expectedResponseCode: 200 } as const
  return { host: '127.0.0.1', port, checker: { ...plain, ...checker } }
}

test.each([
  [200, 200, 'up'],
  [204, 204, 'up'],
  [302, 302, 'up'],
  [200, 204, 'down-now'],
  [302, 200, 'down'],
  [503, 200, 'down'],
  [301, 200, 'down-now'],
  [404, 200, 'down-now'],
  [500, 200, 'down-now'],
])('status %i where %i is expected is %s', async (status, expectedResponseCode, outcome) => {
  const port = await serve((_request, response) => void response.writeHead(status).end('body'))
  expect(await httpProbe(targetAt(port, { expectedResponseCode }), 2000)).toMatchObject({ outcome })
})

test('the request has the path and headers of the checker, and asks to close the connection', async () => {
  const seen: unknown[] = []
  const port = await serve(({ method, url, headers }, response) => {
    seen.push(method, url, headers['host'], headers['x-token'], headers['connection'])
    response.end()
  })
  await httpProbe(targetAt(port, { path: 'up?deep=1', headers: 'X-Token:t|X-Bad:1\r\nX-Worse:2' }), 2000)
  expect(seen).toEqual(['GET', '/up?deep=1', `127.0.0.1:${port}`, 't', 'close'])
  await expect.poll(() => sockets.size).toBe(0)
})

test('a redirect is not followed', async () => {
  const urls: unknown[] = []
  const port = await serve((request, response) => {
    urls.push(request.url)
    response.writeHead(307, { location: '/elsewhere' }).end()
  })
  expect(await httpProbe(targetAt(port), 2000)).toMatchObject({
    outcome: 'down-now',
    reason: 'status 307 instead of 200',
  })
  expect(urls).toEqual(['/'])
})

test('a server that never answers is down after the timeout', async () => {
  const port = await serve(() => {})
  const result = await httpProbe(targetAt(port), 100)
  expect(result).toMatchObject({ outcome: 'down', reason: 'no answer within 100 ms' })
  expect(result.elapsedMs).toBeLessThan(5000)
  await expect.poll(() => sockets.size).toBe(0)
})

test('the connection of an endless body is closed, and the status counts', async () => {
  let sentBytes = 0
  const port = await serve((_request, response) => {
    const more = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536))) sentBytes += 65_536
    }
    response.on('drain', more)
    more()
  })
  const result = await httpProbe(targetAt(port), 5000)
  expect(result).toMatchObject({ outcome: 'up' })
  expect(result.elapsedMs).toBeLessThan(2000)
  await expect.poll(() => sockets.size).toBe(0)
  expect(sentBytes).toBeLessThan(50_000_000)
})

test('a body that stops in the middle does not extend the timeout', async () => {
  const port = await serve((_request, response) => void response.write('some'))
  const result = await httpProbe(targetAt(port), 1000)
  expect(result).toMatchObject({ outcome: 'up' })
})

test('a server that does not speak HTTP is down', async () => {
  const garbage = await serveRaw((socket) => void socket.write('\0\0 not http at all\r\n\r\n'))
  expect(await httpProbe(targetAt(garbage), 2000)).toMatchObject({ outcome: 'down' })
  const closing = await serveRaw((socket) => void socket.end())
  expect(await httpProbe(targetAt(closing), 2000)).toMatchObject({ outcome: 'down' })
  const bigHead = await serveRaw(
    (socket) => void socket.write(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(200_000)}`),
  )
  expect(await httpProbe(targetAt(bigHead), 2000)).toMatchObject({ outcome: 'down' })
})

test('a server that switches protocols is down, because its status is 101', async () => {
  const port = await serveRaw((socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n')
  })
  expect(await httpProbe(targetAt(port), 2000)).toMatchObject({ outcome: 'down-now' })
})

test('a refused connection is down at once', async () => {
  const port = await serve(() => {})
  await new Promise((done) => opened.pop()?.close(done))
  expect(await httpProbe(targetAt(port), 2000)).toMatchObject({
    outcome: 'down-now',
    reason: 'connection refused',
  })
})

test('the probe does not connect to a link-local address', async () => {
  const target = { ...targetAt(80), host: '169.254.169.254' }
  const result = await httpProbe(target, 2000)
  expect(result).toMatchObject({ outcome: 'down-now', reason: '169.254.169.254 is never probed: link-local' })
})

test('a few interim answers are skipped, and endless ones end the probe', async () => {
  const interim = 'HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n'
  const few = await serveRaw((socket) => {
    socket.end(`${interim.repeat(3)}HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n`)
  })
  expect(await httpProbe(targetAt(few), 2000)).toMatchObject({ outcome: 'up' })
  const endless = await serveRaw((socket) => {
    const more = (): void => {
      while (socket.writable && socket.write(interim.repeat(100)));
    }
    socket.on('drain', more)
    more()
  })
  expect(await httpProbe(targetAt(endless), 5000)).toMatchObject({
    outcome: 'down',
    reason: 'more than 16 answers 1xx',
  })
})
