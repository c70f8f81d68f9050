/** Connections, held polls and event streams, when as many are there as may be: who has the most gives way (decision 0073). */
import { once } from 'node:events'
import http from 'node:http'
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Body, GrpcClient } from '../support/grpc-client.ts'
import { grpcClients } from '../support/grpc-clients.ts'
import { type ManagedWaypost, startManaged } from '../support/administrator.ts'
import { Authority } from '../support/certificates.ts'
import { needTool } from '../support/need-tool.ts'
import { startWaypost, type Waypost } from '../support/waypost.ts'
import { unique } from '../interface/client.ts'

const HOOK_MS = 120_000
const MOST = 12
const openssl = needTool('openssl')

const sockets: Socket[] = []
afterEach(() => sockets.splice(0).forEach((socket) => socket.destroy()))

/** A connection from an address, once it is open: it sends nothing by itself. */
async function opened(port: number, localAddress: string) {
  const socket = connect({ port, host: '127.0.0.1', localAddress })
  sockets.push(socket)
  const state = { socket, received: '', isClosed: false }
  socket.on('data', (bytes) => (state.received += bytes.toString('latin1')))
  socket.on('error', () => {})
  socket.on('close', () => (state.isClosed = true))
  await once(socket, 'connect')
  return state
}

type Opened = Awaited<ReturnType<typeof opened>>

async function openedMany(port: number, localAddress: string, count: number): Promise<Opened[]> {
  const all: Opened[] = []
  for (let number = 0; number < count; number++) all.push(await opened(port, localAddress))
  return all
}

const closedOf = (all: readonly Opened[]): boolean[] => all.map(({ isClosed }) => isClosed)
const allOpen = (count: number): boolean[] => Array<boolean>(count).fill(false)

interface Asked {
  readonly method?: string
  readonly path: string
  readonly localAddress?: string
  readonly form?: string
  readonly headers?: Record<string, string>
  readonly agent?: http.Agent
}

/** A request. `answer` has its status and text, `status` its status once the head has come. */
function ask(url: string, { method = 'GET', path, localAddress, form, headers, agent }: Asked) {
  const type = form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }
  const options = { method, headers: { ...headers, ...type }, agent: agent ?? (false as const) }
  const request = http.request(`${url}${path}`, { ...options, ...(localAddress && { localAddress }) })
  request.on('error', () => {})
  request.on('socket', (socket) => sockets.push(socket))
  const head = once(request, 'response').then(([incoming]) => incoming as http.IncomingMessage)
  request.end(form)
  // A request that a test leaves unanswered ends with its connection.
  head.catch(() => {})
  return {
    head,
    status: head.then(({ statusCode }) => statusCode).catch(() => 0),
    get answer() {
      return head.then(answerOf)
    },
  }
}

async function answerOf(incoming: http.IncomingMessage): Promise<{ status: number; text: string }> {
  let text = ''
  for await (const piece of incoming) text += String(piece)
  return { status: incoming.statusCode ?? 0, text }
}

const poll = (url: string, asked: Partial<Asked> = {}, items = 'quiet\u0002G\u0002\u0001') =>
  ask(url, {
    ...asked,
    method: 'POST',
    path: asked.path ?? '/svc/v1/cs/configs/listener',
    form: `Listening-Configs=${encodeURIComponent(items)}`,
    headers: { ...asked.headers, 'Long-Pulling-Timeout': '30000' },
  })

async function metricOf(url: string, name: string, asked: Partial<Asked> = {}): Promise<number> {
  const { text } = await ask(url, { ...asked, path: '/metrics' }).answer
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1])
}

