import type { IncomingMessage } from 'node:http'
import { describe, expect, test } from 'vitest'
import { CrossSiteGuard } from './cross-site-guard.ts'

const NAMES = {
  advertiseHost: 'Waypost.Example',
  allowedHosts: ['portal.example', 'Other.example:8443', '[::9]:81'],
}
const MOZILLA = 'Mozilla/5.0 (X11; Linux x86_64)'

type Sent = Readonly<Record<string, string>>

/** The code of the refusal of a request, undefined if it is accepted. By default the server listens on every address. */
function judged(
  method: string,
  headers: Sent,
  { address = '::', url = '/svc/v1/x' } = {},
): string | undefined {
  const guard = new CrossSiteGuard(NAMES)
  guard.listensOn(address)
  return guard.refusalOf({ method, url, headers } as unknown as IncomingMessage)?.code
}

describe('a write', () => {
  const host = '10.0.0.1:8848'
  const passing: [string, Sent][] = [
    ['a client', { host, 'user-agent': 'curl/8.0' }],
    ['a client without a Host', {}],
    ['fetch of Node', { host, 'user-agent': 'node', 'sec-fetch-mode': 'cors' }],
    ['a page of this server', { host, origin: `http://${host}`, 'sec-fetch-site': 'same-origin' }],
    ['a user, from the address bar', { host, 'sec-fetch-site': 'none' }],
    ['a page at the default port', { host: '10.0.0.1', origin: 'http://10.0.0.1' }],
    ['a page at the default port, spelled out', { host: '10.0.0.1:80', origin: 'http://10.0.0.1' }],
    ['a page behind a TLS proxy', { host: '10.0.0.1', origin: 'https://10.0.0.1' }],
    ['a page behind a TLS proxy that names its port', { host: '10.0.0.1:443', origin: 'https://10.0.0.1' }],
    ['a page of an IPv6 address', { host: '[::1]:8848', origin: 'http://[::1]:8848' }],
    ['a page of a name in other letters', { host: 'LOCALHOST.:1', origin: 'http://localhost:1' }],
    ['a page of an allowed host', { host, origin: 'https://portal.example' }],
    ['a page of an allowed host at the other default port', { host, origin: 'http://portal.example' }],
    ['a page of an allowed host with its port', { host, origin: 'https://other.example:8443' }],
    ['a page of an allowed IPv6 address', { host, origin: 'http://[::9]:81' }],
  ]
  test.each(passing)('by %s passes', (_who, headers) => {
    expect(judged('POST', headers)).toBeUndefined()
  })

  const refused: [string, Sent][] = [
    ['a page of another site', { host, 'sec-fetch-site': 'cross-site' }],
    ['a page of another host of the site', { host, 'sec-fetch-site': 'same-site' }],
    ['a page of another site with two such headers', { host, 'sec-fetch-site': 'same-origin, cross-site' }],
    [
      'a page of another site that an allowed host embeds',
      { host, origin: 'https://portal.example', 'sec-fetch-site': 'cross-site' },
    ],
    ['another origin', { host, origin: 'http://evil.example' }],
    ['another port', { host, origin: 'http://10.0.0.1:3000' }],
    ['the default port of the other scheme', { host: '10.0.0.1:80', origin: 'https://10.0.0.1' }],
    ['no origin that it tells of', { host, origin: 'null' }],
    ['two origins', { host, origin: `http://${host}, http://evil.example` }],
    ['an extension', { host, origin: `chrome-extension://${host}` }],
    ['an origin with a user', { host, origin: `http://a@${host}` }],
    ['an origin without a Host', { origin: 'http://10.0.0.1' }],
    ['an allowed host at another port', { host, origin: 'https://portal.example:8443' }],
    ['an allowed host without its port', { host, origin: 'https://other.example' }],
  ]
  test.each(refused)('by %s is refused, with any method but GET, HEAD and OPTIONS', (_who, headers) => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND', 'get'])
      expect(judged(method, headers)).toBe('cross-site')
    for (const method of ['GET', 'HEAD', 'OPTIONS']) expect(judged(method, headers)).toBeUndefined()
  })
})

