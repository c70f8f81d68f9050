import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ManagedWaypost, startManaged } from '../support/administrator.ts'
import { Client, type Params, serverForThisFile, unique } from './client.ts'
import { expectProblem } from './problem.ts'

const waypost = serverForThisFile()
const MULTIPART = 'multipart/form-data; boundary=XX'

/** A multipart form; a value that is a list has a file name. */
function multipart(fields: Readonly<Record<string, string | readonly [string]>>): Buffer {
  const parts = Object.entries(fields).map(([name, value]) => {
    const file = typeof value === 'string' ? '' : '; filename="f"'
    return `--XX\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n${String(value)}\r\n`
  })
  return Buffer.from(`${parts.join('')}--XX--\r\n`)
}

/** A body of a type, and the query beside it. */
type Sent = readonly [type: string, body: Buffer | string, query?: Params]

const send = (client: Client, path: string, [type, body, query = {}]: Sent) =>
  client.call('POST', path, { query, body, headers: { 'content-type': type } })

describe('under /nacos, the fields of a multipart form are parameters', () => {
  const content = 'a=1&b=50%+c\r\n中: "=" %41\n'

  test('of a publish, whatever characters the content has', async () => {
    const item = { dataId: unique('multi'), group: 'G' }
    const form = multipart({ ...item, content, type: 'yaml' })
    expect((await send(waypost.nacos, '/cs/configs', [MULTIPART, form])).text).toBe('true')
    expect((await waypost.nacos.get('/cs/configs', item)).text).toBe(content)
    expect((await waypost.nacos.get('/cs/configs', { ...item, show: 'all' })).json().type).toBe('yaml')
  })

  test('of an instance, a beat, a namespace, a switch and a long poll', async () => {
    const serviceName = unique('multi')
    const instance = multipart({ serviceName, ip: '10.0.0.1', port: '80' })
    expect((await send(waypost.nacos, '/ns/instance', [MULTIPART, instance])).text).toBe('ok')
    const space = unique('multi')
    const namespace = multipart({ customNamespaceId: space, namespaceName: 'Multi' })
    expect((await send(waypost.nacos, '/console/namespaces', [MULTIPART, namespace])).text).toBe('true')
    const headers = { 'content-type': MULTIPART, 'Long-Pulling-Timeout': '100' }
    const body = multipart({ 'Listening-Configs': `${serviceName}\x02G\x02abc\x01` })
    const poll = await waypost.nacos.call('POST', '/cs/configs/listener', { body, headers })
    expect(poll.text).toContain(serviceName)
    const put = (path: string, form: Buffer) =>
      waypost.nacos.call('PUT', path, { body: form, headers: { 'content-type': MULTIPART } })
    const beat = multipart({ serviceName, beat: JSON.stringify({ ip: '10.0.0.1', port: 80 }) })
    expect((await put('/ns/instance/beat', beat)).json()).toMatchObject({ code: 10_200 })
    const entry = multipart({ entry: 'healthCheckEnabled', value: 'true' })
    expect((await put('/ns/operator/switches', entry)).text).toBe('ok')
  })

  test('of version 2', async () => {
    const item = { dataId: unique('multi'), group: 'G' }
    const url = new URL('/nacos/v2/cs/config', waypost.server.url)
    const headers = { 'content-type': MULTIPART }
    const answer = await fetch(url, { method: 'POST', headers, body: multipart({ ...item, content: 'x' }) })
    expect(await answer.json()).toMatchObject({ code: 0, data: true })
  })

  test('but not fields with a file name, and the query goes first', async () => {
    const item = { dataId: unique('multi'), group: 'G' }
    const asFile = await send(waypost.nacos, '/cs/configs', [
      MULTIPART,
      multipart({ ...item, content: ['x'] }),
    ])
    expect([asFile.status, asFile.text]).toEqual([400, expect.stringContaining("'content'")])
    const both = multipart({ dataId: 'other', group: 'G', content: 'x' })
    expect((await send(waypost.nacos, '/cs/configs', [MULTIPART, both, item])).text).toBe('true')
    expect((await waypost.nacos.get('/cs/configs', item)).text).toBe('x')
  })

  test.each([
    [
      'a content that is not UTF-8',
      Buffer.from(multipart({ dataId: 'a', group: 'G', content: '\xff' }).toString('utf8'), 'latin1'),
    ],
    ['a body that is cut', multipart({ dataId: 'a', group: 'G', content: 'x' }).subarray(0, -4)],
  ])('%s is refused', async (_, body) => {
    expect((await send(waypost.nacos, '/cs/configs', [MULTIPART, body])).status).toBe(400)
  })

  test('and other types stay unread', async () => {
    const item = { dataId: unique('json'), group: 'G', content: 'x' }
    const answer = await send(waypost.nacos, '/cs/configs', ['application/json', '{"content":"y"}', item])
    expect(answer.text).toBe('true')
    expect((await waypost.nacos.get('/cs/configs', item)).text).toBe('x')
  })
})

