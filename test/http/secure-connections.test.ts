/** The listener with TLS: handshakes that never end, limits, client certificates, and answers that nobody reads. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from 'node:tls'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { jsonAnswer, textAnswer } from '../../src/protocols/http/routing/answers.ts'
import type { KeyPair } from '../../src/protocols/sockets/secure-layer.ts'
import { Authority, type CertificateFiles } from '../support/certificates.ts'
import { needTool } from '../support/need-tool.ts'
import { http, plainRoute, port, start } from './http-fixture.ts'

const openssl = needTool('openssl')
const LONG = Buffer.alloc(5 * 1024 * 1024, 'x')

describe.skipIf(openssl.skip)('with TLS', () => {
  let authority: Authority
  let pair: KeyPair
  let malformed = 0
  let sockets: Socket[]
  let opened: Socket[]

  beforeAll(() => {
    authority = new Authority()
    pair = { ...read(authority.forServer()), clientCa: authority.ca }
  })
  beforeEach(() => {
    malformed = 0
    sockets = []
    opened = []
  })
  afterEach(async () => {
    for (const socket of sockets) socket.destroy()
    await http.stop(0)
  })

  async function listen(settings: Parameters<typeof start>[1] = {}): Promise<void> {
    const routes = [
      plainRoute('GET', '/who', ({ caller }) => jsonAnswer({ user: caller.certificateUser?.username ?? '' })),
      plainRoute('GET', '/long', () => ({ status: 200, contentType: 'text/plain', body: LONG })),
      plainRoute('GET', '/longtext', () => textAnswer('ü'.repeat(300_000))),
    ]
    await start({ routes, tls: pair, onMalformed: () => void malformed++ }, settings)
    http.server.on('connection', (socket: Socket) => opened.push(socket))
  }

  async function raw(): Promise<Socket> {
    const socket = connect(port, '127.0.0.1')
    sockets.push(socket)
    socket.on('error', () => undefined)
    await once(socket, 'connect')
    return socket
  }

  async function secure(options: ConnectionOptions = {}): Promise<TLSSocket> {
    const socket = connectTls({
      port,
      host: '127.0.0.1',
      servername: 'localhost',
      ca: authority.ca,
      ...options,
    })
    sockets.push(socket)
    await once(socket, 'secureConnect')
    return socket
  }

  /** Sends a request and reads one answer with a short body. */
  async function ask(socket: TLSSocket, path = '/who'): Promise<string> {
    socket.write(requestOf(path))
    let text = ''
    while (!/\r\n\r\n./.test(text)) text += String((await once(socket, 'data'))[0])
    return text
  }

  test('a handshake that does not end is cut, however its bytes trickle in', async () => {
    await listen({ requestTimeoutMs: 300 })
    const hello = await helloOf()
    const [silent, trickling] = [await raw(), await raw()]
    const ends = [closed(silent), closed(trickling)]
    let sent = 0
    const drip = setInterval(() => void trickling.write(hello.subarray(sent, ++sent)), 20)
    await Promise.all(ends)
    clearInterval(drip)
    await expect.poll(() => http.openConnections()).toBe(0)
    expect(malformed).toBe(2)
  })

  test('connections in their handshake count for the limit of their address', async () => {
    await listen({ maxConnectionsPerAddress: 2 })
    const [one] = [await raw(), await raw()]
    await expect.poll(() => http.openConnections()).toBe(2)
    await expect(secure()).rejects.toThrow(/ECONNRESET|socket disconnected/)
    expect(http.connectionCounts().refused).toBe(1)
    one.destroy()
    await expect.poll(() => http.openConnections()).toBe(1)
    expect(await ask(await secure())).toContain('200 OK')
    await expect(secure()).rejects.toThrow(/ECONNRESET|socket disconnected/)
  })

  test('clients that leave or reset in the middle of anything harm nobody', async () => {
    await listen()
    const hello = await helloOf()
    for (let length = 0; length < hello.length; length += 7) {
      const socket = await raw()
      socket.write(hello.subarray(0, length))
      if (length % 2 === 0) socket.resetAndDestroy()
      else socket.end(length % 3 === 0 ? 'garbage' : '')
    }
    for (let turn = 0; turn < 20; turn++) {
      const below = await raw()
      const socket = await secure({ socket: below })
      socket.on('error', () => undefined)
      socket.write(requestOf('/long').slice(0, turn % 2 === 0 ? 10 : undefined))
      if (turn % 3 === 0) below.write('no record of TLS')
      below.resetAndDestroy()
    }
    expect(await ask(await secure())).toContain('200 OK')
    await expect.poll(() => opened.filter(({ destroyed }) => !destroyed).length).toBe(1)
  })

  test('plain HTTP gets the advice to use https, and is counted; a client that only connects is not', async () => {
    await listen()
    const probe = await raw()
    probe.destroy()
    const socket = await raw()
    socket.write(requestOf('/who'))
    let text = ''
    for await (const chunk of socket) text += String(chunk)
    expect(text).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n[^]*https:\/\//)
    await expect.poll(() => http.openConnections()).toBe(0)
    expect(malformed).toBe(1)
  })

  test('a client cannot renegotiate, and one that speaks only HTTP/2 is refused', async () => {
    await listen()
    const socket = await secure({ maxVersion: 'TLSv1.2' })
    const failed = once(socket, 'error')
    socket.renegotiate({}, (error) => error ?? socket.destroy(new Error('it could')))
    expect(String((await failed)[0])).toMatch(/no renegotiation/i)
    await expect(secure({ ALPNProtocols: ['h2'] })).rejects.toThrow(/application protocol/)
  })

  test('a long answer arrives whole, also behind another one', async () => {
    await listen()
    const socket = await secure()
    socket.write(requestOf('/long') + requestOf('/longtext') + requestOf('/who', 'Connection: close\r\n'))
    const chunks: Buffer[] = []
    for await (const chunk of socket) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    expect(text.match(/HTTP\/1\.1 200/g)).toHaveLength(3)
    expect(text.match(/Content-Length: (\d+)/g)).toEqual([
      `Content-Length: ${LONG.length}`,
      'Content-Length: 600000',
      'Content-Length: 11',
    ])
    expect(text).toContain(`\r\n\r\n${String(LONG)}HTTP`)
    expect(text).toContain(`\r\n\r\n${'ü'.repeat(300_000)}HTTP`)
    expect(text.endsWith('{"user":""}')).toBe(true)
  })

  test('a client that does not read its answer keeps no encrypted copy of it, and is cut', async () => {
    await listen({ unreadTimeoutMs: 1_000 })
    const socket = await secure()
    socket.on('error', () => undefined)
    socket.write(requestOf('/long'))
    socket.pause()
    await expect.poll(() => opened[0]?.writableLength).toBeGreaterThan(0)
    expect(opened[0]!.writableLength).toBeLessThan(LONG.length / 10)
    await expect.poll(() => opened[0]!.destroyed, { timeout: 5_000 }).toBe(true)
    expect(http.connectionCounts().cut).toBe(1)
  })

  test('a stop does not wait for clients that never end their handshake', async () => {
    await listen()
    const socket = await raw()
    await expect.poll(() => http.openConnections()).toBe(1)
    await Promise.all([http.stop(600_000), closed(socket)])
    await expect.poll(() => http.openConnections()).toBe(0)
  })

  describe('a client certificate', () => {
    test('names its user by the one common name of its subject', async () => {
      await listen()
      const userOf = async (files: CertificateFiles) =>
        (await ask(await secure(read(files)))).split('\r\n\r\n')[1]
      expect(await userOf(authority.forUser('ann'))).toBe('{"user":"ann"}')
      expect(await userOf(authority.forSubject('/O=shops/OU=bob/CN=carl'))).toBe('{"user":"carl"}')
      expect(await userOf(authority.forSubject('/CN=ann/CN=dora'))).toBe('{"user":""}')
      expect(await userOf(authority.forSubject('/O=ann'))).toBe('{"user":""}')
      expect(await userOf(new Authority().forUser('ann'))).toBe('{"user":""}')
    })

    test('counts for resumed sessions until the authorities change', async () => {
      await listen()
      const socket = await secure(read(authority.forUser('ann')))
      const ticket = once(socket, 'session')
      expect(await ask(socket)).toContain('"ann"')
      const session = (await ticket)[0] as Buffer
      const resumed = await secure({ session })
      expect(resumed.isSessionReused()).toBe(true)
      expect(await ask(resumed)).toContain('"ann"')
      http.useKeyPair({ ...pair, clientCa: new Authority().ca })
      const later = await secure({ session })
      expect(later.isSessionReused()).toBe(false)
      expect(await ask(later)).toContain('""')
    })

    test('ends its connection when the authorities change; other connections stay', async () => {
      await listen()
      const [ann, nobody] = [await secure(read(authority.forUser('ann'))), await secure()]
      expect(await ask(ann)).toContain('"ann"')
      http.useKeyPair({ ...read(authority.forServer()), clientCa: authority.ca })
      expect(await ask(ann)).toContain('"ann"')
      const ended = closed(ann)
      http.useKeyPair({ ...pair, clientCa: new Authority().ca })
      await ended
      expect(await ask(nobody)).toContain('""')
    })
  })
})

/** The first bytes that a client of TLS sends. */
async function helloOf(): Promise<Buffer> {
  const listener = createServer().listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const client = connectTls({ port: (listener.address() as AddressInfo).port, host: '127.0.0.1' })
  client.on('error', () => undefined)
  const [socket] = (await once(listener, 'connection')) as [Socket]
  const [hello] = (await once(socket, 'data')) as [Buffer]
  client.destroy()
  socket.destroy()
  listener.close()
  return hello
}

/** Resolves when a connection is closed, with or without a reset. */
function closed(socket: Socket): Promise<unknown> {
  socket.on('error', () => undefined).resume()
  return new Promise((resolve) => socket.on('close', resolve))
}

function requestOf(path: string, last = ''): string {
  return `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${last}\r\n`
}

function read({ cert, key }: CertificateFiles): { cert: string; key: string } {
  return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') }
}
