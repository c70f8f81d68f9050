/** The audit of a real server: what is recorded, how it is asked, and that it survives the end of the process. */
import { readFile, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startWaypost, temporaryDirectory, type Waypost } from '../support/waypost.ts'
import { until } from './client.ts'
import { raw } from './transfer-support.ts'

interface Event {
  id: string
  time: number
  username: string
  by: string
  ip: string
  operation: string
  item: string
  items: string[]
  unchangedItems: string[]
  itemCount: number
  result: string
  code: string
  detail: string
  count: number
}

const PASSWORD = 's3cret-password'
let server: Waypost
let lines: string
let administrator: string
let ann: string

beforeAll(async () => {
  lines = join(temporaryDirectory('audit-'), 'audit.log')
  server = await startWaypost({ settings: { auth: 'on', 'audit-log': lines } })
  const code = /code=([\w-]+)/.exec(server.output())?.[1] ?? ''
  await send('POST', '/auth/users/admin', { form: { code, password: PASSWORD } })
  administrator = await login('nacos', PASSWORD)
  await send('POST', '/auth/users', { token: administrator, form: { username: 'ann', password: PASSWORD } })
  await send('POST', '/auth/roles', { token: administrator, form: { role: 'reader', username: 'ann' } })
  const permission = { role: 'reader', resource: 'public:*:*', action: 'r' }
  await send('POST', '/auth/permissions', { token: administrator, form: permission })
  ann = await login('ann', PASSWORD)
})
afterAll(() => server.stop())

interface Sent {
  readonly token?: string
  readonly form?: Record<string, string>
}

async function send(method: string, path: string, { token, form }: Sent = {}) {
  const response = await fetch(`${server.url}/svc/v1${path}`, {
    method,
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    ...(form === undefined ? {} : { body: new URLSearchParams(form) }),
  })
  return { status: response.status, text: await response.text() }
}

async function login(username: string, password: string): Promise<string> {
  const { text } = await send('POST', '/auth/login', { form: { username, password } })
  return (JSON.parse(text) as { accessToken: string }).accessToken
}

async function audit(query: Record<string, string>, token = administrator) {
  const { status, text } = await send('GET', `/audit?${new URLSearchParams(query)}`, { token })
  expect(status).toBe(200)
  return JSON.parse(text) as { events: Event[]; next: string | null }
}

/** Waits until the newest event that matches is there and is right: it is written behind. */
async function newest(query: Record<string, string>, isRight: (event: Event) => boolean = () => true) {
  const newestNow = async () => (await audit({ ...query, pageSize: '1' })).events[0]
  const event = await until(newestNow, (found) => found !== undefined && isRight(found))
  return event!
}

const publish = (dataId: string, token: string, content = 'content-of-it') =>
  send('POST', '/cs/configs', { token, form: { dataId, group: 'G', content, src_user: 'eve' } })

describe('an event of several items keeps their names, and each finds it:', () => {
  const names = (namespace: string) =>
    ['several.yml', 'several.json'].map((id) => `${namespace}:S:config/${id}`)

  async function calls(path: string, init: RequestInit): Promise<void> {
    const headers = new Headers(init.headers)
    headers.set('authorization', `Bearer ${administrator}`)
    const { status } = await fetch(`${server.url}${path}`, { ...init, headers })
    expect(status).toBe(200)
  }

  async function idsOf(tenant = ''): Promise<string[]> {
    const query = new URLSearchParams({
      tenant,
      search: 'blur',
      dataId: 'several*',
      group: 'S',
      pageNo: '1',
      pageSize: '9',
    })
    const { text } = await send('GET', `/cs/configs?${query}`, { token: administrator })
    return (JSON.parse(text) as { pageItems: { id: string }[] }).pageItems.map(({ id }) => id)
  }

  async function isFound(operation: string, namespace: string): Promise<void> {
    for (const item of names(namespace)) {
      const event = await newest({ operation, item })
      expect([event.items.toSorted(), event.itemCount]).toEqual([names(namespace).toSorted(), 2])
      expect(event.item).toMatch(/^[^:]+:S:config\/several\.(?:yml|json) and 1 more$/)
    }
  }

  test('an import, a copy and a deletion', async () => {
    const zip = await raw({ 'S/several.yml': 'a: 1', 'S/several.json': '{}' })
    const form = new FormData()
    form.set('file', new Blob([new Uint8Array(zip)]), 'f.zip')
    await calls('/svc/v1/cs/configs?import=true', { method: 'POST', body: form })
    await isFound('import configs', 'public')
    const space = { customNamespaceId: 'copies', namespaceName: 'copies' }
    await send('POST', '/console/namespaces', { token: administrator, form: space })
    const ids = await idsOf()
    const body = JSON.stringify(ids.map((cfgId) => ({ cfgId })))
    const headers = { 'content-type': 'application/json' }
    await calls('/svc/v1/cs/configs?clone=true&tenant=copies', { method: 'POST', body, headers })
    await isFound('clone configs', 'copies')
    await calls(`/nacos/v1/cs/configs?delType=ids&ids=${ids.join(',')}`, { method: 'DELETE' })
    await isFound('delete configs', 'public')
    const copies = await idsOf('copies')
    await calls(`/nacos/v1/cs/configs?delType=ids&ids=${[copies[0], ids[0]].join(',')}`, { method: 'DELETE' })
    expect(await newest({ item: `id ${ids[0]}` })).toMatchObject({
      items: [expect.stringContaining('copies:S:config/'), `id ${ids[0]}`],
      unchangedItems: [`id ${ids[0]}`],
    })
    const written = await until(
      () => readFile(lines, 'utf8'),
      (text) => text.includes('"delete configs"'),
    )
    expect(written).toContain('"items":["public:S:config/several.')
  })
})