describe('under /svc, a body of a type that is not read is refused', () => {
  const item = () => ({ dataId: unique('types'), group: 'G', content: 'x' })

  test.each([
    ['multipart/form-data', multipart(item())],
    ['application/json', '{}'],
    ['text/yaml', 'a: 1'],
    ['application/json; charset=utf-8', 'x'],
  ])('%s, also where the query alone would do', async (type, body) => {
    const named = item()
    const refused = await send(waypost.svc, '/cs/configs', [type, body, named])
    expectProblem(refused, 400)
    expect(refused.json().detail).toContain(`"${type.split(';')[0]}"`)
    expect(refused.json().detail).toContain('application/x-www-form-urlencoded or text/plain')
    expect((await waypost.svc.get('/cs/configs', named)).status).toBe(404)
    expectProblem(await send(waypost.svc, '/ns/instance', [type, body, { ip: '10.0.0.1', port: 1 }]), 400)
    const get = { query: named, body, headers: { 'content-type': type } }
    expectProblem(await waypost.svc.call('GET', '/cs/configs', get), 400)
  })

  test('a clone and an import too', async () => {
    for (const variant of ['clone', 'import']) {
      const refused = await send(waypost.svc, '/cs/configs', ['image/png', '[]', { [variant]: true }])
      expectProblem(refused, 400, '"image/png"')
    }
  })

  test.each([
    ['', 200],
    ['{}', 400],
  ])('a body in chunks, %j, is answered with %d', async (body, status) => {
    expect(await chunked(body)).toBe(status)
  })

  function chunked(body: string): Promise<number | undefined> {
    const query = new URLSearchParams(item()).toString()
    const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' }
    const url = `${waypost.server.url}/svc/v1/cs/configs?${query}`
    return new Promise((resolve, reject) => {
      const sent = request(url, { method: 'POST', headers }, (answer) => resolve(answer.resume().statusCode))
      sent.on('error', reject)
      sent.end(body)
    })
  }
})