describe('connections', () => {
  let server: Waypost
  beforeAll(async () => {
    const settings = { 'max-connections': MOST, 'trusted-proxies': '127.0.9.9' }
    server = await startWaypost({ settings })
  }, HOOK_MS)
  afterAll(() => server?.stop())

  /** The connections of the test before are closed here, and their closing has come there. */
  beforeEach(async () => {
    const open = () => metricOf(server.url, 'waypost_http_connections', { localAddress: '127.0.1.9' })
    await expect.poll(open, { timeout: HOOK_MS }).toBeLessThanOrEqual(2)
  }, HOOK_MS)

  const health = (localAddress: string) => ask(server.url, { path: '/healthz', localAddress }).status

  test('of strangers that send nothing do not shut out a third address, and the oldest gives way', async () => {
    const first = await openedMany(server.port, '127.0.1.1', MOST / 2 + 1)
    const second = await openedMany(server.port, '127.0.1.2', MOST / 2 - 1)
    const third = await opened(server.port, '127.0.1.3')
    await expect.poll(() => first[0]!.isClosed).toBe(true)
    expect(closedOf(first.slice(1))).toEqual(allOpen(MOST / 2))
    expect(closedOf(second)).toEqual(allOpen(MOST / 2 - 1))
    expect(third.isClosed).toBe(false)
    expect(await health('127.0.1.3')).toBe(200)
    // The place of the request is free at most. Beyond it the address with the most is refused.
    const more = await openedMany(server.port, '127.0.1.1', 4)
    const isRefused = ({ received }: Opened): boolean => received.includes('problem:too-many-connections')
    await expect.poll(() => more.filter(isRefused).length).toBeGreaterThanOrEqual(3)
  })

  test('of a flood do not shut out a third address: not even those that are being refused', async () => {
    const flood = Array.from({ length: 500 }, () => opened(server.port, '127.0.1.1').catch(() => undefined))
    for (let asked = 0; asked < 10; asked++) expect(await health('127.0.1.3')).toBe(200)
    await Promise.all(flood)
    expect(await health('127.0.1.3')).toBe(200)
  })

  test('with a poll, a request or a stream never give way', async () => {
    const url = server.url
    const polls = Array.from({ length: 6 }, () => poll(url, { localAddress: '127.0.1.1' }))
    await expect.poll(() => metricOf(url, 'waypost_polls_held', { localAddress: '127.0.1.9' })).toBe(6)
    const events = ask(url, { path: '/svc/v1/console/events', localAddress: '127.0.1.1' })
    expect(await events.status).toBe(200)
    const upload = await opened(server.port, '127.0.1.1')
    const head = 'POST /svc/v1/cs/configs?dataId=slow&group=G HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n'
    upload.socket.write(`${head}Content-Type: application/x-www-form-urlencoded\r\n\r\n`)
    const silent = await openedMany(server.port, '127.0.1.2', MOST - 8)
    // The first address has most, and all its connections are in use.
    expect(await health('127.0.1.3')).toBe(200)
    await expect.poll(() => silent[0]!.isClosed).toBe(true)
    for (let asked = 0; asked < 5; asked++) expect(await health('127.0.1.3')).toBe(200)
    upload.socket.write('content=x')
    await expect.poll(() => upload.received).toContain('200 OK')
    await ask(url, {
      method: 'POST',
      path: '/svc/v1/cs/configs?dataId=quiet&group=G',
      form: 'content=loud',
      localAddress: '127.0.1.3',
    }).answer
    for (const held of polls) expect((await held.answer).text).toContain('quiet')
    expect((await events.head).destroyed).toBe(false)
  })

  test('of a trusted proxy count for the address that it names', async () => {
    const kept = new http.Agent({ keepAlive: true, maxSockets: MOST })
    const proxied = (client: string) =>
      ask(server.url, {
        path: '/healthz',
        localAddress: '127.0.9.9',
        headers: { 'X-Forwarded-For': client },
        agent: kept,
      }).answer
    await Promise.all(Array.from({ length: 4 }, (_, number) => proxied(`10.0.0.${number}`)))
    const many = await openedMany(server.port, '127.0.1.2', 3)
    await openedMany(server.port, '127.0.1.5', MOST - 7)
    const own = await openedMany(server.port, '127.0.1.3', 1)
    // The proxy has more connections than the second address, but each for another client.
    await expect
      .poll(() => metricOf(server.url, 'waypost_http_connections', { localAddress: '127.0.1.3' }))
      .toBeLessThanOrEqual(MOST)
    expect(closedOf(own)).toEqual([false])
    expect(closedOf(many).filter(Boolean).length).toBeLessThanOrEqual(1)
    const free = Object.values(kept.freeSockets).flatMap((all) => all ?? [])
    expect(free.filter(({ destroyed }) => !destroyed).length).toBe(4)
    kept.destroy()
  })
})

