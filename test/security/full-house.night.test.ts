/**
 * The places of a server with its default limits, taken by one client: others are served all the same. Where the machine
 * allows fewer files than the limits need, the server lowers them at its start, and the test takes the lowered ones.
 */
import { once } from 'node:events'
import http from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type ManagedWaypost, startManaged } from '../support/administrator.ts'
import { readFileSync } from 'node:fs'

const CONNECTIONS = 20_000
/** More than there are places. */
const SILENT = 21_000
const POLLS = 18_000
/** At once, so that the queue of the listening socket has room. */
const AT_ONCE = 200
const LONG_MS = 600_000
const ITEM = 'quiet\u0002G\u0002\u0001'

let server: ManagedWaypost
const sockets = new Set<Socket>()
/** How many files this process may open. */
const files = Number(/^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1])

beforeAll(async () => {
  server = await startManaged({ settings: { 'max-connections': CONNECTIONS, 'max-held-polls': POLLS } })
  for (const username of ['bob', 'ann'])
    await server.addUser({ username, password: 'of-the-user', permissions: { 'public:*:*': 'rw' } })
}, LONG_MS)
afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  await expect.poll(() => metricOf('waypost_http_connections'), { timeout: 60_000 }).toBeLessThan(20)
}, LONG_MS)
afterAll(() => server?.waypost.stop())

/** Connections of this process, in steps; what fails is refused. `each`: what a connection does when it is open. */
async function openMany(count: number, addressOf: (at: number) => string, each: (socket: Socket) => void) {
  for (let at = 0; at < count; at += AT_ONCE) {
    const step = Array.from({ length: Math.min(AT_ONCE, count - at) }, (_, index) => {
      const socket = connect({
        port: server.waypost.port,
        host: '127.0.0.1',
        localAddress: addressOf(at + index),
      })
      sockets.add(socket)
      socket.on('error', () => {}).on('close', () => sockets.delete(socket))
      return once(socket, 'connect').then(
        () => each(socket),
        () => {},
      )
    })
    await Promise.all(step)
  }
}

async function answerOf(path: string, localAddress: string, token?: string) {
  const headers = token === undefined ? {} : { accessToken: token }
  const request = http.get(`${server.waypost.url}${path}`, { agent: false, localAddress, headers })
  const [incoming] = (await once(request, 'response')) as [http.IncomingMessage]
  let text = ''
  for await (const piece of incoming) text += String(piece)
  return { status: incoming.statusCode, text }
}

async function metricOf(name: string): Promise<number> {
  const { text } = await answerOf('/metrics', '127.0.4.9', await server.tokenOf('nacos'))
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1])
}

/** How many of `wanted` there can be: the server says so where it is fewer. */
const placesOf = (setting: string, wanted: number): number =>
  Number(new RegExp(`"${setting}":(\\d+)`).exec(server.waypost.output())?.[1] ?? wanted)

test('silent connections of a stranger do not shut out a third address', { timeout: LONG_MS }, async () => {
  const places = placesOf('maxConnections', CONNECTIONS)
  const count = Math.min(SILENT, files - 1_000)
  expect(count).toBeGreaterThan(places)
  let isFull = false
  const flood = openMany(
    count,
    (at) => `127.0.4.${1 + (at % 2)}`,
    () => {},
  ).then(() => (isFull = true))
  const statuses = new Map<number | undefined, number>()
  const ask = async (): Promise<void> => {
    const { status } = await answerOf('/healthz', '127.0.4.3')
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
  }
  while (!isFull) await ask()
  await flood
  expect(await metricOf('waypost_http_connections')).toBeGreaterThan(Math.min(count, places) * 0.9)
  for (let asked = 0; asked < 100; asked++) await ask()
  expect([...statuses.keys()]).toEqual([200])
})

test('polls of one user do not shut out the polls of another', { timeout: LONG_MS }, async () => {
  const places = Math.min(placesOf('maxHeldPolls', POLLS), files - 2_000)
  const [bobs, anns] = [
    await server.tokenOf('bob', 'of-the-user'),
    await server.tokenOf('ann', 'of-the-user'),
  ]
  const form = `Listening-Configs=${encodeURIComponent(ITEM)}`
  const request = (token: string) =>
    `POST /svc/v1/cs/configs/listener HTTP/1.1\r\nHost: 127.0.0.1\r\naccessToken: ${token}\r\nLong-Pulling-Timeout: 300000\r\n` +
    `Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${form.length}\r\n\r\n${form}`
  const answers = { bob: [] as string[], ann: [] as string[] }
  const holdAs = (user: keyof typeof answers, token: string) => (socket: Socket) => {
    socket.on('data', (bytes) => answers[user].push(bytes.toString('latin1').slice(9, 12)))
    socket.write(request(token))
  }
  await openMany(places, (at) => `127.0.5.${1 + (at % 3)}`, holdAs('bob', bobs))
  await expect.poll(() => metricOf('waypost_polls_held'), { timeout: 60_000 }).toBeGreaterThan(places * 0.95)
  const before = answers.bob.length
  await openMany(500, () => '127.0.5.1', holdAs('ann', anns))
  await expect.poll(() => answers.bob.length, { timeout: 60_000 }).toBeGreaterThanOrEqual(before + 450)
  expect(answers.ann).toEqual([])
  expect(new Set(answers.bob)).toEqual(new Set(['503']))
  const item = { dataId: 'quiet', group: 'G', content: 'loud' }
  await server.ask('POST', '/svc/v1/cs/configs', item)
  await expect.poll(() => answers.ann.length, { timeout: 60_000 }).toBe(500)
  expect(new Set(answers.ann)).toEqual(new Set(['200']))
})