describe('under /svc, a publish', () => {
  const text = 'a=1&b=2\n%41+中: é\r\n'

  test.each(['text/plain', 'application/octet-stream', 'text/plain; charset="UTF-8"'])(
    'takes the text itself as its body (%s)',
    async (type) => {
      const item = { dataId: unique('text'), group: 'G' }
      expect((await send(waypost.svc, '/cs/configs', [type, text, { ...item, type: 'yaml' }])).text).toBe(
        'true',
      )
      expect((await waypost.svc.get('/cs/configs', item)).text).toBe(text)
    },
  )

  test('takes it for a gray version too', async () => {
    const item = { dataId: unique('text'), group: 'G' }
    await waypost.svc.post('/cs/configs', { ...item, content: 'x' })
    const release = { ...item, grayType: 'beta', grayMatchRuleExp: '10.0.0.9' }
    expect((await send(waypost.svc, '/cs/configs/gray', ['text/plain', text, release])).status).toBe(200)
  })

  test.each([
    { what: 'content in the query too', said: 'not both', more: { content: 'y' } },
    { what: 'another charset', said: 'UTF-8', type: 'text/plain; charset=GBK' },
    { what: 'other bytes', said: 'UTF-8', body: Buffer.from([0x61, 0xff]) },
    { what: 'a blank body', said: 'blank', body: ' ' },
  ])('refuses $what', async ({ said, more, type = 'text/plain', body = 'x' }) => {
    const item = { dataId: unique('text'), group: 'G' }
    const refused = await send(waypost.svc, '/cs/configs', [type, body, { ...item, ...more }])
    expectProblem(refused, 400, said)
    expect((await waypost.svc.get('/cs/configs', item)).status).toBe(404)
  })

  test('refuses a body with a content-encoding, and names it', async () => {
    const query = { dataId: unique('packed'), group: 'G', content: 'x' }
    const coded = (coding: string, type: string, body: string) =>
      waypost.svc.call('POST', '/cs/configs', {
        query,
        body,
        headers: { 'content-type': type, 'content-encoding': coding },
      })
    expectProblem(await coded('gzip', 'application/x-www-form-urlencoded', 'a=1'), 400, '"gzip"')
    expectProblem(await coded('br', 'text/plain', 'x'), 400, '"br"')
    expect((await coded('identity', 'application/x-www-form-urlencoded', 'desc=d')).text).toBe('true')
  })

  test.each([
    ['b', 'content=a=1&b=2'],
    ['b c', `content=${'a'.repeat(5000)}&b+c=1`],
    ['xxx', `content=a&${'x'.repeat(5000)}`],
    ['no name', 'content=a&=b'],
  ])('refuses and names an unknown field (%s)', async (name, fields) => {
    const item = { dataId: unique('field'), group: 'G' }
    const form = `dataId=${item.dataId}&group=G&${fields}`
    const refused = await send(waypost.svc, '/cs/configs', ['application/x-www-form-urlencoded', form])
    expectProblem(refused, 400, name)
    expect(refused.json().detail).toContain('%26')
    expect((await waypost.svc.get('/cs/configs', item)).status).toBe(404)
  })

  test('takes the fields of other dialects, credentials and encoding, and any field in the query', async () => {
    const item = { dataId: unique('field'), group: 'G', content: 'x' }
    const more = { tag: '', betaIps: '', srcUser: 'a', configTags: 'b', accessToken: '', encoding: 'UTF-8' }
    const call = { query: { _: 1, b: 2 }, form: { ...item, ...more } }
    expect((await waypost.svc.call('POST', '/cs/configs', call)).text).toBe('true')
  })
})

describe('where callers sign in', () => {
  let managed: ManagedWaypost
  let client: Client
  beforeAll(async () => {
    managed = await startManaged()
    client = new Client(managed.waypost.url)
  }, 60_000)
  afterAll(async () => {
    client?.close()
    await managed?.waypost.stop()
  })
  const pair = { username: 'nacos', password: 'secret' }
  const named = () => ({ dataId: unique('managed'), group: 'G' })

  test('a multipart form has credentials as every form has', async () => {
    const login = await send(client, '/nacos/v1/auth/login', [MULTIPART, multipart(pair)])
    const { accessToken } = login.json() as { accessToken: string }
    for (const credentials of [pair, { accessToken }]) {
      const form = multipart({ ...named(), content: 'x', ...credentials })
      expect((await send(client, '/nacos/v1/cs/configs', [MULTIPART, form])).text).toBe('true')
    }
    const wrong = multipart({ ...named(), content: 'x', ...pair, password: 'no' })
    expect((await send(client, '/nacos/v1/cs/configs', [MULTIPART, wrong])).status).toBe(403)
  })

  test('a text is no place for credentials: they are in the query or the head', async () => {
    const text = `username=${pair.username}&password=${pair.password}`
    const path = '/svc/v1/cs/configs'
    expect((await send(client, path, ['text/plain', text, named()])).status).toBe(403)
    const known = { ...named(), ...pair }
    expect((await send(client, path, ['text/plain', text, known])).text).toBe('true')
  })
})
