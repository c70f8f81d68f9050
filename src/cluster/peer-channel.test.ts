import { once } from 'node:events'
import type { IncomingMessage, RequestListener } from 'node:http'
import { createServer, request } from 'node:https'
import { type AddressInfo, connect, Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { MemberFacts } from '../core/cluster/members/member-records.ts'
import { VERSIONS } from '../core/cluster/members/versions.test-support.ts'
import { configKey } from '../core/config/state/config-item.ts'
import { ORDERS } from '../core/core.test-support.ts'
import { SMALL } from './bounded-message.ts'
import { PeerClient } from './peer-client.ts'
import { PeerPlaces } from './peer-places.ts'
import * as questions from './peer-question.ts'
import {
  MEMBER_VIEW,
  MESSAGES,
  type PeerQuestion,
  SILENCE,
  STANDING,
  SUBSCRIBERS,
  WATCHED_BY,
  WATCHERS_OF,
} from './peer-question.ts'
import { peerSecretOf, type PeerSecrets } from './peer-secret.ts'
import { PeerServer } from './peer-server.ts'
import { digestOf, HEADERS, signatureOf } from './peer-signature.ts'
import { answeringTls, askingTls } from './peer-tls.ts'

const SECRET = 'the secret of all servers'
const SECRETS = secretsOf(SECRET)
const PLACE = { serviceKey: ORDERS, address: { ip: '10.0.0.1', port: 80, cluster: 'DEFAULT' } }

/** All questions. */
const QUESTIONS = Object.values<unknown>(questions).filter(
  (one): one is PeerQuestion<never, unknown> =>
    one !== null && typeof one === 'object' && 'readQuestion' in one,
)

/** Bodies that take seconds to parse where only their bytes are limited. */
const bombsOf = (bytes: number): string[] => [
  '['.repeat(bytes / 2) + ']'.repeat(bytes / 2),
  `[${'{},'.repeat(bytes / 3 - 2)}{}]`,
  `[{${'"a":0,'.repeat(bytes / 6 - 3)}"a":0}]`,
]

let server: PeerServer
let client: PeerClient
let member: MemberFacts
const reports: string[] = []
const closing: (() => Promise<void> | void)[] = []

beforeEach(async () => {
  reports.length = 0
  server = await PeerServer.open({
    host: '127.0.0.1',
    port: 0,
    process: 'p1',
    secrets: SECRETS,
    report: (_error, question) => reports.push(question),
  })
  server.answer(STANDING, () => ({ hasStore: true }))
  client = new PeerClient({ secrets: SECRETS })
  member = facts(server.port)
  closing.push(
    () => client.close(),
    () => server.close(),
  )
})

afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

function facts(peerPort: number, process = 'p1'): MemberFacts {
  return {
    ip: '127.0.0.1',
    port: 8848,
    peerPort,
    site: '',
    version: '1',
    process,
    auth: 'on',
    versions: VERSIONS,
  }
}

function secretsOf(text: string): PeerSecrets {
  const secret = peerSecretOf(text)
  return () => [secret]
}

/** A server that is no Waypost, and knows the secret. */
async function otherServer(listener: RequestListener): Promise<MemberFacts> {
  const other = createServer(answeringTls(SECRETS), listener)
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    other.closeAllConnections()
    other.close()
  })
  return facts((other.address() as AddressInfo).port)
}

/** Sends a request as somebody would who has read the code. Returns the status; 0: the connection was cut. */
async function send(body: string, headers: Record<string, string>, path = '/standing'): Promise<number> {
  return new Promise((resolve) => {
    const { port } = server
    const options = { host: '127.0.0.1', port, path, method: 'POST', headers, agent: false } as const
    const answered = (response: IncomingMessage): void => {
      response.resume()
      resolve(response.statusCode ?? 0)
    }
    const sent = request({ ...options, ...askingTls(SECRETS) }, answered)
    sent.on('error', () => resolve(0))
    sent.end(body)
  })
}

