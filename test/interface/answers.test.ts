/** Every operation of /svc answers what the document says, with all its fields and no others. */
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { AnswerChecker } from '../support/answer-checker.ts'
import { Client, type Json, type Params, type Reply } from './client.ts'
import { connectGrpc } from '../support/grpc-client.ts'
import { items } from './transfer-support.ts'
import { planOf } from '../support/plan-lines.ts'
import { startWaypost, type Waypost } from '../support/waypost.ts'
import { withoutReferences } from '../support/without-references.ts'

/** There are no backups of data that are in etcd. */
const hasDataFile = inject('etcdEndpoints') === undefined

let client: Client
let checker: AnswerChecker
let token: string
let waypost: Waypost | undefined

beforeAll(async () => {
  waypost = await startWaypost({ settings: { auth: 'on' } })
  client = new Client(waypost.url)
  checker = new AnswerChecker(withoutReferences((await client.get('/openapi.json')).json()))
  const code = /code=([\w-]+)/.exec(waypost.output())?.[1]
  await ask('POST /auth/users/admin', { code, password: 'secret' }, { isAnonymous: true })
  token = (await ask('POST /auth/login', { username: 'nacos', password: 'secret' })).json().accessToken
}, 60_000)

afterAll(async () => {
  client?.close()
  await waypost?.stop()
})

interface Sent {
  readonly body?: string | Buffer
  readonly headers?: Record<string, string>
  /** Without the token of the administrator. */
  readonly isAnonymous?: boolean
}

/** Asks for something under /svc/v1, and compares the answer with the document. */
async function ask(what: string, params: Params = {}, sent: Sent = {}): Promise<Reply> {
  const [method, path] = what.split(' ') as [string, string]
  const headers = { ...(sent.isAnonymous ? {} : { authorization: `Bearer ${token}` }), ...sent.headers }
  const isForm = method === 'POST' && sent.body === undefined
  const call = isForm ? { form: params } : { query: params, ...(sent.body && { body: sent.body }) }
  const reply = await client.call(method, `/svc/v1${path}`, { ...call, headers })
  expect(checker.wrongIn(method, `/svc/v1${path}`, reply)).toEqual([])
  return reply
}

const item = { tenant: 'dev', dataId: 'a.yaml', group: 'G' }
const service = { namespaceId: 'dev', serviceName: 's' }
const instance = { ...service, ip: '10.0.0.1', port: 80 }

test('every operation of /svc says what it answers', () => {
  expect(checker.withoutAnswer('/svc/')).toEqual([])
})

test('namespaces', async () => {
  await ask('POST /console/namespaces', { customNamespaceId: 'dev', namespaceName: 'Development' })
  await ask('POST /console/namespaces', {
    customNamespaceId: 'old',
    namespaceName: 'o',
    namespaceDesc: 'd',
  })
  await ask('PUT /console/namespaces', { namespace: 'dev', namespaceShowName: 'Dev', namespaceDesc: '' })
  await ask('DELETE /console/namespaces', { namespaceId: 'old' })
  await ask('GET /console/namespaces')
  await ask('PUT /console/namespaces/look', { namespaceId: 'dev', color: 'green', protected: true })
  await ask('GET /console/namespaces/all')
  await ask('GET /console/events')
})

test('configurations', async () => {
  const notes = {
    desc: 'd',
    config_tags: 't',
    type: 'yaml',
    appName: 'a',
    use: 'u',
    effect: 'e',
    schema: 's',
  }
  await ask('POST /cs/configs', { ...item, content: 'a: 1', ...notes })
  await ask('POST /cs/configs', { ...item, content: 'a: 3' })
  await ask('POST /cs/configs', { ...item, dataId: 'plain', content: 'x' })
  await ask('GET /cs/configs', item)
  const { id } = (await ask('GET /cs/configs', { ...item, show: 'all' })).json()
  await ask('GET /cs/configs', { tenant: 'dev', search: 'blur' })
  await ask('GET /cs/configs', { tenant: 'dev', search: 'accurate', dataId: 'none' })
  await ask('GET /cs/configs', { tenant: 'dev', exportV2: true })
  await ask('POST /cs/configs/export', { tenant: 'dev', ids: id })
  await ask('GET /cs/configs/catalog', item)
  const records: Json = (await ask('GET /cs/history', { ...item, search: 'accurate' })).json()
  await ask('GET /cs/history', { ...item, nid: records.pageItems[0].id })
  await ask('GET /cs/history/previous', { ...item, id })
  await ask('POST /cs/configs', { clone: true, tenant: 'public' }, { body: `[{"cfgId":${id}}]` })
  const zip = await items([{ group: 'G', dataId: 'in', type: 'text' }])
  const head = '--b\r\nContent-Disposition: form-data; name="file"; filename="f.zip"\r\n\r\n'
  const body = Buffer.concat([Buffer.from(head), zip, Buffer.from('\r\n--b--\r\n')])
  const headers = { 'content-type': 'multipart/form-data; boundary=b' }
  await ask('POST /cs/configs', { import: true, namespace: 'dev', dryRun: true }, { body, headers })
  await ask('DELETE /cs/configs', { ...item, dataId: 'plain' })
})

