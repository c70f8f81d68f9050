import { GOOD_VALUES, goodValues, type Operation } from './operations.ts'
import type { Random } from './random.ts'

/** The headers of real clients. */
const CLIENT_HEADERS: readonly string[] = [
  '',
  'User-Agent: Nacos-Java-Client:v1.4.8\r\nClient-Version: Nacos-Java-Client:v1.4.8\r\nRequestId: 1b4e28ba-2fa1-11d2\r\nRequest-Module: Naming\r\nAccept-Encoding: gzip,deflate,sdch\r\n',
  'User-Agent: Nacos-Go-Client:v1.1.4\r\nClient-Version: Nacos-Go-Client:v1.1.4\r\nTimeStamp: 1700000000000\r\n',
  'User-Agent: Nacos-Python-Client:0.1.17\r\nConnection: keep-alive\r\n',
  'User-Agent: node-urllib/2.44.0 Node.js/20\r\nAccept: */*\r\nX-Forwarded-For: 127.0.0.9, 127.0.0.8\r\n',
  'exConfigInfo: true\r\nSpas-AccessKey: a\r\nContent-Type: application/x-www-form-urlencoded;charset=UTF-8\r\n',
]

/** Requests of every operation as clients send them, as bytes: the query and form forms of each, with each client's headers. */
export function corpusOf(operations: readonly Operation[], random: Random): Buffer[] {
  return operations.flatMap((operation) => {
    const requests = [requestText(operation, random, 1)]
    if (operation.takesForm)
      requests.push(requestText(operation, random, 0), requestText(operation, random, 0.5))
    return requests.map((text) => Buffer.from(text))
  })
}

/** A delete by a number may hit an item that no request names, so these parameters are left out. */
function isUnguessable({ name }: { name: string }): boolean {
  return name !== 'ids'
}

function requestText(
  { method, path, parameters, headers, takesForm }: Operation,
  random: Random,
  inQuery: number,
): string {
  const pairs = parameters.filter(isUnguessable).map((parameter) => {
    const value = random.of(goodValues(parameter))
    return `${parameter.name}=${encodeURIComponent(value)}`
  })
  const cut = Math.round(pairs.length * inQuery)
  const query = pairs.slice(0, cut).join('&')
  const body = pairs.slice(cut).join('&')
  const own = headers.map((name) => `${name}: ${name.includes('No-Hangup') ? 'true' : '1000'}\r\n`).join('')
  const form = takesForm ? 'Content-Type: application/x-www-form-urlencoded\r\n' : ''
  const length = method === 'GET' ? '' : `Content-Length: ${Buffer.byteLength(body)}\r\n`
  return `${method} ${path}${query === '' ? '' : `?${query}`} HTTP/1.1\r\nHost: localhost\r\n${random.of(CLIENT_HEADERS)}${own}${form}${length}\r\n${method === 'GET' ? '' : body}`
}

/** Pieces that are difficult for parsers. A mutation inserts one anywhere. */
export const PIECES: readonly Buffer[] = [
  '%',
  '%0',
  '%00',
  '%0d%0a',
  '%ff',
  '%c0%af',
  '%ed%a0%80',
  '%25',
  '%2525',
  '&',
  '=',
  '&&',
  '=&=',
  '+',
  ';',
  '?',
  '#',
  '\r\n',
  '\n',
  '\r',
  '\r\n\r\n',
  '\0',
  '\t',
  ' ',
  ':',
  ',',
  '..',
  '/',
  '//',
  '\\',
  '\u0001',
  '\u0002',
  '^',
  '*',
  '@@',
  '{',
  '}',
  '[',
  ']',
  '"',
  '\\"',
  '\\u0000',
  '\\ud800',
  '{"a":'.repeat(50),
  '['.repeat(100),
  'null',
  'true',
  '1e999',
  '-0',
  '__proto__',
  'constructor',
  '{"__proto__":{"a":1}}',
  'prototype=1',
  'toString',
  'Content-Length: 0\r\n',
  'Content-Length: 5\r\n',
  'Content-Length: -1\r\n',
  'Content-Length: 99999999999\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Transfer-Encoding: identity\r\n',
  'Expect: 100-continue\r\n',
  'Expect: x\r\n',
  'Connection: close\r\n',
  'Connection: Upgrade\r\nUpgrade: websocket\r\n',
  'Upgrade: h2c\r\n',
  'Host: a\r\n',
  'Content-Type: multipart/form-data; boundary=x\r\n',
  'Content-Type: application/json\r\n',
  'Content-Type: \r\n',
  'X-Forwarded-For: 127.0.0.1, ::1, x\r\n',
  'casMd5: x\r\n',
  'Long-Pulling-Timeout: 99999\r\n',
  ' folded: x\r\n',
  'HTTP/1.0',
  'HTTP/0.9',
  'HTTP/2.0',
  'GET ',
  'POST ',
  'PUT ',
  'DELETE ',
  'PATCH ',
  'OPTIONS ',
  'TRACE ',
  'CONNECT ',
  '0\r\n\r\n',
  '5\r\nhello\r\n',
  'ffffffffffffffff\r\n',
  '1;a=b\r\nx\r\n',
  'x'.repeat(300),
  'ä',
  '文',
  '😀',
  '\u202e',
  '\ufeff',
  ...Object.values(GOOD_VALUES).flat(),
]
  .filter((piece) => piece !== '' && piece.length < 1_000)
  .map((piece) => Buffer.from(piece))
  .concat([0x80, 0xc0, 0xed, 0xf5, 0xff].map((byte) => Buffer.from([byte])))