function signed(body: string, { question = 'standing', process = 'p1', secret = SECRET } = {}) {
  const [nonce, digest] = ['n', digestOf(Buffer.from(body))]
  const signature = signatureOf(secret, { kind: 'question', process, question, nonce, digest })
  return { [HEADERS.nonce]: nonce, [HEADERS.digest]: digest, [HEADERS.signature]: signature }
}

describe('a question', () => {
  test('of each kind is answered', async () => {
    const key = configKey('public', 'G', 'a')
    const subscriber = {
      address: '10.0.0.9',
      port: 9,
      agent: 'a',
      app: '',
      clusters: '',
      via: 'poll' as const,
      toldIp: '10.0.0.9',
      ...ORDERS,
    }
    server.answer(SILENCE, (places) => places.map(({ address }) => ({ kind: 'heard', agoMs: address.port })))
    server.answer(WATCHERS_OF, ({ dataId }) => [{ ip: '10.0.0.9', md5: dataId }])
    server.answer(WATCHED_BY, ({ ip }) => [{ key, md5: ip, echo: 'e' }])
    server.answer(SUBSCRIBERS, ({ namespaceId }) => [{ ...subscriber, app: namespaceId }])
    expect(await client.ask(member, STANDING, {})).toEqual({ hasStore: true })
    expect(await client.ask(member, SILENCE, [PLACE])).toEqual([{ kind: 'heard', agoMs: 80 }])
    expect(await client.ask(member, WATCHERS_OF, key)).toEqual([{ ip: '10.0.0.9', md5: 'a' }])
    expect(await client.ask(member, WATCHED_BY, { ip: '1' })).toEqual([{ key, md5: '1', echo: 'e' }])
    expect(await client.ask(member, SUBSCRIBERS, ORDERS)).toEqual([{ ...subscriber, app: 'public' }])
    expect(client.counts).toEqual({ asked: 5, unanswered: 0 })
    expect(server.counts).toEqual({ answered: 5, foreign: 0, malformed: 0, large: 0, failed: 0, silent: 0 })
  })

  test('about a thousand instances is answered', async () => {
    server.answer(SILENCE, (places) => places.map(() => ({ kind: 'unknown' })))
    const places = Array.from({ length: 1_000 }, () => PLACE)
    expect(await client.ask(member, SILENCE, places)).toHaveLength(1_000)
  })

  test('that is too new for a member is not asked, and does not count as unanswered', async () => {
    const next = { ...STANDING, since: MESSAGES.to + 1 }
    expect(await client.ask(member, next, {})).toBeUndefined()
    expect(client.counts).toEqual({ asked: 0, unanswered: 0 })
    const versions = { ...VERSIONS, messages: { from: MESSAGES.to, to: MESSAGES.to + 1 } }
    expect(await client.ask({ ...member, versions }, next, {})).toEqual({ hasStore: true })
  })

  test('how a member is has all that it says of itself', async () => {
    const view = {
      upMs: 1,
      leaseMs: 2,
      standing: 'member',
      layout: 1,
      revision: 3,
      newestRevision: 4,
      lagMs: 5,
      reloads: 0,
      judgedServices: 6,
      judgedInstances: 7,
      hears: [
        { id: 'other', replies: true, agoMs: 8 },
        { id: 'silent', replies: false, agoMs: undefined },
      ],
      figures: {
        stepMs: 20_000,
        storeBytes: 9,
        lines: {
          requestsPerSecond: [0.5],
          processorShare: [0.1],
          memoryBytes: [1],
          connections: [2],
          storeBytes: [9],
        },
      },
    }
    server.answer(MEMBER_VIEW, () => view)
    expect(await client.ask(member, MEMBER_VIEW, {})).toEqual(view)
  })

  test('to another process in the same place is refused', async () => {
    expect(await client.ask(facts(server.port, 'p0'), STANDING, {})).toBeUndefined()
    expect(server.counts.foreign).toBe(1)
  })

  test('of a server with another secret is refused', async () => {
    const stranger = new PeerClient({ secrets: secretsOf('another') })
    closing.push(() => stranger.close())
    expect(await stranger.ask(member, STANDING, {})).toBeUndefined()
    expect(server.counts.foreign).toBe(1)
  })

  test('that no answer is there for, or whose answer throws, is unanswered', async () => {
    expect(await client.ask(member, SILENCE, [])).toBeUndefined()
    expect(server.counts.malformed).toBe(1)
    server.answer(SILENCE, () => {
      throw new Error('broken')
    })
    expect(await client.ask(member, SILENCE, [])).toBeUndefined()
    expect([server.counts.failed, reports]).toEqual([1, ['silence']])
  })
})

