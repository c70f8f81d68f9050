/** Data that an import has brought and somebody has deleted here does not come back with the next import. */
import { hashSync } from 'bcryptjs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ManagedWaypost, startManaged } from '../support/administrator.ts'
import {
  configLine,
  grayLine,
  instanceLine,
  namespaceLine,
  planOf,
  sendPlan,
  serviceLine,
} from '../support/plan-lines.ts'

const DELETED = 'it was deleted here since the last import'

let server: ManagedWaypost
beforeAll(async () => void (server = await startManaged()))
afterAll(() => server?.waypost.stop())

async function importing(lines: readonly object[], query: Record<string, string> = {}) {
  const { status, json } = await sendPlan(server, planOf(lines), { query })
  expect(status).toBe(200)
  return json as { lines: { line: number; reason: string }[] }
}

const gray = (content: string, dataId = 'item') =>
  grayLine(dataId, { content, name: 'beta', rule: 'beta', expression: '10.0.0.9' })
const service = (name: string, protectThreshold: number) =>
  serviceLine(name, { namespace: 'dev', protectThreshold })
const instance = (of: string, more?: object) => instanceLine(of, { namespace: 'dev', ...more })
const THINGS = [
  namespaceLine('dev'),
  { kind: 'user', username: 'ann', passwordHash: hashSync('sesame-71', 4), enabled: true },
  { kind: 'role', username: 'ann', role: 'devs' },
  { kind: 'permission', role: 'devs', resource: 'dev:*:*', action: 'r' },
  configLine('item'),
  gray('b'),
  service('db', 0.5),
  instance('db'),
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
  expect(await importing(THINGS, { overwrite: 'true' })).toMatchObject({ taken: 7, unchanged: 1 })
  expect(await importing(THINGS)).toMatchObject({ unchanged: THINGS.length })
})

test('a gray version that was promoted here does not come back', async () => {
  const other = gray('new', 'promoted')
  expect(await importing([configLine('promoted'), other])).toMatchObject({ taken: 2 })
  await server.ask('POST', '/svc/v1/cs/configs/gray/promote', {
    group: 'G',
    dataId: 'promoted',
    grayName: 'beta',
  })
  expect((await importing([other])).lines).toMatchObject([{ reason: DELETED }])
})

test('what has left by itself comes again: an ephemeral instance, and a service without settings', async () => {
  const lines = [service('plain', 0), instance('plain', { ephemeral: true, seenMs: Date.now() })]
  expect(await importing(lines)).toMatchObject({ taken: 2 })
  const named = { namespaceId: 'dev', serviceName: 'G@@plain', ip: '10.0.0.1', port: '80' }
  await server.ask('DELETE', `/nacos/v1/ns/instance?${new URLSearchParams(named)}`)
  await server.ask('DELETE', '/nacos/v1/ns/service?namespaceId=dev&serviceName=plain&groupName=G')
  expect(await importing(lines)).toMatchObject({ taken: 2, kept: 0 })
})
