import { describe, expect, test } from 'vitest'
import { callerAddress, cameByTls, parseTrustedProxies } from './client-address.ts'

describe('X-Forwarded-For', () => {
  const trusted = parseTrustedProxies(['10.0.0.0/8', '192.168.1.1', 'fd00::/8'])

  test.each([
    ['nobody but a trusted proxy is believed', '9.9.9.9', '1.1.1.1', '9.9.9.9'],
    ['the hop that the proxy saw', '10.0.0.1', '1.1.1.1', '1.1.1.1'],
    ['what the client wrote itself is not believed', '10.0.0.1', '6.6.6.6, 1.1.1.1', '1.1.1.1'],
    ['trusted hops are passed over', '10.0.0.1', '6.6.6.6, 1.1.1.1, 192.168.1.1,10.0.0.2', '1.1.1.1'],
    ['all trusted: the farthest', '10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['an unreadable hop ends it', '10.0.0.1', '1.1.1.1, unknown, 10.0.0.2', '10.0.0.2'],
    ['nothing readable', '10.0.0.1', 'x', '10.0.0.1'],
    ['empty', '10.0.0.1', '', '10.0.0.1'],
    ['with a port', '10.0.0.1', '1.1.1.1:4711', '1.1.1.1'],
    ['IPv6', 'fd00::1', '2001:db8::1', '2001:db8::1'],
    ['IPv6 with a port', 'fd00::1', '[2001:db8::1]:80', '2001:db8::1'],
    ['wrapped IPv4', '10.0.0.1', '::ffff:1.1.1.1', '1.1.1.1'],
  ])('%s', (...[, socket, header, caller]) => {
    expect(callerAddress(socket, header, trusted)).toBe(caller)
  })

  test('without the header, and without trusted proxies, it is the socket', () => {
    expect(callerAddress('10.0.0.1', undefined, trusted)).toBe('10.0.0.1')
    expect(callerAddress('127.0.0.1', '1.1.1.1', parseTrustedProxies([]))).toBe('127.0.0.1')
  })
})

test.each(['x', '10.0.0.0/33', '10.0.0.0/', '10.0.0.0/8/8', '', '::1/129', '10.0.0.0/-1'])(
  '%s is no proxy and named',
  (entry) => {
    expect(() => parseTrustedProxies([entry])).toThrow(`"${entry}" is not an IP address`)
  },
)

describe('a request came by TLS', () => {
  const trusted = parseTrustedProxies(['10.0.0.0/8'])

  test.each([
    ['on a socket with TLS', { encrypted: true, remoteAddress: '9.9.9.9' }, undefined, true],
    [
      'on a socket with TLS, whatever a header says',
      { encrypted: true, remoteAddress: '9.9.9.9' },
      'http',
      true,
    ],
    ['to a trusted proxy', { remoteAddress: '10.0.0.1' }, 'https', true],
    ['to the first of several proxies', { remoteAddress: '::ffff:10.0.0.1' }, 'HTTPS, http', true],
    ['not to a proxy without TLS', { remoteAddress: '10.0.0.1' }, 'http', false],
    ['not to a proxy that says nothing', { remoteAddress: '10.0.0.1' }, undefined, false],
    ['not because anybody says so', { remoteAddress: '9.9.9.9' }, 'https', false],
    ['not on a socket that is closed', {}, 'https', false],
  ] as const)('%s', (...[, socket, header, expected]) => {
    expect(cameByTls(socket, header, trusted)).toBe(expected)
  })
})