describe('hostile input', () => {
  afterEach(async () => {
    expect(await client.ask(member, STANDING, {})).toEqual({ hasStore: true })
    expect(reports).toEqual([])
  })

  test('without a signature, or with a wrong one, is refused', async () => {
    expect(await send('{}', {})).toBe(403)
    expect(await send('{}', signed('{}', { secret: 'guess' }))).toBe(403)
    expect(await send('{}', { ...signed('{}'), [HEADERS.nonce]: 'other' })).toBe(403)
    expect(server.counts.foreign).toBe(3)
  })

  test('that was sent to another process or as another question before is refused', async () => {
    expect(await send('{}', signed('{}', { process: 'p0' }))).toBe(403)
    expect(await send('[]', signed('[]', { question: 'silence' }))).toBe(403)
    expect(server.counts.foreign).toBe(2)
  })

  test('with another body than was signed is refused', async () => {
    expect(await send('[]', signed('{}'))).toBe(400)
    expect(server.counts.malformed).toBe(1)
  })

  test('that is no JSON, or not the shape of its question, is refused', async () => {
    server.answer(SILENCE, () => [])
    expect(await send('{', signed('{'))).toBe(400)
    for (const body of ['{}', '[1]', '[{"serviceKey":{}}]', 'null'])
      expect(await send(body, signed(body, { question: 'silence' }), '/silence')).toBe(400)
    expect(server.counts.malformed).toBe(5)
  })

  test('that is too large is refused', async () => {
    const body = 'x'.repeat(3 * 1024 * 1024)
    expect([0, 413]).toContain(await send(body, signed(body)))
    expect([0, 413]).toContain(await send(body, { ...signed(body), 'transfer-encoding': 'chunked' }))
    expect(server.counts.large).toBe(2)
  })

  test.each(QUESTIONS)(
    'of brackets is refused for the question $name before it is parsed',
    async (question) => {
      const { name, questionSize = SMALL } = question
      server.answer({ ...STANDING, ...question, readQuestion: () => ({}) }, () => ({ hasStore: true }))
      for (const body of bombsOf(questionSize.bytes))
        expect(await send(body, signed(body, { question: name }), `/${name}`)).toBe(413)
      const larger = ' '.repeat(questionSize.bytes + 1)
      expect([0, 413]).toContain(await send(larger, signed(larger, { question: name }), `/${name}`))
      expect(server.counts).toMatchObject({ large: 4, malformed: 0 })
      server.answer(STANDING, () => ({ hasStore: true }))
    },
  )

  test.each([
    'POST /standing HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\n{}',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'hello\r\n',
    '\u0016 is how a handshake begins',
  ])('without TLS gets no answer, and its connection is closed: %j', async (sent) => {
    const socket = connect(server.port, '127.0.0.1')
    const received: Buffer[] = []
    socket.on('data', (bytes) => received.push(bytes)).on('error', () => {})
    const closed = new Promise((resolve) => socket.on('close', resolve))
    socket.write(sent)
    await closed
    expect(Buffer.concat(received).toString()).toBe('')
    expect(server.counts).toEqual({ answered: 0, foreign: 1, malformed: 0, large: 0, failed: 0, silent: 0 })
  })
})

