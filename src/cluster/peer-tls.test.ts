import { once } from 'node:events'
import { createServer, type Server } from 'node:https'
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { MemberFacts } from '../core/cluster/members/member-records.ts'
import { VERSIONS } from '../core/cluster/members/versions.test-support.ts'
import { PeerClient } from './peer-client.ts'
import { STANDING } from './peer-question.ts'
import { type PeerSecret, peerSecretOf, type PeerSecrets } from './peer-secret.ts'
import { PeerServer } from './peer-server.ts'
import { digestOf, HEADERS, signatureOf } from './peer-signature.ts'
import { answeringTls, askingTls } from './peer-tls.ts'

const [OLD, NEW] = [peerSecretOf('the first secret'), peerSecretOf('the next secret')]
const ANSWER = { hasStore: true }
/** A busy machine may be slow: these tests only ask whether a connection is kept. */
const PATIENT_MS = 10_000

/** The secrets that the server accepts. */
let accepted: [PeerSecret, ...PeerSecret[]]
let server: PeerServer
const closing: (() => unknown)[] = []

beforeEach(async () => {
  accepted = [OLD]
  server = await PeerServer.open({
    host: '127.0.0.1',
    port: 0,
    process: 'p1',
    secrets: () => accepted,
    report: () => {},
  })
  server.answer(STANDING, () => ANSWER)
  closing.push(() => server.close())
})

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

function facts(peerPort: number): MemberFacts {
  const own = { ip: '127.0.0.1', port: 8848, peerPort, site: '', version: '1', process: 'p1', auth: 'on' }
  return { ...own, versions: VERSIONS }
}

function clientWith(secrets: PeerSecrets): PeerClient {
  const client = new PeerClient({ secrets, timeoutMs: PATIENT_MS })
  closing.push(() => client.close())
  return client
}

/** Asks over a new connection. */
function ask(secret = OLD): Promise<unknown> {
  return clientWith(() => [secret]).ask(facts(server.port), STANDING, {})
}

/** The bytes between this client and the server, as somebody on the network sees them. */
async function watched(): Promise<{ readonly port: number; readonly seen: Buffer[] }> {
  const seen: Buffer[] = []
  const between = createTcpServer((socket) => {
    const further = connect(server.port, '127.0.0.1')
    for (const [from, to] of [
      [socket, further],
      [further, socket],
    ] as const) {
      from.on('error', () => {})
      from.on('data', (bytes) => (seen.push(bytes), void to.write(bytes)))
      from.on('close', () => to.destroy())
    }
  })
  await new Promise<void>((resolve) => between.listen(0, '127.0.0.1', resolve))
  closing.push(() => between.close())
  return { port: (between.address() as AddressInfo).port, seen }
}

/** The first bytes that a member sends: a handshake. */
async function beginning(): Promise<Buffer> {
  const { port, seen } = await watched()
  await clientWith(() => [OLD]).ask(facts(port), STANDING, {})
  return seen[0]!
}

describe('a question with TLS', () => {
  test('shows nothing of itself to the network', async () => {
    const { port, seen } = await watched()
    expect(await clientWith(() => [OLD]).ask(facts(port), STANDING, {})).toEqual(ANSWER)
    const bytes = Buffer.concat(seen)
    expect([bytes.length > 0, bytes.includes('standing'), bytes.includes('hasStore')]).toEqual([
      true,
      false,
      false,
    ])
  })

  test('uses TLS 1.3 with new keys for each connection', async () => {
    const options = { host: '127.0.0.1', port: server.port, ...askingTls(() => [OLD]) }
    const secure = connectTls(options)
    await once(secure, 'secureConnect')
    const key = secure.getEphemeralKeyInfo() as { readonly name?: string }
    expect([secure.getProtocol(), secure.getCipher().name, key.name]).toEqual([
      'TLSv1.3',
      'TLS_AES_128_GCM_SHA256',
      'X25519',
    ])
    secure.destroy()
  })

  test('is answered with each secret that counts, on connections of before too', async () => {
    const asking: [PeerSecret] = [OLD]
    const client = clientWith(() => asking)
    const member = facts(server.port)
    expect(await client.ask(member, STANDING, {})).toEqual(ANSWER)
    accepted = [OLD, NEW]
    asking[0] = NEW
    expect(await client.ask(member, STANDING, {})).toEqual(ANSWER)
    expect(await ask(NEW)).toEqual(ANSWER)
    expect(await ask(OLD)).toEqual(ANSWER)
    accepted = [NEW]
    expect(await ask(NEW)).toEqual(ANSWER)
    expect(await ask(OLD)).toBeUndefined()
    asking[0] = OLD
    expect(await client.ask(member, STANDING, {})).toBeUndefined()
  })

  test('must be signed, though its connection has shown the secret', async () => {
    const secure = connectTls({ host: '127.0.0.1', port: server.port, ...askingTls(() => [OLD]) })
    secure.write('POST /standing HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\n{}')
    const [answer] = (await once(secure, 'data')) as [Buffer]
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 403/)
    await once(secure, 'close')
    expect(server.counts.foreign).toBe(1)
  })

  test('is read however it is cut into pieces', async () => {
    const body = '{}'
    const digest = digestOf(Buffer.from(body))
    const about = { process: 'p1', question: 'standing', nonce: 'n', digest } as const
    const headers = [
      `${HEADERS.nonce}: n`,
      `${HEADERS.digest}: ${digest}`,
      `${HEADERS.signature}: ${signatureOf(OLD.text, { kind: 'question', ...about })}`,
      `content-length: 2`,
    ]
    const sent = `POST /standing HTTP/1.1\r\nhost: a\r\n${headers.join('\r\n')}\r\n\r\n${body}`
    const options = { host: '127.0.0.1', port: server.port } as const
    const socket = connectTls({ ...options, ...askingTls(() => [OLD]) }).setNoDelay()
    for (let at = 0; at < sent.length; at += 50) {
      socket.write(sent.slice(at, at + 50))
      await new Promise((resolve) => setImmediate(resolve))
    }
    const [answer] = (await once(socket, 'data')) as [Buffer]
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 200/)
    socket.destroy()
  })
})

