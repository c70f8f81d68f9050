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
  [at('GET', '/a/b'), at('POST', '/a/b'), { ...at('GET', '/c'), maxBodyBytes: 7 }],
  99,
)

test('a route is found by method and path, with or without a slash at the end', () => {
  expect(router.find('GET', '/a/b')).toMatchObject({ readsBody: false, maxBodyBytes: 99 })
  expect(router.find('POST', '/a/b/')).toMatchObject({ readsBody: true })
  expect(router.find('GET', '/c')).toMatchObject({ maxBodyBytes: 7 })
})

test.each(['/a', '/a/b//', '/A/B', '//a/b', '/a/%62', '', '/', '__proto__', '/c/d'])(
  '%s is no path',
  (path) => {
    expect(router.find('GET', path)).toMatchObject({ code: 'unknown-path' })
  },
)

test('the answer to an unknown method lists the methods of the path', () => {
  for (const method of ['DELETE', 'HEAD', 'OPTIONS', 'get', 'constructor']) {
    const found = router.find(method, '/a/b')
    expect(found).toBeInstanceOf(Refusal)
    expect(found).toMatchObject({ code: 'unknown-method', facts: { allowed: 'GET, POST' } })
  }
})

test('two routes at one place are a mistake of ours', () => {
  expect(() => new Router([at('GET', '/a'), at('GET', '/a')], 1)).toThrow('two routes for GET /a')
})