describe('a stranger', () => {
  /** Opens a connection that sends this, and then nothing, or one byte at a time. */
  function stranger(
    sent: string | Buffer,
    slowly = '',
  ): { readonly ended: Promise<void>; readonly socket: Socket } {
    const socket = connect(server.port, '127.0.0.1')
    socket.on('error', () => {})
    socket.resume()
    socket.write(sent)
    const bytes = slowly[Symbol.iterator]()
    const sending = setInterval(() => {
      const next = bytes.next()
      if (next.done !== true) socket.write(next.value)
    }, 50)
    const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()))
    closing.push(() => {
      clearInterval(sending)
      socket.destroy()
    })
    return { ended, socket }
  }

  test.each([
    ['says nothing', '', ''],
    ['sends a byte at a time', '', 'POST /standing HTTP/1.1\r\n'],
    ['sends a huge head', `POST /standing HTTP/1.1\r\na: ${'x'.repeat(100_000)}`, ''],
    ['sends garbage', Buffer.alloc(1_000, 0x9f), ''],
  ])('that %s is closed within about a second', async (_what, sent, slowly) => {
    await stranger(sent, slowly).ended
    expect(server.counts.answered).toBe(0)
  })

  test('cannot keep a member out, however many there are', async () => {
    const idle = Array.from({ length: 300 }, () => stranger(''))
    for (const { socket } of idle) if (socket.connecting) await once(socket, 'connect')
    // A busy machine may be slow: this test only asks whether a connection is kept.
    const patient = new PeerClient({ secrets: SECRETS, timeoutMs: 10_000 })
    closing.push(() => patient.close())
    expect(await patient.ask(member, STANDING, {})).toEqual({ hasStore: true })
    await idle[0]!.ended
    expect(server.counts.silent).toBeGreaterThanOrEqual(300 - 128)
  })

  test('does not close who has asked, however long that is silent', async () => {
    const places = new PeerPlaces({ strangers: 2, members: 2, strangerMs: 20, idleMs: 60_000 })
    const [asked, idle] = [new Socket(), new Socket()]
    places.admit(asked)
    places.asked(asked)
    places.admit(idle)
    await once(idle, 'close')
    expect([asked.destroyed, places.closedStrangers]).toEqual([false, 1])
  })
})

describe('a place of the peer port', () => {
  const room = { strangers: 2, members: 2, strangerMs: 60_000, idleMs: 60_000 }
  const from = (address: string): Socket =>
    Object.defineProperty(new Socket(), 'remoteAddress', { value: address })

  test('is taken from the address with most strangers, its oldest connection first', () => {
    const places = new PeerPlaces(room)
    const sockets = ['attacker', 'member', 'attacker', 'attacker'].map(from)
    for (const socket of sockets) places.admit(socket)
    expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true, false, true, false])
    places.asked(sockets[1]!)
    places.asked(sockets[0]!)
    const later = from('member')
    places.admit(later)
    expect([sockets[1]!.destroyed, sockets[3]!.destroyed, later.destroyed]).toEqual([false, false, false])
  })

  test('is taken from the member that asked least recently, where a recorded question is sent again', () => {
    const places = new PeerPlaces(room)
    const sockets = ['a', 'b', 'c'].map(from)
    for (const socket of sockets.slice(0, 2)) places.asked(socket)
    places.asked(sockets[0]!)
    places.asked(sockets[2]!)
    expect(sockets.map(({ destroyed }) => destroyed)).toEqual([false, true, false])
  })
})

test('a place of an ended secret, or of a connection that asks nothing, ends', () => {
  const places = new PeerPlaces({ strangers: 2, members: 5, strangerMs: 60_000, idleMs: 1_000 })
  const nowMs = performance.now()
  const [ended, counting, signed] = [new Socket(), new Socket(), new Socket()]
  places.asked(ended, 'old')
  places.asked(counting, 'new')
  places.asked(signed)
  // A later question does not show the secret again.
  places.asked(ended)
  const sockets = [ended, counting, signed]
  places.closeEnded(nowMs + 500, () => true)
  expect(sockets.map(({ destroyed }) => destroyed)).toEqual([false, false, false])
  places.closeEnded(nowMs + 500, (id) => id === 'new')
  expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true, false, false])
  places.closeEnded(nowMs + 10_000_000, () => true)
  expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true, true, true])
})