describe('the audit', () => {
  test('names who changed which item, from where, and with what result', async () => {
    expect((await publish('a', administrator)).status).toBe(200)
    const { id, time, ...event } = await newest({ item: 'public:G:config/a' })
    expect(event).toEqual({
      username: 'nacos',
      by: 'token',
      ip: '127.0.0.1',
      operation: 'publish config',
      item: 'public:G:config/a',
      items: ['public:G:config/a'],
      unchangedItems: [],
      itemCount: 1,
      result: 'done',
      code: '',
      detail: '',
      count: 1,
    })
    expect(id).toMatch(/^\d+$/)
    expect(Math.abs(Date.now() - time)).toBeLessThan(60_000)
  })

  test('names the same user as the history of the item, whatever the client claims', async () => {
    await publish('claimed', administrator)
    const query = new URLSearchParams({ search: 'accurate', dataId: 'claimed', group: 'G' })
    const { text } = await send('GET', `/cs/history?${query}`, { token: administrator })
    expect(JSON.parse(text).pageItems).toMatchObject([{ srcUser: 'nacos' }])
  })

  test('has the refusals of a user, equal ones as one event with a count', async () => {
    for (const dataId of ['x', 'y', 'z']) expect((await publish(dataId, ann)).status).toBe(403)
    const query = { username: 'ann', operation: 'publish config' }
    expect(await newest(query, ({ count }) => count === 3)).toMatchObject({
      item: 'public:G:config/x',
      result: 'refused',
      code: 'forbidden',
    })
    expect((await audit(query)).events).toHaveLength(1)
  })

  test('has the refusals of callers who are not signed in, reads too', async () => {
    expect((await send('GET', '/cs/configs?dataId=a&group=G')).status).toBe(403)
    expect(await newest({ username: '-', operation: 'read config' })).toMatchObject({
      by: 'none',
      item: 'public:G:config/a',
      code: 'not-signed-in',
    })
    const pair = new URLSearchParams({ username: 'ann', password: 'wr0ng-password' })
    expect((await send('GET', `/cs/configs?dataId=a&group=G&${pair}`)).status).toBe(403)
    expect(await newest({ operation: 'read config', username: 'ann' })).toMatchObject({
      item: 'public:G:config/a',
      code: 'wrong-password',
    })
  })

  test('has sign-ins, and wrong ones without what was typed for a name that nobody has', async () => {
    const tryAs = (username: string) =>
      send('POST', '/auth/login', { form: { username, password: 'wr0ng-password' } })
    await tryAs('ann')
    await tryAs('s3cret-typed-as-name')
    expect(await newest({ operation: 'sign in', username: 'ann', result: 'done' })).toMatchObject({
      by: 'password',
    })
    expect(await newest({ operation: 'sign in', username: 'ann', result: 'refused' })).toMatchObject({
      code: 'wrong-password',
    })
    expect(await newest({ operation: 'sign in', username: '-' })).toMatchObject({ code: 'unknown-user' })
    expect(JSON.stringify(await audit({ pageSize: '500' }))).not.toContain('s3cret-typed-as-name')
  })

  test('has changes of users, roles and permissions', async () => {
    expect(await newest({ operation: 'create user' })).toMatchObject({
      username: 'nacos',
      item: 'user ann',
    })
    expect(await newest({ operation: 'add role' })).toMatchObject({ item: 'role reader of user ann' })
    expect(await newest({ operation: 'add permission' })).toMatchObject({ result: 'done' })
    expect(await newest({ operation: 'create first administrator' })).toMatchObject({ username: '-' })
  })

  test('counts beats and registrations of ephemeral instances, and records persistent ones', async () => {
    const instance = { serviceName: 's', ip: '10.0.0.1', port: '80' }
    const naming = (method: string, path: string, form: Record<string, string>) =>
      send(method, `/ns${path}?${new URLSearchParams(form)}`, { token: administrator })
    await naming('POST', '/instance', { ...instance, ephemeral: 'true' })
    const beat = JSON.stringify({ ...instance, port: 80, cluster: 'DEFAULT' })
    await naming('PUT', '/instance/beat', { serviceName: 's', beat })
    await naming('POST', '/instance', { ...instance, serviceName: 'kept', ephemeral: 'false' })
    expect(await newest({ item: 'naming/kept' })).toMatchObject({ operation: 'register instance' })
    expect((await audit({ item: 'naming/s' })).events).toEqual([])
    const headers = { authorization: `Bearer ${administrator}` }
    const text = await (await fetch(`${server.url}/metrics`, { headers })).text()
    expect(text).toMatch(/waypost_beats_total\{outcome="renewed"\} 1\n/)
    expect(text).toMatch(/waypost_audit_counted_total\{operation="register instance"\} 1\n/)
    expect(text).toMatch(/waypost_audit_events_total\{outcome="written"\} [1-9]/)
  })

  test('is shown to administrators only', async () => {
    expect((await send('GET', '/audit', { token: ann })).status).toBe(403)
    expect((await send('GET', '/audit')).status).toBe(403)
    expect(await newest({ operation: 'read audit', username: 'ann' })).toMatchObject({ item: 'audit' })
  })

  test('has pages that stay where they are while events are added', async () => {
    for (let turn = 0; turn < 5; turn++) await publish(`page-${turn}`, administrator)
    await newest({ item: 'config/page-4' })
    const first = await audit({ item: 'config/page-', pageSize: '2' })
    await publish('page-5', administrator)
    await newest({ item: 'config/page-5' })
    const second = await audit({ item: 'config/page-', pageSize: '10', before: first.next! })
    expect([...first.events, ...second.events].map(({ item }) => item)).toEqual(
      [4, 3, 2, 1, 0].map((turn) => `public:G:config/page-${turn}`),
    )
    expect(second.next).toBeNull()
  })

  test('is searched by time', async () => {
    await publish('timed', administrator)
    const { time } = await newest({ item: 'config/timed' })
    const within = async (from: number, to: number) =>
      (await audit({ item: 'config/timed', from: String(from), to: String(to) })).events
    expect(await within(time, time)).toHaveLength(1)
    expect(await within(time + 1, time + 100_000)).toEqual([])
    expect(await within(time - 100_000, time - 1)).toEqual([])
  })

  test('has no event of a page that asks who is signed in', async () => {
    expect((await send('GET', '/console/session')).status).toBe(403)
    await publish('asked', administrator)
    await newest({ item: 'config/asked' })
    expect((await audit({ operation: 'read own-account' })).events).toEqual([])
  })

  test('names the operations where one is asked for that there is not', async () => {
    const { status, text } = await send('GET', '/audit?operation=foo', { token: administrator })
    expect([status, text]).toEqual([400, expect.stringContaining('publish config, publish gray config')])
  })

  test.each(['from=x', 'result=other', 'before=-1', 'pageSize=0'])('%s is a 400', async (query) => {
    expect((await send('GET', `/audit?${query}`, { token: administrator })).status).toBe(400)
  })
})

describe('the lines of the audit', () => {
  const written = async (path: string) => {
    const text = await readFile(path, 'utf8').catch(() => '')
    return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Event]))
  }
  const untilWritten = (path: string, item: string) =>
    until(
      () => written(path),
      (events) => events.some((event) => event.item.endsWith(item)),
    )

  test('are in a file that only its owner can read, and go on in a new one after it was renamed', async () => {
    await publish('before', administrator)
    await untilWritten(lines, '/before')
    expect((await stat(lines)).mode & 0o777).toBe(0o600)
    await rename(lines, `${lines}.1`)
    await publish('after', administrator)
    await untilWritten(lines, '/after')
    expect((await written(lines)).map(({ item }) => item)).toEqual(['public:G:config/after'])
  })
})

test('what was recorded a second ago survives the end of the process', async () => {
  await publish('survives', administrator)
  const { id } = await newest({ item: 'config/survives' })
  await server.kill()
  server = await server.restart()
  expect(await newest({ item: 'config/survives' })).toMatchObject({ id })
})