describe('a request for a host', () => {
  const addresses = ['127.0.0.1:8848', '127.0.0.1', '192.168.1.7:80', '[::1]:8848', '[::ffff:10.0.0.1]']
  const loopbacks = ['localhost', 'localhost:8848', 'LocalHost.:8848']
  const allowed = ['waypost.example:8848', 'PORTAL.example.:1', 'other.example']
  test.each([...addresses, ...loopbacks, ...allowed])('%s is answered', (host) => {
    for (const address of ['::', '127.0.0.1'])
      expect(judged('GET', { host, 'user-agent': MOZILLA }, { address })).toBeUndefined()
  })

  const others = ['evil.example', 'evil.example:8848', 'localhost.evil.example', '127.0.0.1.evil.example']
  const misspelled = [
    '127.1',
    '2130706433',
    '::1',
    '[localhost]',
    '[::1]x',
    'foo.localhost',
    'localhost..',
    '',
  ]
  const several = ['localhost:8848:8848', 'a@localhost', 'localhost, evil.example']
  test.each([...others, ...misspelled, ...several])(
    '%j is refused from a browser, and on a loopback address from all that name themselves',
    (host) => {
      const browsers: Sent[] = [
        { 'user-agent': MOZILLA },
        { 'user-agent': 'x', 'sec-fetch-site': 'same-origin' },
        { origin: `http://${host}` },
      ]
      for (const headers of browsers) {
        expect(judged('GET', { host, ...headers })).toBe('unknown-host')
        expect(judged('POST', { host, ...headers }, { address: '::1' })).toBe('unknown-host')
      }
      const client = { host, 'user-agent': 'Nacos-Java-Client:v1.4.8' }
      expect(judged('GET', client)).toBeUndefined()
      for (const address of ['127.0.0.1', '127.8.8.8', '::1', '::ffff:127.0.0.1'])
        expect(judged('GET', client, { address })).toBe('unknown-host')
      expect(judged('GET', { host }, { address: '127.0.0.1' })).toBeUndefined()
    },
  )

  test('that an absolute request target names is judged by that', () => {
    const browser = { host: 'localhost', 'user-agent': MOZILLA }
    expect(judged('GET', browser, { url: 'http://evil.example/x' })).toBe('unknown-host')
    expect(judged('GET', browser, { url: 'http://localhost:8848/x' })).toBeUndefined()
    expect(judged('OPTIONS', browser, { url: '*' })).toBeUndefined()
    const page = { host: 'localhost', origin: 'http://localhost' }
    expect(judged('POST', page, { url: 'http://10.0.0.1/x' })).toBe('cross-site')
  })

  test('that was accepted for one client is judged again for another Host', () => {
    const guard = new CrossSiteGuard(NAMES)
    const codeOf = (host: string) =>
      guard.refusalOf({ method: 'GET', url: '/', headers: { host, 'user-agent': MOZILLA } } as never)?.code
    const hosts = ['localhost', 'evil.example', 'localhost', 'evil.example']
    expect(hosts.map(codeOf)).toEqual([undefined, 'unknown-host', undefined, 'unknown-host'])
  })
})

test('both refusals name the setting', () => {
  const guard = new CrossSiteGuard(NAMES)
  const messageOf = (headers: Sent) =>
    guard.refusalOf({ method: 'POST', url: '/', headers } as unknown as IncomingMessage)?.message
  expect(messageOf({ host: 'localhost', origin: 'http://evil.example' })).toContain('allowed-hosts')
  expect(messageOf({ host: 'evil.example', origin: 'http://evil.example' })).toContain('allowed-hosts')
})

test('an allowed host that cannot be read is an error', () => {
  expect(() => new CrossSiteGuard({ advertiseHost: '', allowedHosts: ['http://x'] })).toThrow(/http:\/\/x/)
})
