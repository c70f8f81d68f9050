import { Type, SVC_RULES } from '../parameters/schema.ts'
import { expect, test } from 'vitest'
import { Refusal } from '../../core/refusal.ts'
import { problemErrors } from './errors/problem.ts'
import { route, type Method, type Route } from './routing/route.ts'
import { Router } from './routing/router.ts'

function at(method: Method, path: string): Route {
  return route({
    method,
    path,
    summary: '',
    permission: { action: 'read', resource: 'public' },
    params: Type.Object({}),
    rules: SVC_RULES,
    errors: problemErrors,
    handle: () => undefined,
  })
}

const router = new Router(
  [
    at('GET', '/a/b'),
    at('POST', '/a/b'),
    { ...at('GET', '/c'), maxBodyBytes: 7 },
    at('GET', '/w/*'),
    at('GET', '/w/x'),
  ],
  99,
)

test('a route is found by method and path, with or without a slash at the end', () => {
  expect(router.find('GET', '/a/b')).toMatchObject({ readsBody: false, maxBodyBytes: 99 })
  expect(router.find('POST', '/a/b/')).toMatchObject({ readsBody: true })
  expect(router.find('GET', '/c')).toMatchObject({ maxBodyBytes: 7 })
})

test('a path with a star is all others below it', () => {
  for (const path of ['/w/', '/w/y', '/w/x/y', '/w/*'])
    expect(router.find('GET', path)).toMatchObject({ route: { path: '/w/*' } })
  expect(router.find('GET', '/w/x')).toMatchObject({ route: { path: '/w/x' } })
})

test.each([
  '/w',
  '/wx/y',
  '/*',
  '*',
  '/a',
  '/a/b//',
  '/A/B',
  '//a/b',
  '/a/%62',
  '',
  '/',
  '__proto__',
  '/c/d',
])('%s is no path', (path) => {
  expect(router.find('GET', path)).toMatchObject({ code: 'unknown-path' })
})

test('the answer to an unknown method lists the methods of the path', () => {
  for (const method of ['DELETE', 'OPTIONS', 'get', 'head', 'constructor']) {
    const found = router.find(method, '/a/b')
    expect(found).toBeInstanceOf(Refusal)
    expect(found).toMatchObject({ code: 'unknown-method', facts: { allowed: 'GET, HEAD, POST' } })
  }
})

test('HEAD is the same as GET', () => {
  expect(router.find('HEAD', '/a/b')).toBe(router.find('GET', '/a/b'))
  expect(new Router([at('POST', '/only')], 1).find('HEAD', '/only')).toMatchObject({
    facts: { allowed: 'POST' },
  })
})

test('two routes at one place are a mistake of ours', () => {
  expect(() => new Router([at('GET', '/a'), at('GET', '/a')], 1)).toThrow('two routes for GET /a')
})