test('gray versions', async () => {
  const grayItem = { ...item, dataId: 'gray' }
  const version = { ...grayItem, grayName: 'v2' }
  const rule = { grayType: 'tagv2', grayMatchRuleExp: 'env=test' }
  await ask('POST /cs/configs', { ...grayItem, content: 'formal' })
  await ask('POST /cs/configs/gray', { ...version, ...rule, content: 'new', comment: 'careful' })
  await ask('GET /cs/configs/gray', grayItem)
  await ask('GET /cs/configs/gray/version', version)
  await ask('GET /cs/configs/gray/explain', { ...grayItem, ip: '10.0.0.8', labels: 'env=test' })
  await ask('PUT /cs/configs/gray', { ...version, grayMatchRuleExp: 'env=prod' })
  await ask('POST /cs/configs/gray/promote', version)
  await ask('POST /cs/configs/gray', { ...version, ...rule, content: 'newer' })
  await ask('DELETE /cs/configs/gray', version)
})

test('configurations for people', async () => {
  await ask('POST /cs/configs', { ...item, dataId: 'bin', content: 'x', comment: 'why' })
  await ask('DELETE /cs/configs', { ...item, dataId: 'bin' })
  await ask('GET /console/configs', { namespaceId: '*', content: 'a' })
  const versions: Json = (await ask('GET /console/config/versions', { ...item, dataId: 'bin' })).json()
  const version = { ...item, dataId: 'bin', historyId: versions.pageItems[0].historyId }
  await ask('GET /console/config/version', version)
  await ask('GET /console/bin', { namespaceId: 'dev' })
  await ask('GET /console/compare', { from: 'dev', to: '' })
  await ask('GET /console/compare', { from: '', to: 'dev' })
  await ask('POST /console/config/restore', { ...version, casMd5: '' })
})

test('who watches configurations', async () => {
  const form = { 'Listening-Configs': 'a.yaml\u0002G\u0002other\u0002dev\u0001' }
  await ask('POST /cs/configs/listener', form, { headers: { 'Long-Pulling-Timeout': '2000' } })
  await ask('GET /cs/configs/listener', item)
  const watchers: Json = (await ask('GET /console/config/watchers', item)).json()
  expect(watchers).toMatchObject({ count: 1, upToDate: 0, watchers: [{ ip: '127.0.0.1', via: 'poll' }] })
  await ask('GET /cs/listener', { ip: '127.0.0.1', all: true })
})

test('services', async () => {
  await ask('POST /ns/service', { ...service, protectThreshold: 0.5, metadata: '{"a":"b"}' })
  const label = { type: 'label', expression: 'CONSUMER.label.a = PROVIDER.label.a' }
  await ask('PUT /ns/service', { ...service, selector: JSON.stringify(label) })
  const http = { type: 'HTTP', path: '/', headers: '', expectedResponseCode: 200 }
  const cluster = { clusterName: 'c', checkPort: 80, useInstancePort4Check: true }
  await ask('PUT /ns/cluster', { ...service, ...cluster, healthChecker: JSON.stringify(http) })
  const mysql = { type: 'MYSQL', user: 'u', pwd: 'p', cmd: 'select 1' }
  await ask('PUT /ns/cluster', {
    ...service,
    ...cluster,
    clusterName: 'd',
    healthChecker: JSON.stringify(mysql),
  })
  await ask('PUT /ns/cluster', { ...service, ...cluster, healthChecker: '{"type":"NONE"}' })
  await ask('GET /ns/service', service)
  await ask('GET /ns/service/list', { namespaceId: 'dev', pageNo: 1, pageSize: 10 })
  await ask('GET /ns/service/names', { namespaceId: 'dev' })
  await ask('GET /ns/health/checkers')
  await ask('GET /ns/catalog/service', service)
})

