import { expect, test } from 'vitest'
import { headersOf, healthRequestOf, pathOf } from './http-probe.ts'

const target = (host: string, port: number, headers = '') => ({
  host,
  port,
  checker: { type: 'HTTP', path: '/health', headers, expectedResponseCode: 200 } as const,
})

test('header fields have the form name:value and are separated by |', () => {
  expect(headersOf('')).toEqual({})
  expect(headersOf('User-Agent: checker |X-Time:12:30|broken|:none|X-Empty:')).toEqual({
    'user-agent': 'checker',
    'x-time': '12:30',
    'x-empty': '',
  })
})

test('a field that is invalid or changes the framing is left out', () => {
  expect(headersOf('a:b\r\nEvil: 1|a\r\nEvil:1|c:d\n|sp ace:1|nul:\0|wide:\u4e2d')).toEqual({})
  expect(headersOf('Transfer-Encoding:chunked|content-length:5|Connection:keep-alive|upgrade:h2c')).toEqual(
    {},
  )
})

test('a path begins with a slash, and blanks and line ends in it are escaped', () => {
  expect(pathOf('')).toBe('/')
  expect(pathOf('health?deep=1')).toBe('/health?deep=1')
  expect(pathOf('/a b\r\nHost: evil')).toBe('/a%20b%0d%0aHost:%20evil')
  expect(pathOf('/中')).toBe('/%e4%b8%ad')
  expect(pathOf('http://elsewhere/')).toBe('/http://elsewhere/')
})

test('the host field names the target, unless the checker names a virtual host', () => {
  expect(healthRequestOf(target('10.0.0.1', 8080)).headers['host']).toBe('10.0.0.1:8080')
  expect(healthRequestOf(target('db.example', 80)).headers['host']).toBe('db.example')
  expect(healthRequestOf(target('fe80::1%eth0', 8080)).headers['host']).toBe('[fe80::1]:8080')
  expect(healthRequestOf(target('a\r\nb', 1)).headers['host']).toBe('ab:1')
  expect(healthRequestOf(target('10.0.0.1', 80, 'Host:shop.example')).headers['host']).toBe('shop.example')
})