describe.skipIf(openssl.skip)('connections of TLS', () => {
  let server: Waypost
  let authority: Authority
  beforeAll(async () => {
    authority = new Authority()
    const files = authority.forServer()
    const settings = { 'max-connections': 6, 'tls-cert': files.cert, 'tls-key': files.key }
    server = await startWaypost({ settings })
  }, HOOK_MS)
  afterAll(() => server?.stop())

  test('that never begin their handshake, or send nothing after it, do not shut out a third address', async () => {
    const silent = await openedMany(server.port, '127.0.1.1', 3)
    const idle = await openedMany(server.port, '127.0.1.2', 3)
    const secured = idle.map(({ socket }) => connectTls({ socket, ca: authority.ca, host: '127.0.0.1' }))
    for (const one of secured) one.on('error', () => {})
    await Promise.all(secured.map((one) => once(one, 'secureConnect')))
    const ask = async () => {
      const { socket } = await opened(server.port, '127.0.1.3')
      const secure = connectTls({ socket, ca: authority.ca, host: '127.0.0.1' })
      secure.write('GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n')
      const [bytes] = (await once(secure, 'data')) as [Buffer]
      return bytes.toString('latin1').slice(0, 12)
    }
    for (let times = 0; times < 3; times++) expect(await ask()).toBe('HTTP/1.1 200')
    expect(closedOf(silent).filter(Boolean).length + closedOf(idle).filter(Boolean).length).toBeGreaterThan(0)
    expect(closedOf(silent).filter(Boolean).length).toBeLessThan(3)
    expect(closedOf(idle).filter(Boolean).length).toBeLessThan(3)
  })
})

describe('connections of gRPC', () => {
  let server: Waypost
  beforeAll(async () => {
    server = await startWaypost({ settings: { 'max-connections': 6 } })
  }, HOOK_MS)
  afterAll(() => server?.stop())
  const clients = grpcClients(() => server)

  test('that are silent do not shut out a client, and a client that is connected stays', async () => {
    const port = server.port + 1_000
    const before = [await clients(), await clients()]
    const silent = await openedMany(port, '127.0.1.1', 4)
    const after = await clients()
    await expect.poll(() => silent[0]!.isClosed).toBe(true)
    await opened(port, '127.0.1.1')
    await opened(port, '127.0.1.2')
    for (const client of [...before, after])
      expect((await client.ask('HealthCheckRequest', {})).body).toMatchObject({ resultCode: 200 })
  })
})

describe('what users hold', () => {
  let server: ManagedWaypost
  const names = { bob: unique('bob'), ann: unique('ann') }
  beforeAll(async () => {
    server = await startManaged({ settings: { 'max-held-polls': 8, 'max-event-streams': 4 } })
    for (const username of Object.values(names))
      await server.addUser({ username, password: 'of-the-user', permissions: { 'public:*:*': 'rw' } })
  }, HOOK_MS)
  afterAll(() => server?.waypost.stop())

  const tokenOf = (user: keyof typeof names) => server.tokenOf(names[user], 'of-the-user')

  test.each(['/svc/v1/cs/configs/listener', '/nacos/v1/cs/configs/listener'])(
    'polls of one user do not shut out the polls of another at %s',
    async (path) => {
      const { url } = server.waypost
      const [bobs, anns] = [await tokenOf('bob'), await tokenOf('ann')]
      const admins = await server.tokenOf('nacos')
      const pollOf = (accessToken: string, localAddress: string) =>
        poll(url, { path, localAddress, headers: { accessToken } })
      // From three addresses: the user counts.
      const ofBob = []
      for (let number = 0; number < 8; number++) {
        ofBob.push(pollOf(bobs, `127.0.2.${1 + (number % 3)}`))
        await expect
          .poll(() => metricOf(url, 'waypost_polls_held', { headers: { accessToken: admins } }))
          .toBe(number + 1)
      }
      const ofAnn = Array.from({ length: 4 }, () => pollOf(anns, '127.0.2.1'))
      const oldest = await Promise.all(ofBob.slice(0, 4).map(({ answer }) => answer))
      for (const { status, text } of oldest) {
        expect(status).toBe(503)
        expect(text).toMatch(path.startsWith('/svc') ? /"type":"urn:waypost:problem:server-status"/ : /BUSY/)
      }
      expect((await pollOf(bobs, '127.0.2.4').answer).status).toBe(503)
      expect((await pollOf(anns, '127.0.2.4').answer).status).toBe(503)
      await server.ask('POST', '/svc/v1/cs/configs', { dataId: 'quiet', group: 'G', content: unique('loud') })
      for (const one of [...ofBob.slice(4), ...ofAnn]) expect((await one.answer).text).toContain('quiet')
      await server.ask('DELETE', '/svc/v1/cs/configs?dataId=quiet&group=G')
    },
  )

  test('event streams of one user do not shut out another', async () => {
    const { url } = server.waypost
    const [bobs, anns] = [await tokenOf('bob'), await tokenOf('ann')]
    const follow = (accessToken: string) =>
      ask(url, { path: '/svc/v1/console/events', headers: { accessToken } })
    const ofBob = []
    for (let number = 0; number < 4; number++) {
      ofBob.push(follow(bobs))
      expect(await ofBob.at(-1)!.status).toBe(200)
    }
    const ofAnn = [follow(anns), follow(anns)]
    for (const { status } of ofAnn) expect(await status).toBe(200)
    for (const { answer } of ofBob.slice(0, 2)) expect((await answer).text).toContain('{"reason":"gave-way"}')
    expect(await follow(anns).status).toBe(503)
    expect(await follow(bobs).status).toBe(503)
    for (const { head } of [...ofBob.slice(2), ...ofAnn]) expect((await head).complete).toBe(false)
  })
})

