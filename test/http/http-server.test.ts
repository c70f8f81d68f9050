import { errorsOfPath } from '../../src/protocols/http/dialect-errors.ts'
import { Readable } from 'node:stream'
import { createHttpServer } from '../../src/protocols/http/transport/http-server.ts'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { FORM, finish, logged, plainRoute, port, raw, reset, send, SETTINGS, start } from './http-fixture.ts'

beforeEach(reset)
afterEach(finish)

test('HEAD makes no chunk of a body, and ends what makes them', async () => {
  let made = 0
  async function* endless() {
    for (;;) yield await Promise.resolve(Buffer.from(String(made++)))
  }
  const silent = new Readable({ read: () => undefined })
  const answer = { status: 200, contentType: 'text/plain', body: '' }
  const routes = [
    plainRoute('GET', '/svc/v1/endless', () => ({ ...answer, chunks: endless() })),
    plainRoute('GET', '/svc/v1/silent', () => ({ ...answer, chunks: silent })),
  ]
  await start({ routes })
  for (const path of ['/svc/v1/endless', '/svc/v1/silent'])
    expect(await send(path, { method: 'HEAD' })).toMatchObject({ status: 200, text: '' })
  expect([made, silent.destroyed]).toEqual([0, true])
})

describe('parameters', () => {
  beforeEach(() => start())

  test('come from the query', async () => {
    expect((await send('/svc/v1/echo?a=x+y&n=3')).text).toBe('{"a":"x y","n":3}')
    expect((await send('/svc/v1/echo/?a=%E4%B8%AD')).text).toBe('{"a":"中"}')
    expect((await send('/svc/v1/echo?')).text).toBe('{}')
  })

  test.each(['POST', 'PUT', 'PATCH', 'DELETE'])(
    '%s takes them from a form body too, the query first',
    async (method) => {
      const headers = { ...FORM, 'content-length': '10' }
      const reply = await send('/svc/v1/echo?a=query', { method, headers, body: 'a=body&n=4' })
      expect(reply.text).toBe('{"a":"query","n":4}')
    },
  )

  test('a form is UTF-8 whatever charset it claims, and may have no type at all', async () => {
    for (const type of [
      'application/x-www-form-urlencoded; charset=GBK',
      'Application/X-WWW-Form-Urlencoded;charset=utf8',
      '',
    ])
      expect(
        (await send('/svc/v1/echo', { method: 'POST', headers: { 'content-type': type }, body: 'a=中' }))
          .text,
      ).toBe('{"a":"中"}')
    expect((await send('/svc/v1/echo', { method: 'POST', body: 'a=b' })).text).toBe('{"a":"b"}')
  })

  test('a form of GET is not read', async () => {
    expect(
      (await send('/svc/v1/echo?n=1', { headers: { ...FORM, 'content-length': '3' }, body: 'a=b' })).text,
    ).toBe('{"n":1}')
  })

  test('a POST without a body and without a length is answered', async () => {
    const text = await raw('POST /svc/v1/echo?a=q HTTP/1.1\r\nHost: x\r\n\r\n')
    expect(text).toContain('{"a":"q"}')
  })

  test('raw JSON in the request line is read, and raw UTF-8 there is refused and logged', async () => {
    const text = await raw('GET /svc/v1/echo?a={"n":"[1]"}|^`\\<># HTTP/1.1\r\nHost: x\r\n\r\n')
    expect(text).toContain(JSON.stringify({ a: '{"n":"[1]"}|^`\\<>#' }))
    const utf8 = await raw('GET /svc/v1/echo?a=中 HTTP/1.1\r\nHost: x\r\n\r\n')
    expect(utf8).toMatch(/^HTTP\/1.1 400 [^]*percent-encoded/)
  })

  test('a wrong one is a 400 that names it', async () => {
    const reply = await send('/svc/v1/echo?n=x')
    expect(reply.status).toBe(400)
    expect(reply.headers['content-type']).toBe('application/problem+json')
    expect(JSON.parse(reply.text)).toMatchObject({
      status: 400,
      parameter: 'n',
      allowed: 'an integer of at least 0',
    })
    expect((await send('/svc/v1/echo?a=%FF')).status).toBe(400)
    expect((await send(`/svc/v1/echo?${'b=1&'.repeat(51)}`)).status).toBe(400)
  })
})