describe('an answer', () => {
  test('that does not come in time does not count', async () => {
    const silent = await otherServer(() => {})
    const hasty = new PeerClient({ secrets: SECRETS, timeoutMs: 20 })
    closing.push(() => hasty.close())
    expect(await hasty.ask(silent, STANDING, {})).toBeUndefined()
    const half = await otherServer((_, response) => {
      response.writeHead(200, { 'content-length': 100 })
      response.write('{')
    })
    expect(await hasty.ask(half, STANDING, {})).toBeUndefined()
    expect(hasty.counts).toEqual({ asked: 2, unanswered: 2 })
  })

  test('that is not signed, or was signed for an earlier question, does not count', async () => {
    const body = '{"hasStore":true}'
    const old = signatureOf(SECRET, {
      kind: 'answer',
      process: 'p1',
      question: 'standing',
      nonce: 'an earlier one',
      digest: digestOf(Buffer.from(body)),
    })
    for (const signature of ['', old]) {
      const impostor = await otherServer(
        (_, response) => void response.setHeader(HEADERS.signature, signature).end(body),
      )
      expect(await client.ask(impostor, STANDING, {})).toBeUndefined()
    }
  })

  test('is refused by a process that has ended, which is known as soon as its connections end', async () => {
    expect(await client.ask(member, STANDING, {})).toEqual({ hasStore: true })
    expect(client.refuses('p1')).toBe(false)
    await server.close()
    await expect.poll(() => client.refuses('p1')).toBe(true)
    server = await PeerServer.open({
      host: '127.0.0.1',
      port: member.peerPort,
      process: 'p1',
      secrets: SECRETS,
      report: () => undefined,
    })
    server.answer(STANDING, () => ({ hasStore: true }))
    expect(await client.ask(member, STANDING, {})).toEqual({ hasStore: true })
    expect(client.refuses('p1')).toBe(false)
  })

  test('of a member that is gone does not come', async () => {
    await server.close()
    expect(await client.ask(member, STANDING, {})).toBeUndefined()
    expect(client.counts.unanswered).toBe(1)
  })

  test('is asked for again where the connection ended meanwhile', async () => {
    let asked = 0
    const flaky = await otherServer(({ socket }) => void (asked++, socket.destroy()))
    expect(await client.ask(flaky, STANDING, {})).toBeUndefined()
    expect([asked, client.counts]).toEqual([3, { asked: 1, unanswered: 1 }])
  })

  test.each(QUESTIONS)(
    'of brackets to $name does not count, and the reason is told once',
    async (question) => {
      const { name, answerSize = SMALL } = question
      let bodies: string[] = []
      const liar = await otherServer((asked, response) => {
        const body = Buffer.from(bodies.shift()!)
        const nonce = String(asked.headers[HEADERS.nonce])
        const about = { process: 'p1', question: name, nonce, digest: digestOf(body) }
        response.setHeader(HEADERS.signature, signatureOf(SECRET, { kind: 'answer', ...about }))
        response.end(body)
      })
      const told: object[] = []
      const asking = new PeerClient({
        secrets: SECRETS,
        timeoutMs: 20_000,
        log: { warn: (facts) => void told.push(facts) },
      })
      closing.push(() => asking.close())
      const any = { ...question, readAnswer: (json: unknown) => json } as PeerQuestion<unknown, unknown>
      bodies = [...bombsOf(answerSize.bytes), ' '.repeat(answerSize.bytes + 1), '{}', '['.repeat(40)]
      const count = bodies.length - 2
      for (let at = 0; at < count; at++) expect(await asking.ask(liar, any, {})).toBeUndefined()
      const fact = {
        member: '127.0.0.1:8848',
        process: 'p1',
        question: name,
        problem: expect.any(String) as string,
      }
      expect(told).toEqual([fact])
      expect(await asking.ask(liar, any, {})).toEqual({})
      expect(await asking.ask(liar, any, {})).toBeUndefined()
      expect(told).toEqual([fact, fact])
    },
  )

  test('that makes no sense does not count', async () => {
    server.answer({ ...SILENCE, readQuestion: () => [] }, () => [{ kind: 'heard' as const, agoMs: -1 }])
    expect(await client.ask(member, SILENCE, [])).toBeUndefined()
  })
})

test('a port that is taken is an error of the start', async () => {
  const again = { host: '127.0.0.1', port: server.port, process: 'p', secrets: SECRETS, report: () => {} }
  await expect(PeerServer.open(again)).rejects.toThrow('EADDRINUSE')
})
