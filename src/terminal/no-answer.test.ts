import { expect, test } from 'vitest'
import { noAnswer } from './no-answer.ts'

const failed = (code: string | undefined, message = '') =>
  new TypeError('fetch failed', { cause: Object.assign(new Error(message), { code }) })

test.each([
  ['ECONNREFUSED', /nothing listens there\. Start the server/],
  ['ENOTFOUND', /its name has no address/],
  ['UND_ERR_CONNECT_TIMEOUT', /does not answer/],
  ['UND_ERR_SOCKET', /closed the connection\. Does it expect https\?/],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', /NODE_EXTRA_CA_CERTS/],
  ['ERR_SSL_WRONG_VERSION_NUMBER', /does not speak TLS/],
  ['ERR_TLS_CERT_ALTNAME_INVALID', /for another name/],
])('%s', (code, text) => {
  const { message } = noAnswer('http://x:1', failed(code)) as Error
  expect(message).toMatch(/^The server at http:\/\/x:1 cannot be reached: /)
  expect(message).toMatch(text)
})

test('other causes are said as they are, and an aborted request stays one', () => {
  expect((noAnswer('http://x:1', failed(undefined, 'bad port')) as Error).message).toBe(
    'The server at http://x:1 cannot be reached: bad port.',
  )
  const aborted = new DOMException('aborted', 'AbortError')
  expect(noAnswer('http://x:1', aborted)).toBe(aborted)
})
