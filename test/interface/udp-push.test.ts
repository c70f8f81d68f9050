import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { gunzipSync } from 'node:zlib'
import { afterAll, describe, expect, test } from 'vitest'
import { startWaypost } from '../support/waypost.ts'
import { clientsOf, serverForThisFile, sleep, unique, type Json, type Params } from './client.ts'

const waypost = serverForThisFile()
const java = 'Nacos-Java-Client:v1.4.8'
const opened: Socket[] = []

afterAll(() => opened.forEach((socket) => socket.close()))

type Subscription = Params & { agent?: string }

interface Packet {
  bytes: Buffer
  zipped: boolean
  json: Json
  list: Json
  at: number
  from: RemoteInfo
}

/** A UDP socket of a subscriber, and the packets that it received, each acknowledged if `acks`. */
interface Receiver {
  port: number
  packets: Packet[]
  next(withinMs?: number): Promise<Packet>
}

async function receiver(
  options: { acks?: boolean; address?: string; port?: number } = {},
): Promise<Receiver> {
  const socket = createSocket('udp4')
  opened.push(socket)
  const packets: Packet[] = []
  let taken = 0
  socket.on('message', (bytes, from) => {
    const packet = unpack(bytes, from)
    packets.push(packet)
    if (options.acks !== false) acknowledge(socket, packet)
  })
  await new Promise<void>((resolve) =>
    socket.bind(options.port ?? 0, options.address ?? '127.0.0.1', resolve),
  )
  const next = async (withinMs = 10_000): Promise<Packet> => {
    for (const end = Date.now() + withinMs; packets.length <= taken; await sleep(1))
      if (Date.now() > end) throw new Error(`no packet within ${withinMs} ms`)
    return packets[taken++]!
  }
  return { port: socket.address().port, packets, next }
}

function unpack(bytes: Buffer, from: RemoteInfo): Packet {
  const zipped = bytes[0] === 0x1f && bytes[1] === 0x8b
  const json = JSON.parse((zipped ? gunzipSync(bytes) : bytes).toString('utf8'))
  return { bytes, zipped, json, list: JSON.parse(json.data), at: performance.now(), from }
}

function acknowledge(socket: Socket, packet: Packet): void {
  const ack = { type: 'push-ack', lastRefTime: String(packet.json.lastRefTime), data: '' }
  socket.send(JSON.stringify(ack), packet.from.port, packet.from.address)
}

/** Requests the list of a service as a subscriber with the User-Agent `agent`. */
async function subscribe(serviceName: string, udpPort: number, extra: Subscription = {}): Promise<Json> {
  const { agent = java, ...others } = extra
  const query = { serviceName, udpPort, clientIP: '127.0.0.1', ...others }
  return (await waypost.nacos.get('/ns/instance/list', query, { 'User-Agent': agent })).json()
}

async function register(serviceName: string, port: number, extra: Params = {}): Promise<number> {
  const form = { serviceName, ip: '127.0.0.1', port, ...extra }
  expect((await waypost.nacos.post('/ns/instance', form)).text).toBe('ok')
  return performance.now()
}