describe('somebody between two members', () => {
  /** Passes bytes on, as `change` makes them; `direction`: 0 to the server, 1 back. */
  async function between(change: (bytes: Buffer, direction: number, at: number) => Buffer): Promise<number> {
    const middle = createTcpServer((socket) => {
      const further = connect(server.port, '127.0.0.1')
      const pairs = [
        [socket, further],
        [further, socket],
      ] as const
      for (const [direction, [from, to]] of pairs.entries()) {
        let at = 0
        from.on('error', () => {})
        from.on('data', (bytes) => void to.write(change(bytes, direction, at++)))
        from.on('close', () => to.destroy())
      }
    })
    await new Promise<void>((resolve) => middle.listen(0, '127.0.0.1', resolve))
    closing.push(() => middle.close())
    return (middle.address() as AddressInfo).port
  }

  const flipped = (bytes: Buffer): Buffer => {
    const changed = Buffer.from(bytes)
    changed[changed.length - 1]! ^= 1
    return changed
  }

  test.each([
    ['a question', 0],
    ['an answer', 1],
  ])('who changes %s gets the connection ended, and nothing is believed', async (_, direction) => {
    for (const at of [0, 1, 2]) {
      const port = await between((bytes, way, index) =>
        way === direction && index >= at ? flipped(bytes) : bytes,
      )
      const client = new PeerClient({ secrets: () => [OLD], timeoutMs: 2_000 })
      closing.push(() => client.close())
      const answer = await client.ask(facts(port), STANDING, {})
      // A byte after the last answer may be of no answer.
      if (answer !== undefined) expect(answer).toEqual(ANSWER)
      if (at === 0) expect(answer).toBeUndefined()
    }
    expect(await ask()).toEqual(ANSWER)
  })

  test('who sends a whole conversation again is answered nothing', async () => {
    const sent: Buffer[] = []
    const port = await between((bytes, way) => {
      if (way === 0) sent.push(bytes)
      return bytes
    })
    expect(await clientWith(() => [OLD]).ask(facts(port), STANDING, {})).toEqual(ANSWER)
    const { answered } = server.counts
    const again = connect(server.port, '127.0.0.1')
    const ended = once(again, 'close')
    again.on('error', () => {}).resume()
    for (const bytes of sent) again.write(bytes)
    await ended
    expect(server.counts.answered).toBe(answered)
  })

  test('who leads a question to another member gets no answer of it', async () => {
    const other = await PeerServer.open({
      host: '127.0.0.1',
      port: 0,
      process: 'p2',
      secrets: () => accepted,
      report: () => {},
    })
    other.answer(STANDING, () => ({ hasStore: false }))
    closing.push(() => other.close())
    expect(await clientWith(() => [OLD]).ask(facts(other.port), STANDING, {})).toBeUndefined()
    expect(other.counts).toMatchObject({ answered: 0, foreign: 1 })
  })
})

