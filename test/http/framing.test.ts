/** Where a request ends: by RFC 9112, and no byte behind an `Upgrade` is lost. */
import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { finish, http, port, reset, start, until } from './http-fixture.ts'

beforeEach(async () => {
  reset()
  await start()
})
afterEach(async () => {
  for (const { socket } of opened.splice(0)) socket.destroy()
  await finish()
})

interface Opened {
  readonly socket: Socket
  text: string
  hasEnded: boolean
}

const opened: Opened[] = []

function open(): Opened {
  const one: Opened = { socket: connect(port, '127.0.0.1'), text: '', hasEnded: false }
  one.socket.on('data', (bytes) => (one.text += bytes.toString('latin1')))
  one.socket.on('close', () => (one.hasEnded = true))
  one.socket.on('error', () => {})
  opened.push(one)
  return one
}

const statusesOf = ({ text }: Opened): string[] =>
  (text.match(/^HTTP\/1\.1 \d+/gm) ?? []).map((line) => line.slice(9))
const bodiesOf = ({ text }: Opened): string[] => text.match(/\{"a":"\d+"\}/g) ?? []

const UPGRADES = {
  websocket: 'Connection: Upgrade\r\nUpgrade: websocket\r\n',
  h2c: 'Connection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAEAAEAA\r\nUpgrade: h2c\r\n',
  'h2c with odd blanks': 'connection:HTTP2-Settings,upgrade \r\nupgrade:  h2c\r\n',
}
const get = (a: number, fields = '') => `GET /svc/v1/echo?a=${a} HTTP/1.1\r\nHost: x\r\n${fields}\r\n`
const post = (a: number, fields = '') =>
  `POST /svc/v1/echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 3\r\n${fields}\r\na=${a}`

describe.each(Object.entries(UPGRADES))('a request with Upgrade (%s)', (_name, fields) => {
  test.each([
    ['GET', get],
    ['POST', post],
  ])('%s keeps its connection with nothing behind it', async (_method, ask) => {
    const one = open()
    for (let a = 1; a <= 10; a++) {
      one.socket.write(ask(a % 10, fields))
      await until(() => bodiesOf(one).length === a || one.hasEnded)
    }
    expect(bodiesOf(one)).toEqual(Array.from({ length: 10 }, (_, at) => `{"a":"${(at + 1) % 10}"}`))
    expect(one.text).not.toMatch(/^Connection: close/im)
  })

  test.each([
    ['a request', get(2)],
    ['half of a request', get(2).slice(0, 25)],
    ['one byte', 'G'],
    ['a blank line', '\r\n'],
    ['a request with Upgrade', get(2, fields)],
  ])('ends its connection with %s behind it', async (_what, behind) => {
    for (const ask of [get, post]) {
      const one = open()
      one.socket.write(ask(1, fields) + behind)
      await until(() => bodiesOf(one).length > 0)
      one.socket.write(get(3))
      await until(() => one.hasEnded)
      expect(bodiesOf(one)).toEqual(['{"a":"1"}'])
      expect(one.text).toMatch(/^Connection: close/im)
    }
  })

  test('keeps its connection where its body comes later', async () => {
    const one = open()
    for (let a = 1; a <= 3; a++) {
      const text = post(a, fields)
      one.socket.write(text.slice(0, -3))
      await new Promise((resolve) => setTimeout(resolve, 30))
      one.socket.write(text.slice(-3))
      await until(() => bodiesOf(one).length === a || one.hasEnded)
    }
    expect(bodiesOf(one)).toEqual(['{"a":"1"}', '{"a":"2"}', '{"a":"3"}'])
    expect(one.text).not.toMatch(/^Connection: close/im)
  })

  test('ends its connection where it cannot be told what is behind it', async () => {
    for (const parts of [
      [get(1, fields).slice(0, -1), `\n${get(2)}`],
      [get(1, fields).slice(0, -20), `${get(1, fields).slice(-20)}${get(2)}`],
      [get(0) + get(1, fields)],
      [post(1, fields).slice(0, -2), `=1${get(2)}`],
      [post(1, fields).slice(0, -3), 'a', `=1${get(2).slice(0, 9)}`, get(2).slice(9)],
    ]) {
      const one = open()
      for (const part of parts) {
        one.socket.write(part)
        await new Promise((resolve) => setTimeout(resolve, 30))
      }
      await until(() => one.hasEnded)
      expect(bodiesOf(one).at(-1)).toBe('{"a":"1"}')
    }
    expect(http.inFlight()).toBe(0)
  })
})

test('what comes after the answer of a request with Upgrade is a request', async () => {
  const one = open()
  one.socket.write(get(1, UPGRADES.h2c))
  await until(() => bodiesOf(one).length === 1)
  one.socket.write(get(2) + get(3))
  await until(() => bodiesOf(one).length === 3)
})

describe('a request whose end is not clear', () => {
  const body = '3\r\na=1\r\n0\r\n\r\n'
  const form = 'Content-Type: application/x-www-form-urlencoded\r\n'
  test.each([
    [
      'chunks of HTTP/1.0',
      `POST /svc/v1/echo HTTP/1.0\r\nHost: x\r\nConnection: keep-alive\r\n${form}Transfer-Encoding: chunked\r\n\r\n${body}`,
      '400',
    ],
    ['two Host fields', `GET /svc/v1/echo?a=1 HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n`, '400'],
    [
      'two Host fields, spelled otherwise',
      `GET /svc/v1/echo?a=1 HTTP/1.1\r\nHost: x\r\nhOSt: y\r\n\r\n`,
      '400',
    ],
    [
      'gzip, chunked',
      `POST /svc/v1/echo HTTP/1.1\r\nHost: x\r\n${form}Transfer-Encoding: gzip, chunked\r\n\r\n${body}`,
      '501',
    ],
    [
      'identity, chunked',
      `POST /svc/v1/echo HTTP/1.1\r\nHost: x\r\n${form}Transfer-Encoding: identity, chunked\r\n\r\n${body}`,
      '501',
    ],
    [
      'gzip and chunked in two fields',
      `POST /svc/v1/echo HTTP/1.1\r\nHost: x\r\n${form}Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n${body}`,
      '501',
    ],
    [
      'chunked twice',
      `POST /svc/v1/echo HTTP/1.1\r\nHost: x\r\n${form}Transfer-Encoding: chunked, chunked\r\n\r\n${body}`,
      '400',
    ],
    ['no Host', 'GET /svc/v1/echo?a=1 HTTP/1.1\r\n\r\n', '400'],
    [
      'chunked that is not last',
      `POST /svc/v1/echo HTTP/1.1\r\nHost: x\r\n${form}Transfer-Encoding: chunked, gzip\r\n\r\n${body}`,
      '400',
    ],
  ])('is refused, and ends the connection: %s', async (_what, request, status) => {
    const one = open()
    one.socket.write(request + get(2))
    await until(() => one.hasEnded)
    expect(statusesOf(one)).toEqual([status])
    expect(bodiesOf(one)).toEqual([])
    expect(one.text).toMatch(/^Connection: close/im)
  })

  test.each(['chunked', 'Chunked', ' chunked '])('%j alone is read', async (coding) => {
    const one = open()
    one.socket.write(
      `POST /svc/v1/echo HTTP/1.1\r\nHost: x\r\n${form}Transfer-Encoding: ${coding}\r\n\r\n${body}${get(2)}`,
    )
    await until(() => bodiesOf(one).length === 2)
  })
})
