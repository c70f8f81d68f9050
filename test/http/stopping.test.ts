import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { textAnswer } from '../../src/protocols/http/routing/answers.ts'
import { answersIn, keepBusyUntilRefused } from '../support/steady-client.ts'
import { finish, held, http, port, reset, send, start, until } from './http-fixture.ts'

beforeEach(reset)
afterEach(finish)

const head = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`
const ok = head('/svc/v1/ok')
const hold = head('/svc/v1/hold')

/** The statuses of whole answers; throws where the text ends inside one. */
function statusesOf(text: string): number[] {
  const { answers, rest } = answersIn(text)
  expect(rest).toBe('')
  return answers.map(({ status }) => status)
}

interface Client {
  readonly socket: Socket
  text: string
  error: string | undefined
}

async function opened(): Promise<Client> {
  const client: Client = { socket: connect(port, '127.0.0.1'), text: '', error: undefined }
  client.socket.on('data', (chunk) => (client.text += chunk.toString('latin1')))
  client.socket.on('error', (error: NodeJS.ErrnoException) => (client.error = error.code))
  await until(() => !client.socket.connecting)
  return client
}

/** A connection that was used and is idle. */
async function idle(): Promise<Client> {
  const client = await opened()
  client.socket.write(ok)
  await until(() => client.text.endsWith('ok'))
  client.text = ''
  return client
}

describe('while the server stops', () => {
  beforeEach(() => start())

  test('a request on an idle connection is refused in its dialect, and the connection ends', async () => {
    const [svc, nacos] = [await idle(), await idle()]
    const stopped = http.stop(5_000)
    svc.socket.write(ok)
    nacos.socket.write(head('/nacos/v1/cs/configs?dataId=a'))
    await stopped
    await until(() => svc.socket.closed && nacos.socket.closed)
    expect(svc.text).toMatch(/^HTTP\/1.1 503 [^]*\r\nConnection: close\r\n[^]*problem:stopping/)
    expect(nacos.text).toMatch(/^HTTP\/1.1 503 [^]*\r\nConnection: close\r\n[^]*caused: /)
    expect([svc.error, nacos.error]).toEqual([undefined, undefined])
  })

  test('requests that were sent ahead are refused after the one that was begun is answered', async () => {
    const client = await opened()
    client.socket.write(hold + ok.repeat(5))
    await until(() => http.inFlight() === 6)
    const stopped = http.stop(5_000)
    held[0]!.answer(textAnswer('bye'))
    await stopped
    await until(() => client.socket.closed)
    expect(statusesOf(client.text)).toEqual([200, ...Array<number>(5).fill(503)])
    expect(client.text.match(/Connection: close/g)).toHaveLength(1)
    expect(client.error).toBeUndefined()
  })

  test('a request whose body is still arriving is refused, and its sender reads the answer', async () => {
    const client = await idle()
    const stopped = http.stop(5_000)
    const body = 'x'.repeat(60_000)
    client.socket.write(`POST /svc/v1/echo HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n`)
    await new Promise((resolve) => setTimeout(resolve, 10))
    client.socket.write(body)
    await stopped
    await until(() => client.socket.closed)
    expect(statusesOf(client.text)).toEqual([503])
    expect(client.error).toBeUndefined()
  })

  test('a body that was begun before is read, and its request answered', async () => {
    const client = await opened()
    client.socket.write('POST /svc/v1/echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\na')
    await until(() => http.inFlight() === 1)
    const stopped = http.stop(5_000)
    client.socket.write('=b')
    await stopped
    await until(() => client.socket.closed)
    expect(client.text).toMatch(/^HTTP\/1.1 200 [^]*\{"a":"b"\}$/)
  })

  test('connections that the system has accepted are served, later ones are refused', async () => {
    const early = await Promise.all(Array.from({ length: 100 }, () => opened()))
    for (const { socket } of early) socket.write(ok)
    await http.stopListening()
    await http.stop(5_000)
    await until(() => early.every(({ socket }) => socket.closed))
    for (const { text, error } of early) expect([error, ...statusesOf(text)].join()).toMatch(/^,(200|503)$/)
    await expect(send('/svc/v1/ok')).rejects.toThrow('ECONNREFUSED')
  })
})

test('clients that keep their connections busy see whole answers, then a refused connection', async () => {
  await start()
  const clients = Array.from({ length: 40 }, (_, number) => keepBusyUntilRefused(port, ok, 1 + (number % 4)))
  await new Promise((resolve) => setTimeout(resolve, 200))
  await http.stopListening()
  await http.stop(5_000)
  expect(new Set((await Promise.all(clients)).flat())).toEqual(new Set(['ended', 'refused']))
})