test('instances', async () => {
  await ask('POST /ns/instance', { ...instance, metadata: '{"a":"b"}', weight: 0.5 })
  await ask('POST /ns/instance', { ...instance, port: 81, ephemeral: false, clusterName: 'c' })
  await ask('PUT /ns/instance', { ...instance, weight: 2 })
  await ask('PUT /ns/health/instance', {
    ...instance,
    port: 81,
    clusterName: 'c',
    ephemeral: false,
    healthy: true,
  })
  await ask('PUT /ns/instance/beat', instance)
  await ask('GET /ns/instance', instance)
  await ask('GET /console/overview', { namespaceId: '*' })
  await ask('DELETE /console/attention', service)
  await ask('GET /console/services', { namespaceId: '*', text: 's' })
  await ask('GET /console/instances', service)
  await ask('GET /console/explain', service)
  await ask('PUT /ns/instance', { ...instance, enabled: false })
  await ask('GET /console/instances', service)
  const timeline: Json = (await ask('GET /console/timeline', service)).json()
  expect(timeline.entries).toContainEqual(expect.objectContaining({ kind: 'disabled', user: 'nacos' }))
  await ask('PUT /ns/instance', { ...instance, enabled: true })
  await ask('GET /console/search', { text: 's' })
  await ask('GET /console/search', { text: 'a: ' })
  await ask('GET /console/search', { text: '10.0' })
  const both = [
    { ip: '10.0.0.1', port: 80, ephemeral: true },
    { ip: '10.0.0.9', port: 80, ephemeral: true },
  ]
  await ask('PUT /ns/instance/batch', { ...service, instances: JSON.stringify(both), enabled: true })
  const reached = await ask('GET /ns/instance/list', { ...service, udpPort: 55_555 })
  expect(reached.json().hosts).toHaveLength(2)
  await ask('GET /ns/service/subscribers', service)
  await ask('GET /ns/catalog/services', { namespaceId: 'dev' })
  await ask('GET /ns/catalog/services', { namespaceId: 'dev', withInstances: true })
  await ask('GET /ns/catalog/instances', service)
  const batch = { namespaceId: 'dev', serviceName: 's', metadata: '{"k":"v"}', consistencyType: 'ephemeral' }
  await ask('PUT /ns/instance/metadata/batch', batch)
  await ask('DELETE /ns/instance/metadata/batch', batch)
  await ask('DELETE /ns/instance', instance)
  await ask('POST /ns/service', { ...service, serviceName: 'empty' })
  await ask('DELETE /ns/service', { ...service, serviceName: 'empty' })
})

test('the operator', async () => {
  await ask('GET /ns/operator/switches')
  await ask('PUT /ns/operator/switches', { entry: 'pushEnabled', value: 'true' })
  await ask('GET /ns/operator/metrics')
  await ask('GET /ns/operator/metrics', {}, { isAnonymous: true })
  await ask('GET /ns/operator/servers')
  await ask('GET /ns/raft/leader')
  await ask('GET /operator/cluster')
  if (hasDataFile) {
    await ask('POST /operator/backup', { label: 'a' })
    await ask('GET /operator/backup')
  }
  await ask('POST /operator/import', {}, { body: planOf([]) })
  await ask('GET /audit')
  const one = await ask('GET /audit', { pageSize: 1 })
  expect(one.json().next).toEqual(expect.any(String))
})

test('connected clients', async () => {
  for (const method of ['PUT /console/clients/move', 'DELETE /console/clients']) {
    const connected = await connectGrpc(waypost!, { headers: { accessToken: token } })
    await ask('GET /console/clients')
    await ask(method, { id: connected.connectionId })
    await connected.close()
  }
})

describe('sign-in', () => {
  test('sessions and tokens', async () => {
    const pair = { username: 'nacos', password: 'secret' }
    await ask('POST /auth/users/login', pair)
    await ask('POST /auth/renew')
    await ask('POST /console/session', pair)
    await ask('GET /console/session')
    await ask('DELETE /console/session')
  })

  test('users, roles and permissions', async () => {
    const permission = { role: 'devs', resource: 'dev:*:*', action: 'rw' }
    await ask('POST /auth/users', { username: 'ann', password: 'p' })
    await ask('PUT /auth/users', { username: 'ann', newPassword: 'q' })
    await ask('POST /auth/roles', { username: 'ann', role: 'devs' })
    await ask('POST /auth/permissions', permission)
    for (const path of ['users', 'roles', 'permissions']) await ask(`GET /auth/${path}`)
    for (const path of ['users', 'roles']) await ask(`GET /auth/${path}/search`)
    await ask('DELETE /auth/permissions', permission)
    await ask('DELETE /auth/roles', { username: 'ann', role: 'devs' })
    await ask('DELETE /auth/users', { username: 'ann' })
    await ask('POST /auth/keys/rotate')
  })
})

test('every answer that is described was seen', () => {
  const unseen = checker.described('/svc/').filter((name) => !checker.checked.has(name))
  expect(unseen.filter((name) => hasDataFile || !name.includes('/operator/backup'))).toEqual([])
})