describe('answers', () => {
  beforeEach(() => start())

  test('carry their length, their type and nosniff', async () => {
    const { headers, text } = await send('/svc/v1/ok')
    expect(text).toBe('ok')
    expect(headers).toMatchObject({
      'content-type': 'text/plain;charset=UTF-8',
      'content-length': '2',
      'x-content-type-options': 'nosniff',
    })
    expect(headers.date).toBeDefined()
  })

  test('may come later, from one handler or as a refusal', async () => {
    expect((await send('/svc/v1/later')).text).toBe('later')
    expect((await send('/svc/v1/refuses')).status).toBe(404)
  })

  test('a header can hold nothing that ends it', async () => {
    const { headers } = await send('/svc/v1/odd-header')
    expect(headers['x-odd']).toBe('a%0D%0ASet-Cookie: b%E4%B8%AD')
    expect(headers['set-cookie']).toBeUndefined()
  })

  test.each(['/svc/v1/throws', '/svc/v1/rejects', '/svc/v1/silent'])(
    '%s is a 500 that tells nothing but an id, logged once',
    async (path) => {
      const reply = await send(path)
      const problem = JSON.parse(reply.text) as { instance: string }
      expect(reply.status).toBe(500)
      expect(reply.text).not.toContain('secret')
      expect(logged).toHaveLength(1)
      expect(problem.instance).toBe(`urn:uuid:${(logged[0] as { requestId: string }).requestId}`)
    },
  )

  test('an unknown path is 404 and an unknown method 405 with Allow, in the dialect of the path', async () => {
    expect(await send('/svc/v1/nothing')).toMatchObject({
      status: 404,
      headers: { 'content-type': 'application/problem+json' },
    })
    expect(await send('/svc/v1/ok', { method: 'DELETE' })).toMatchObject({
      status: 405,
      headers: { allow: 'GET, HEAD' },
    })
    const whole = await send('/svc/v1/ok')
    expect(await send('/svc/v1/ok', { method: 'HEAD' })).toMatchObject({
      status: whole.status,
      headers: { 'content-length': String(whole.text.length) },
      text: '',
    })
    const nacos = await send('/nacos/v1/ns/nothing')
    expect(nacos.status).toBe(404)
    expect(JSON.parse(nacos.text)).toMatchObject({
      status: 404,
      error: 'Not Found',
      message: 'no such api:GET:/nacos/v1/ns/nothing',
      path: '/nacos/v1/ns/nothing',
    })
    expect(await send('/nacos/v1/cs/configs', { method: 'PUT' })).toMatchObject({
      status: 405,
      text: "caused: Request method 'PUT' not supported;",
    })
    expect(logged).toHaveLength(0)
  })

  test('a route tells errors in its own format', async () => {
    expect(await send('/nacos/v1/cs/configs')).toMatchObject({
      status: 400,
      text: "caused: Required request parameter 'dataId' for method parameter type String is not present;",
    })
    expect(await send('/nacos/v1/cs/configs?dataId=x')).toMatchObject({
      status: 404,
      text: 'config data not exist\n',
    })
  })
})

describe('a request that was read before, word for word', () => {
  beforeEach(() => start())
  const put = (target: string, x = '') =>
    send(target, { method: 'PUT', headers: { 'x-test': x, 'content-length': '0' } })

  test('is answered without its parameters being read', async () => {
    expect((await put('/svc/v1/repeated?a=known')).text).toBe('known from 127.0.0.1')
    expect((await put('/svc/v1/repeated?a=other')).text).toBe('read')
  })

  test('is refused to a caller who may not do it', async () => {
    expect((await put('/svc/v1/repeated?a=known', 'denied')).status).toBe(403)
  })

  test('is not recognised with a body', async () => {
    const headers = { ...FORM, 'content-length': '3' }
    const reply = await send('/svc/v1/repeated?a=known', { method: 'PUT', headers, body: 'b=1' })
    expect(reply.text).toBe('read')
  })
})

describe('the caller', () => {
  test('is the socket, whatever a header says', async () => {
    await start()
    const headers = { 'x-forwarded-for': '9.9.9.9', 'user-agent': 'Tester:v1', 'x-test': 'yes' }
    expect(JSON.parse((await send('/svc/v1/who', { headers })).text)).toEqual({
      ip: '127.0.0.1',
      socketIp: '127.0.0.1',
      userAgent: 'Tester:v1',
      x: 'yes',
    })
    expect(JSON.parse((await send('/svc/v1/who')).text)).toMatchObject({ userAgent: '' })
  })

  test('is who a trusted proxy names', async () => {
    await start({}, { trustedProxies: ['127.0.0.0/8'] })
    const reply = await send('/svc/v1/who', { headers: { 'x-forwarded-for': '1.1.1.1, 9.9.9.9, 127.0.0.2' } })
    expect(JSON.parse(reply.text)).toMatchObject({ ip: '9.9.9.9', socketIp: '127.0.0.1' })
  })
})

test('a port that is taken is an error of listen', async () => {
  await start()
  const second = createHttpServer({
    routes: [],
    settings: SETTINGS,
    fallbackErrors: errorsOfPath,
    log: { error: () => undefined, warn: () => undefined },
  })
  await expect(second.listen({ host: '127.0.0.1', port })).rejects.toThrow('EADDRINUSE')
})
