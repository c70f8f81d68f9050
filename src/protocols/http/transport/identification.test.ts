import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { valuesOf } from '../../parameters/form-parser.ts'
import { Type } from '../../parameters/schema.ts'
import { credentialsOf, plainTokenOf } from './identification.ts'

test.each([
  ['/a?accessToken=x.y-z', 'x.y-z'],
  ['/a?b=1&accessToken=x&c=2', 'x'],
  ['/a?b=%31&accessToken=x&c=%32', 'x'],
  ['/a?b=%31&c&d=%32&accessToken=x', 'x'],
  ['/a?accessToken=x&accessToken=y', 'x'],
  // The first counts even if it is empty, as where the parameters are read.
  ['/a?accessToken=&accessToken=y', undefined],
  ['/a?accessToken=x%20&accessToken=y', undefined],
  // Another spelling of the name may come first.
  ['/a?%61ccessToken=y&accessToken=x', undefined],
  ['/a?b=%31&%61ccessToken=y&accessToken=x', undefined],
  ['/a?accessToken&accessToken=x', undefined],
  ['/a?b=1?accessToken=x', undefined],
  ['/a?notAccessToken=x', undefined],
  ['/a?notaccessToken=x', undefined],
  ['/accessToken=x', undefined],
])('of %s the token is %s without reading the parameters', (url, token) => {
  expect(plainTokenOf({}, url)).toBe(token)
  expect(plainTokenOf({ authorization: 'Bearer h' }, url)).toBe('h')
})

test('a token that is found without reading the parameters is the one that they have', () => {
  const part = fc.constantFrom(
    'accessToken',
    '%61ccessToken',
    'b',
    '=',
    '&',
    '?',
    'x',
    '%31',
    'y=',
    '&&',
    '+',
  )
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
      const url = `/a?${parts.join('')}`
      const plain = plainTokenOf({}, url)
      if (plain !== undefined) expect(plain).toBe(valuesOf(url, undefined, 100).get('accessToken'))
    }),
    { numRuns: 10_000 },
  )
})

describe('credentials', () => {
  const ROUTE = {
    params: Type.Object({ a: Type.Optional(Type.String()) }),
    permission: { action: 'write', resource: 'config' },
  } as const
  const OPEN = { ...ROUTE, permission: { action: 'write', resource: 'public' } } as const
  const of = (
    url: string,
    form = '',
    {
      route = ROUTE,
      headers = {},
    }: { route?: object; headers?: { authorization?: string; accesstoken?: string } } = {},
  ) => credentialsOf({ headers, url, form: Buffer.from(form), maxParameters: 100 }, route as typeof ROUTE)

  test.each([
    ['/a', 'content=x&accessToken=t', { token: 't', pair: undefined }],
    ['/a?accessToken=q', 'accessToken=t', { token: 'q', pair: undefined }],
    ['/a?accessToken=', 'accessToken=t', { token: undefined, pair: undefined }],
    ['/a', 'password=p&x=1&username=u', { token: undefined, pair: { username: 'u', password: 'p' } }],
    ['/a?username=q', 'username=u&password=p', { token: undefined, pair: { username: 'q', password: 'p' } }],
    ['/a', 'username=&password=p', { token: undefined, pair: undefined }],
    ['/a', 'username=u', { token: undefined, pair: undefined }],
    ['/a', `username=${'u'.repeat(20_000)}&password=p`, { token: undefined, pair: undefined }],
  ])('of %s with %s', (url, form, expected) => {
    expect(of(url, form)).toEqual(expected)
  })

  test('a token that is too long is a wrong one', () => {
    expect(of('/a', `accessToken=${'t'.repeat(20_000)}`).token).toBe('-')
  })

  test('a header counts more than parameters', () => {
    const headers = { authorization: 'Bearer h' }
    expect(of('/a?accessToken=q', 'accessToken=t', { headers }).token).toBe('h')
    const other = { accesstoken: 'o' }
    expect(of('/a?accessToken=q', 'accessToken=t', { headers: other }).token).toBe('o')
    expect(of('/a', '', { headers: { ...headers, ...other } }).token).toBe('h')
    expect(of('/a?accessToken=q', '', { headers: { accesstoken: '' } }).token).toBe('q')
    expect(plainTokenOf(other, '/a?accessToken=q')).toBe('o')
  })

  test('a route that is open, or has a username of its own, takes no pair', () => {
    const own = { ...ROUTE, params: Type.Object({ username: Type.Optional(Type.String()) }) }
    for (const route of [OPEN, own])
      expect(of('/a', 'username=u&password=p', { route })).toEqual({ token: undefined, pair: undefined })
  })
})
