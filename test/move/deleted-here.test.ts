/** Data that an import has brought and somebody has deleted here does not come back with the next import. */
import { hashSync } from 'bcryptjs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ManagedWaypost, startManaged } from '../support/administrator.ts'

const HEAD = { kind: 'plan', format: 1, madeMs: 1, sources: [], counts: {}, lastRefMs: 0 }
const DELETED = 'it was deleted here since the last import'

let server: ManagedWaypost
beforeAll(async () => void (server = await startManaged()))
afterAll(() => server?.waypost.stop())

async function importing(lines: readonly object[], query = '') {
  const { waypost } = server
  const login = await fetch(`${waypost.url}/svc/v1/auth/login`, {
    method: 'POST',
    body: new URLSearchParams({ username: 'nacos', password: 'secret' }),
  })
  const { accessToken } = (await login.json()) as { accessToken: string }
  const response = await fetch(`${waypost.url}/svc/v1/operator/import${query}`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson', authorization: `Bearer ${accessToken}` },
    body: [HEAD, ...lines].map((line) => JSON.stringify(line)).join('\n'),
  })
  expect(response.status).toBe(200)
  return (await response.json()) as { lines: { line: number; reason: string }[] }
}

const text = { content: 'a', md5: null, encryptedDataKey: '', appName: '' }
const item = { namespace: '', group: 'G', dataId: 'item' }
const config = {
  kind: 'config',
  ...item,
  ...text,
  type: 'text',
  desc: null,
  use: null,
  effect: null,
  schema: null,
  tags: null,
  createdMs: 1,
  modifiedMs: 1,
  user: null,
  ip: null,
}
const gray = (content: string, expression = '10.0.0.9') => ({
  kind: 'gray',
  ...item,
  ...text,
  content,
  name: 'beta',
  rule: 'beta',
  expression,
  priority: null,
  modifiedMs: 1,
})
const service = (name: string, protectThreshold: number) => ({
  kind: 'service',
  namespace: 'dev',
  group: 'G',
  name,
  protectThreshold,
  selector: { type: 'none', expression: '' },
  metadata: {},
  clusters: [],
  ephemeral: null,
})
const instance = (of: string, ephemeral: boolean) => ({
  kind: 'instance',
  namespace: 'dev',
  group: 'G',
  service: of,
  cluster: 'DEFAULT',
  ip: '10.0.0.1',
  port: 80,
  ephemeral,
  weight: 1,
  enabled: true,
  healthy: true,
  metadata: {},
  app: '',
  seenMs: 1,
})
const THINGS = [
  { kind: 'namespace', id: 'dev', name: 'dev', desc: '' },
  { kind: 'user', username: 'ann', passwordHash: hashSync('sesame-71', 4), enabled: true },
  { kind: 'role', username: 'ann', role: 'devs' },
  { kind: 'permission', role: 'devs', resource: 'dev:*:*', action: 'r' },
  config,
  gray('b'),
  service('db', 0.5),
  instance('db', false),
]

test('each kind of thing that was deleted here is kept away, and comes back where the import overwrites', async () => {
  expect(await importing(THINGS)).toMatchObject({ taken: THINGS.length })
  expect(await importing(THINGS)).toMatchObject({ unchanged: THINGS.length })
  const gone = async (path: string, params: Record<string, string>) =>
    server.ask('DELETE', `${path}?${new URLSearchParams(params)}`)
  const named = { namespaceId: 'dev', serviceName: 'G@@db' }
  await gone('/nacos/v1/cs/configs', { dataId: 'item', group: 'G', beta: 'true' })
  await gone('/nacos/v1/ns/instance', { ...named, ip: '10.0.0.1', port: '80', ephemeral: 'false' })
  await gone('/nacos/v1/ns/service', { namespaceId: 'dev', serviceName: 'db', groupName: 'G' })
  await gone('/nacos/v1/auth/permissions', { role: 'devs', resource: 'dev:*:*', action: 'r' })
  await gone('/nacos/v1/auth/roles', { role: 'devs', username: 'ann' })
  await gone('/nacos/v1/auth/users', { username: 'ann' })
  await gone('/nacos/v1/console/namespaces', { namespaceId: 'dev' })
  const kept = await importing(THINGS)
  expect(kept).toMatchObject({ taken: 0, unchanged: 1, kept: 7, refused: 0 })
  expect(new Set(kept.lines.map(({ reason }) => reason))).toEqual(new Set([DELETED]))
  expect(await importing([gray('c')])).toMatchObject({ kept: 1 })
  expect(await importing(THINGS, '?overwrite=true')).toMatchObject({ taken: 7, unchanged: 1 })
  expect(await importing(THINGS)).toMatchObject({ unchanged: THINGS.length })
})

test('a gray version that was promoted here does not come back', async () => {
  const other = { ...gray('new'), dataId: 'promoted' }
  expect(await importing([{ ...config, dataId: 'promoted' }, other])).toMatchObject({ taken: 2 })
  await server.ask('POST', '/svc/v1/cs/configs/gray/promote', {
    group: 'G',
    dataId: 'promoted',
    grayName: 'beta',
  })
  expect((await importing([other])).lines).toMatchObject([{ reason: DELETED }])
})

test('what has left by itself comes again: an ephemeral instance, and a service without settings', async () => {
  const { seenMs: _seen, ...rest } = instance('plain', true)
  const lines = [service('plain', 0), { ...rest, seenMs: Date.now() }]
  expect(await importing(lines)).toMatchObject({ taken: 2 })
  const named = { namespaceId: 'dev', serviceName: 'G@@plain', ip: '10.0.0.1', port: '80' }
  await server.ask('DELETE', `/nacos/v1/ns/instance?${new URLSearchParams(named)}`)
  await server.ask('DELETE', '/nacos/v1/ns/service?namespaceId=dev&serviceName=plain&groupName=G')
  expect(await importing(lines)).toMatchObject({ taken: 2, kept: 0 })
})