describe('what users watch over gRPC', () => {
  let server: ManagedWaypost
  beforeAll(async () => {
    // A tenth of the heap is for what clients watch: some 20,000 items.
    server = await startManaged({ env: { NODE_OPTIONS: '--max-old-space-size=256' } })
    for (const username of ['bob', 'ann'])
      await server.addUser({ username, password: 'of-the-user', permissions: { 'public:*:*': 'rw' } })
  }, HOOK_MS)
  afterAll(() => server?.waypost.stop())
  const clients = grpcClients(() => server.waypost)

  test('a user who watches all that may be watched gives way to another, and keeps the instances', async () => {
    const connect = async (username: string) =>
      clients({ headers: { accessToken: await server.tokenOf(username, 'of-the-user') } })
    const resultOf = async (client: GrpcClient, type: string, body: Body) =>
      (await client.ask(type, body)).body['resultCode']
    const listen = (client: GrpcClient, name: string, count: number) => {
      const contexts = Array.from({ length: count }, (_, at) => {
        return { group: 'G', tenant: '', md5: '', dataId: `${name}-${at}`.padEnd(200, 'x') }
      })
      return resultOf(client, 'ConfigBatchListenRequest', { listen: true, configListenContexts: contexts })
    }
    const ofBob: GrpcClient[] = []
    const instance = { ip: '10.9.9.9', port: 80 }
    for (let result: unknown = 200; result === 200;) {
      const client = await connect('bob')
      ofBob.push(client)
      await client.ask('InstanceRequest', { serviceName: 'of-bob', type: 'registerInstance', instance })
      result = await listen(client, `bob-${ofBob.length}`, 9_000)
    }
    expect(ofBob.length).toBeGreaterThan(1)
    const ended: number[] = []
    ofBob.forEach((client, at) => void client.ended.then(() => ended.push(at)))
    const ann = await connect('ann')
    expect(await listen(ann, 'ann', 3_000)).toBe(200)
    const subscription = { serviceName: 'of-bob', subscribe: true, clusters: '' }
    expect(await resultOf(ann, 'SubscribeServiceRequest', subscription)).toBe(200)
    await expect.poll(() => ended.length).toBe(1)
    const accessToken = await server.tokenOf('ann', 'of-the-user')
    const held = poll(server.waypost.url, { headers: { accessToken } }, 'watched\u0002G\u0002\u0001')
    const list = await ask(server.waypost.url, {
      path: '/svc/v1/ns/instance/list?serviceName=of-bob',
      headers: { accessToken },
    }).answer
    expect(list.text).toContain('10.9.9.9')
    await server.ask('POST', '/svc/v1/cs/configs', { dataId: 'watched', group: 'G', content: 'x' })
    expect((await held.answer).text).toContain('watched')
    for (const client of ofBob.filter((_, at) => !ended.includes(at)))
      expect((await client.ask('HealthCheckRequest', {})).body['resultCode']).toBe(200)
  })
})