describe('a secret that has ended', () => {
  /** Opens a connection with a secret, and keeps what the server gives for another one. */
  async function opened(
    session?: Buffer,
  ): Promise<{ readonly secure: TLSSocket; readonly sessions: Buffer[] }> {
    const sessions: Buffer[] = []
    const options = { host: '127.0.0.1', port: server.port, ...askingTls(() => [OLD]) }
    const secure = connectTls({ ...options, ...(session && { session }) })
    secure.on('session', (one: Buffer) => sessions.push(one)).on('error', () => {})
    closing.push(() => secure.destroy())
    await once(secure, 'secureConnect')
    return { secure, sessions }
  }

  /** Asks on an open connection, so that all that the server has sent before has come. */
  async function asked(secure: TLSSocket): Promise<string> {
    secure.write('POST /standing HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\n{}')
    const [answer] = (await once(secure, 'data')) as [Buffer]
    return answer.toString()
  }

  test('opens no connection by what an earlier one was given', async () => {
    const { secure, sessions } = await opened()
    await asked(secure)
    accepted = [NEW]
    for (const session of [...sessions, secure.getSession()!])
      await expect(opened(session)).rejects.toBeInstanceOf(Error)
  })

  test('has no open connection any more, and other secrets keep theirs', async () => {
    accepted = [OLD, NEW]
    const client = clientWith(() => [NEW])
    expect(await client.ask(facts(server.port), STANDING, {})).toEqual(ANSWER)
    const { secure } = await opened()
    const ended = once(secure, 'close')
    accepted = [NEW]
    await ended
    expect(await client.ask(facts(server.port), STANDING, {})).toEqual(ANSWER)
    expect(client.counts.unanswered).toBe(0)
  })

  test('and a connection with a secret that asks nothing has an end', async () => {
    const room = { strangers: 9, members: 9, strangerMs: 60_000, idleMs: 1_000 }
    const other = await PeerServer.open({
      host: '127.0.0.1',
      port: 0,
      process: 'p1',
      secrets: () => accepted,
      room,
      report: () => {},
    })
    closing.push(() => other.close())
    const secure = connectTls({ host: '127.0.0.1', port: other.port, ...askingTls(() => [OLD]) })
    secure.resume()
    await once(secure, 'close')
  })
})

describe('a server that does not know the secret', () => {
  async function impostor(other: Server): Promise<MemberFacts> {
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    closing.push(() => {
      other.closeAllConnections()
      other.close()
    })
    return facts((other.address() as AddressInfo).port)
  }

  test('is told nothing', async () => {
    const heard: unknown[] = []
    const other = createServer(
      answeringTls(() => [NEW]),
      (request) => heard.push(request.url),
    )
    expect(await clientWith(() => [OLD]).ask(await impostor(other), STANDING, {})).toBeUndefined()
    expect(heard).toEqual([])
  })

  test('is told nothing though it has a certificate of somebody who is trusted', () => {
    const options = askingTls(() => [OLD])
    expect(options.checkServerIdentity()).toBeInstanceOf(Error)
  })
})

interface Stranger {
  readonly socket: Socket
  readonly ended: Promise<void>
}

describe('a stranger who begins a handshake', () => {
  /** Opens a connection that sends this at once. */
  function stranger(sent: Uint8Array): Stranger {
    const socket = connect(server.port, '127.0.0.1')
    socket.on('error', () => {})
    socket.resume()
    socket.write(sent)
    closing.push(() => void socket.destroy())
    return { socket, ended: new Promise((resolve) => socket.once('close', () => resolve())) }
  }

  async function sendSlowly({ socket }: Stranger, bytes: Uint8Array): Promise<void> {
    for (const byte of bytes) {
      if (socket.destroyed) return
      socket.write(Buffer.of(byte))
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  test('and stops is closed', async () => {
    const hello = await beginning()
    const lengths = [0, 1, 5, 6, hello.length - 1]
    await Promise.all(lengths.map((length) => stranger(hello.subarray(0, length)).ended))
    expect(server.counts.silent).toBe(lengths.length)
    expect(await ask()).toEqual(ANSWER)
  })

  test('and sends a byte at a time is closed', async () => {
    const hello = await beginning()
    const slow = stranger(hello.subarray(0, 1))
    await Promise.all([slow.ended, sendSlowly(slow, hello.subarray(1))])
    expect(server.counts.silent).toBe(1)
  })

  test('and sends the beginning of another one again is closed', async () => {
    await stranger(await beginning()).ended
    expect(server.counts).toMatchObject({ answered: 1, silent: 1 })
  })

  test('and sends more and more is closed', async () => {
    const record = Buffer.concat([Buffer.of(0x16, 3, 1, 0x40, 0, 1, 0xff, 0xff, 0xff), Buffer.alloc(16_380)])
    await stranger(Buffer.concat(Array.from({ length: 100 }, () => record))).ended
    expect(server.counts.foreign).toBe(1)
  })

  test('keeps no member out, however many there are', async () => {
    const hello = await beginning()
    const strangers = Array.from({ length: 300 }, (_, at) =>
      stranger(hello.subarray(0, at % 2 === 0 ? 5 : hello.length)),
    )
    for (const { socket } of strangers) if (socket.connecting) await once(socket, 'connect')
    expect(await ask()).toEqual(ANSWER)
    await Promise.all(strangers.map(({ ended }) => ended))
    expect(await ask()).toEqual(ANSWER)
  })

  test.each(['silent', 'foreign'] as const)(
    'keeps no member out by coming again whenever it is closed: %s',
    { timeout: 4 * PATIENT_MS },
    async (outcome) => {
      const sent = outcome === 'silent' ? await beginning() : Buffer.from('GET / HTTP/1.1')
      let isOver = false
      const flood = async (): Promise<void> => {
        while (!isOver) await stranger(sent).ended
      }
      const floods = Array.from({ length: 150 }, flood)
      for (let round = 0; round < 10; round++) expect(await ask()).toEqual(ANSWER)
      isOver = true
      await Promise.all(floods)
      expect(server.counts[outcome]).toBeGreaterThan(150)
    },
  )
})
