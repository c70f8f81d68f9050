import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { OK_TEXT, textAnswer } from '../../src/protocols/http/routing/answers.ts'
import { finish, http, logged, plainRoute, port, reset, start, until } from './http-fixture.ts'

beforeEach(reset)
afterEach(finish)

const get = (path: string, headers = ''): string =>
  `GET /svc/v1/${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`

/** The actions of the handlers of a turn, in their order; the connections of the server, by the port of their client. */
const order: string[] = []
const ofServer = new Map<number, Socket>()
let meanwhile: () => void
beforeEach(() => {
  order.length = 0
  ofServer.clear()
  meanwhile = () => undefined
})

const routes = [
  plainRoute('GET', '/svc/v1/first', () => {
    order.push('first')
    return textAnswer('first')
  }),
  plainRoute('GET', '/svc/v1/second', () => {
    order.push('second')
    meanwhile()
    return OK_TEXT
  }),
  plainRoute('GET', '/svc/v1/answers-and-throws', (request) => {
    request.hold().answer(textAnswer('said'))
    throw new Error('after the answer')
  }),
]

interface Client {
  readonly socket: Socket
  readonly text: () => string
}

async function client(): Promise<Client> {
  const socket = connect(port, '127.0.0.1')
  let text = ''
  socket.on('data', (chunk) => (text += chunk.toString('latin1'))).on('error', () => undefined)
  await until(() => ofServer.has(socket.localPort ?? 0))
  return { socket, text: () => text }
}

async function startWatched(): Promise<void> {
  await start({ routes })
  http.server.on('connection', (socket: Socket) => ofServer.set(socket.remotePort!, socket))
}

/** Has both handled in one turn, the first one first; what the second one does meanwhile is given. */
async function bothInOneTurn(doMeanwhile: (first: Client) => void): Promise<[Client, Client]> {
  const [first, second] = [await client(), await client()]
  meanwhile = () => doMeanwhile(first)
  first.socket.write(get('first'))
  second.socket.write(get('second'))
  await until(() => order.length === 2 && second.text().endsWith('ok'))
  expect(order).toEqual(['first', 'second'])
  return [first, second]
}

test.each(['destroy', 'end'] as const)(
  'an answer is counted although another request of its turn causes %s of its connection',
  async (how) => {
    await startWatched()
    const [first, second] = await bothInOneTurn(({ socket }) => void ofServer.get(socket.localPort!)![how]())
    await until(() => first.socket.destroyed)
    second.socket.write(get('first'))
    await until(() => second.text().endsWith('first'))
    expect([http.inFlight(), logged.length]).toEqual([0, 0])
    second.socket.destroy()
  },
)

test('an answer is sent even if the server stops in the same turn', async () => {
  await startWatched()
  const [first, second] = await bothInOneTurn(() => void http.stop(200))
  await until(() => first.socket.destroyed)
  expect(first.text()).toMatch(/first$/)
  second.socket.destroy()
})

test('an answer is sent although its handler throws afterwards, and the connection stays usable', async () => {
  await startWatched()
  const one = await client()
  one.socket.write(get('answers-and-throws').repeat(3) + get('first'))
  await until(() => one.text().endsWith('first'))
  expect(one.text().match(/said/g)).toHaveLength(3)
  expect(http.inFlight()).toBe(0)
  one.socket.destroy()
})
