import { once } from 'node:events'
import type { Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { OK_TEXT, textAnswer } from '../../src/protocols/http/routing/answers.ts'
import { PLAIN_RULES } from '../../src/protocols/parameters/schema.ts'
import {
  finish,
  held,
  http,
  logged,
  opened,
  plainRoute,
  raw,
  reset,
  seen,
  start,
  until,
} from './http-fixture.ts'

beforeEach(reset)
afterEach(finish)

const ok = 'GET /svc/v1/ok HTTP/1.1\r\nHost: x\r\n\r\n'
const hold = 'GET /svc/v1/hold HTTP/1.1\r\nHost: x\r\n\r\n'
const JSON_BODY = 'Content-Type: application/json\r\n'

function post(path: string, body: string, headers = ''): string {
  const length = Buffer.byteLength(body)
  return `POST ${path} HTTP/1.1\r\nHost: x\r\n${headers}Content-Length: ${length}\r\n\r\n${body}`
}

function chunked(path: string, chunks: string[], end = '0\r\n\r\n'): string {
  const sent = chunks.map((chunk) => `${Buffer.byteLength(chunk).toString(16)}\r\n${chunk}\r\n`).join('')
  return `POST ${path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${sent}${end}`
}

const answersIn = (text: string): string[] => text.match(/HTTP\/1.1 \d+/g) ?? []
const okOf = (text: string): number => text.match(/\r\n\r\nok/g)?.length ?? 0

describe('a body is the same however it comes', () => {
  beforeEach(() => start())

  test.each([
    ['with a length', post('/svc/v1/echo', 'a=%C3%A9&n=7')],
    ['as a chunk', chunked('/svc/v1/echo', ['a=%C3%A9&n=7'])],
    ['as chunks', chunked('/svc/v1/echo', ['a', '=%C', '3%A9&', 'n=7'])],
    ['with trailers', chunked('/svc/v1/echo', ['a=%C3%A9', '&n=7'], '0\r\nX-A: b\r\nX-B: c\r\n\r\n')],
  ])('%s, in one piece or byte by byte', async (_, bytes) => {
    const socket = await opened()
    socket.write(bytes + ok)
    await until(() => okOf(socket.text) === 1)
    for (const byte of Buffer.from(bytes + ok)) socket.write(Buffer.from([byte]))
    await until(() => okOf(socket.text) === 2)
    expect(socket.text.match(/\{"a":"\u00c3\u00a9","n":7\}/g)).toHaveLength(2)
    socket.destroy()
  })

  test('is the same also if it is empty', async () => {
    const text = await raw(post('/svc/v1/echo', '') + chunked('/svc/v1/echo', []) + ok)
    expect(text.match(/\r\n\r\n\{\}/g)).toHaveLength(2)
    expect(okOf(text)).toBe(1)
  })
})

describe('a body that the handler does not read', () => {
  test.each([
    ['of an unknown path', post('/svc/v1/nothing', 'x'.repeat(300_000)), 404],
    ['that holds no form', post('/svc/v1/echo', 'x'.repeat(300_000), JSON_BODY), 400],
  ])('%s is skipped, and the next request is read', async (_, request, status) => {
    await start()
    const socket = await opened()
    socket.write(request + ok)
    await until(() => okOf(socket.text) === 1)
    socket.write(request.slice(0, 20_000))
    await until(() => answersIn(socket.text).length === 3)
    socket.write(request.slice(20_000) + ok)
    await until(() => okOf(socket.text) === 2)
    expect(answersIn(socket.text)).toEqual([status, 200, status, 200].map((code) => `HTTP/1.1 ${code}`))
    socket.destroy()
  })

  test('is skipped also if the answer comes later', async () => {
    const slow = plainRoute('POST', '/svc/v1/slow', async () => {
      await new Promise((resolve) => setTimeout(resolve, 10))
      return OK_TEXT
    })
    await start({ routes: [{ ...slow, rules: PLAIN_RULES }] })
    const text = await raw(post('/svc/v1/slow', 'x'.repeat(200_000), JSON_BODY).repeat(3))
    expect(okOf(text)).toBe(3)
  })

  test('does not delay an answer that closes the connection', async () => {
    await start()
    const asking = `${JSON_BODY}Expect: 100-continue\r\n`
    for (const path of ['/svc/v1/nothing', '/svc/v1/echo']) {
      const socket = await opened()
      socket.write(post(path, 'x'.repeat(60), asking).slice(0, -60))
      await once(socket, 'end')
      expect(socket.text).toMatch(/^HTTP\/1.1 (404|400) [^]*\r\nConnection: close\r\n/)
      socket.destroy()
    }
  })

  test('leaves no listeners of its request on the connection', async () => {
    await start()
    let ofServer: (Socket & { parser?: { incoming: unknown } }) | undefined
    http.server.on('connection', (socket: Socket) => (ofServer = socket))
    const socket = await opened()
    for (const request of [ok, ok.replace('/ok', '/nothing'), post('/svc/v1/nothing', 'x'.repeat(100_000))]) {
      const before = socket.text.length
      socket.write(request)
      await until(() => socket.text.length > before)
      await until(() => ofServer?.parser?.incoming === null)
    }
    socket.destroy()
  })
})

describe('input behind a held poll', () => {
  test('waits in the client, except for a little, and is read after the poll', async () => {
    await start({}, { maxBodyBytes: 20_000_000 })
    const socket = await opened()
    socket.write(hold + post('/svc/v1/echo', `a=${'x'.repeat(15_000_000)}`) + ok)
    await until(() => held.length === 1)
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(socket.writableLength).toBeGreaterThan(0)
    held[0]!.answer(textAnswer('changed'))
    await until(() => okOf(socket.text.slice(-10)) === 1)
    expect(socket.text.length).toBeGreaterThan(15_000_000)
    socket.destroy()
  })

  test('is dropped beyond the limit, and the connection ends with the refusal', async () => {
    await start({}, { maxPipelinedRequests: 10 })
    const socket = await opened()
    const upgrade = ok.replace('Host: x', 'Host: x\r\nConnection: Upgrade\r\nUpgrade: websocket')
    socket.write(hold + ok.repeat(13) + upgrade + post('/svc/v1/echo', 'x'.repeat(100_000)) + ok)
    await until(() => held.length === 1 && socket.writableLength === 0)
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(http.inFlight()).toBe(11)
    held[0]!.answer(textAnswer('changed'))
    await until(() => socket.closed)
    expect(answersIn(socket.text)).toEqual([...Array(11).fill('HTTP/1.1 200'), 'HTTP/1.1 429'])
    expect(http.inFlight()).toBe(0)
  })

  test('closes the connection after a thousand requests beyond the limit', async () => {
    await start({}, { maxPipelinedRequests: 10 })
    let requests = 0
    http.server.on('request', () => requests++)
    const socket = await opened()
    const once64KiB = 64 * 1024
    socket.write(hold + ok.repeat(50_000))
    await until(() => socket.closed && http.inFlight() === 0)
    expect(seen.gone).toBe(1)
    // The bytes that Node has read by then are still parsed.
    expect(requests).toBeLessThan(1_011 + once64KiB / ok.length)
  })
})

test('a client that disconnects in the middle of a body releases its body memory', async () => {
  await start({}, { maxBodyMemoryBytes: 100_000 })
  const part = post('/svc/v1/echo', `a=${'x'.repeat(60_000)}`).slice(0, 50_000)
  for (let round = 0; round < 5; round++) {
    const socket = await opened()
    socket.write(part)
    await until(() => http.inFlight() === 1)
    if (round % 2 === 0) socket.destroy()
    else socket.resetAndDestroy()
    await until(() => http.inFlight() === 0)
  }
  expect(await raw(post('/svc/v1/echo', `a=${'x'.repeat(60_000)}`))).toMatch(/^HTTP\/1.1 200 /)
  expect(logged).toHaveLength(0)
})
