import { expect, test } from 'vitest'
import { plainTokenOf } from './identification.ts'

test.each([
  ['/a?accessToken=x.y-z', 'x.y-z'],
  ['/a?b=1&accessToken=x&c=2', 'x'],
  ['/a?accessToken=x&accessToken=y', 'x'],
  // The first one counts also where it is none, as where the parameters are read.
  ['/a?accessToken=&accessToken=y', undefined],
  ['/a?accessToken=x%20&accessToken=y', undefined],
  ['/a?notAccessToken=x', undefined],
  ['/accessToken=x', undefined],
])('of %s the token is %s without reading the parameters', (url, token) => {
  expect(plainTokenOf({}, url)).toBe(token)
  expect(plainTokenOf({ authorization: 'Bearer h' }, url)).toBe('h')
})