describe('a subscriber that gives udpPort', () => {
  test('gets the longer cacheMillis', async () => {
    const { port } = await receiver()
    expect((await subscribe(unique('svc'), port)).cacheMillis).toBe(10_000)
    expect((await subscribe(unique('svc'), 0)).cacheMillis).toBe(3_000)
    expect((await subscribe(unique('svc'), port, { agent: 'curl/8.0' })).cacheMillis).toBe(3_000)
  })

  test('gets a change, without asking again', async () => {
    const serviceName = unique('svc')
    const socket = await receiver()
    await subscribe(serviceName, socket.port)
    await register(serviceName, 80)
    expect((await socket.next()).list.hosts).toMatchObject([{ port: 80 }])
  })

  test.each([java, 'Nacos-Go-Client:v1.1.6'])('%s gets the list in its own format', async (agent) => {
    const serviceName = unique('svc')
    const [own, other] = [await receiver(), await receiver()]
    await subscribe(serviceName, own.port, { agent })
    await subscribe(serviceName, other.port, { agent: agent === java ? 'Nacos-Go-Client:v1.1.6' : java })
    await register(serviceName, 80)
    const [{ list }] = await Promise.all([own.next(), other.next()])
    const answered = await subscribe(serviceName, own.port, { agent })
    expect(list).toEqual(answered)
    expect(list.dom).toBe(agent === java ? `DEFAULT_GROUP@@${serviceName}` : serviceName)
    expect(list.hosts[0]).toMatchObject({ serviceName: list.dom, valid: true, marked: false })
  })

  test('gets the same list as a query', async () => {
    const serviceName = unique('svc')
    const socket = await receiver()
    await subscribe(serviceName, socket.port)
    await register(serviceName, 80, { metadata: 'a=1' })
    const packet = await socket.next()
    expect(packet.json).toMatchObject({
      type: 'dom',
      data: expect.any(String),
      lastRefTime: expect.any(Number),
    })
    const query = await subscribe(serviceName, socket.port)
    expect(packet.list).toMatchObject({ name: query.name, clusters: '', checksum: query.checksum })
    expect(packet.list.hosts).toEqual(query.hosts)
  })

  test('gets a push when an instance becomes unhealthy', async () => {
    const serviceName = unique('svc')
    const socket = await receiver()
    const metadata = '{"preserved.heart.beat.timeout":"1000","preserved.ip.delete.timeout":"60000"}'
    await subscribe(serviceName, socket.port)
    await register(serviceName, 1, { metadata })
    expect((await socket.next(30_000)).list.hosts).toMatchObject([{ healthy: true }])
    expect((await socket.next(30_000)).list.hosts).toMatchObject([{ healthy: false }])
  })

  test('is listed as a subscriber of the service', async () => {
    const serviceName = unique('svc')
    const { port } = await receiver()
    await register(serviceName, 1)
    await subscribe(serviceName, port)
    const query = { serviceName, pageNo: 1, pageSize: 10 }
    const answer = (await waypost.nacos.get('/ns/service/subscribers', query)).json()
    expect(answer.count).toBe(1)
    expect(answer.subscribers).toMatchObject([
      { addrStr: `127.0.0.1:${port}`, agent: java, ip: '127.0.0.1', namespaceId: 'public' },
    ])
    expect(answer.subscribers[0].serviceName).toBe(`DEFAULT_GROUP@@${serviceName}`)
  })
})

describe('pushes that are not sent', () => {
  test('nothing is sent to an address that a client names as its own', async () => {
    const serviceName = unique('svc')
    const own = await receiver()
    const victim = await receiver({ address: '127.0.0.9', port: own.port })
    await subscribe(serviceName, own.port, { clientIP: '127.0.0.9' })
    await register(serviceName, 1)
    await own.next()
    await sleep(200)
    expect(victim.packets).toEqual([])
  })

  test('nothing is sent to a trusted proxy, whatever client is behind it', async () => {
    const proxied = await startWaypost({ settings: { 'trusted-proxies': '127.0.0.1' } })
    const { nacos } = clientsOf(proxied.url)
    try {
      const serviceName = unique('proxied')
      const listener = await receiver()
      for (const headers of [{}, { 'x-forwarded-for': '10.1.1.1' }]) {
        const query = { serviceName, udpPort: listener.port, clientIP: '127.0.0.1' }
        const list = await nacos.get('/ns/instance/list', query, { 'user-agent': java, ...headers })
        expect(list.json().cacheMillis).toBe(3_000)
      }
      await nacos.post('/ns/instance', { serviceName, ip: '127.0.0.1', port: 80 })
      await sleep(200)
      expect(listener.packets).toEqual([])
    } finally {
      nacos.close()
      await proxied.stop()
    }
  })

  test.each(['70000', '-1', 'udp'])('udpPort %s is a 400', async (udpPort) => {
    const query = { serviceName: unique('svc'), udpPort, clientIP: '127.0.0.1' }
    const answer = await waypost.nacos.get('/ns/instance/list', query, { 'User-Agent': java })
    expect(answer.status).toBe(400)
    expect(answer.text).toContain('udpPort')
  })
})

describe('a push', () => {
  test.concurrent('without an ack is sent again after about 10 s', async () => {
    const serviceName = unique('svc')
    const socket = await receiver({ acks: false })
    await subscribe(serviceName, socket.port)
    const sentMs = performance.now()
    await register(serviceName, 1)
    const first = await socket.next(30_000)
    const again = await socket.next(30_000)
    expect(again.at - sentMs).toBeGreaterThan(8_500)
    expect(again.list.hosts).toEqual(first.list.hosts)
  })
})
