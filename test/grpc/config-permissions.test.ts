/** What users may read and change over gRPC while authentication is on. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { until } from '../interface/client.ts'
import { type ManagedWaypost, startManaged } from '../support/administrator.ts'
import type { Body } from '../support/grpc-client.ts'
import { grpcClients } from '../support/grpc-clients.ts'

let managed: ManagedWaypost
let reader: Record<string, string>
beforeAll(async () => {
  managed = await startManaged()
  await managed.addUser({
    username: 'shop',
    password: 'secret',
    permissions: { ':G:config/shop-*': 'r', ':G:config/shared': 'rw' },
  })
  reader = { accessToken: await managed.tokenOf('shop') }
})
afterAll(() => managed.waypost.stop())

const connected = grpcClients(() => managed.waypost)
const connect = (headers?: Record<string, string>) => connected(headers && { headers })
const publish = (dataId: string, content: string) =>
  managed.ask('POST', '/nacos/v1/cs/configs', { dataId, group: 'G', content })
const keyOf = (dataId: string) => ({ dataId, group: 'G', tenant: '' })
const watched = (...dataIds: string[]): Body => {
  return { configListenContexts: dataIds.map((dataId) => ({ ...keyOf(dataId), md5: '' })) }
}

describe('without a permission', () => {
  test.each([
    ['ConfigQueryRequest', keyOf('secret'), 'ConfigQueryResponse'],
    ['ConfigPublishRequest', { ...keyOf('shop-a'), content: 'x' }, 'ConfigPublishResponse'],
    ['ConfigRemoveRequest', keyOf('shop-a'), 'ConfigRemoveResponse'],
    ['ConfigBatchListenRequest', watched('secret', 'other'), 'ConfigChangeBatchListenResponse'],
    ['ConfigFuzzyWatchRequest', { groupKeyPattern: 'dev>>G>>*' }, 'ConfigFuzzyWatchResponse'],
  ] as const)('%s is refused in its own type', async (type, body, answer) => {
    for (const headers of [reader, {}, { accessToken: 'made up' }]) {
      const client = await connect(headers)
      const refused = await client.ask(type, body)
      expect(refused).toMatchObject({
        type: answer,
        body: { resultCode: 500, errorCode: 403, success: false },
      })
    }
  })
})

test('an item is published by the user who is signed in', async () => {
  const client = await connect(reader)
  const additionMap = { src_user: 'somebody else' }
  const { body } = await client.ask('ConfigPublishRequest', { ...keyOf('shared'), content: 'x', additionMap })
  expect(body).toMatchObject({ success: true })
  const history = '/nacos/v1/cs/history?search=accurate&dataId=shared&group=G'
  const { pageItems } = JSON.parse(await managed.ask('GET', history)) as { pageItems: object[] }
  expect(pageItems[0]).toMatchObject({ srcUser: 'shop', srcIp: '127.0.0.1' })
  const audit = '/svc/v1/audit?operation=publish%20config'
  const ask = async () => (JSON.parse(await managed.ask('GET', audit)) as { events: object[] }).events
  const [event] = await until(ask, ([newest]) => newest !== undefined && !('code' in newest && newest.code))
  expect(event).toMatchObject({ username: 'shop', ip: '127.0.0.1', result: 'done' })
})

test('a listener is notified only of what it may read', async () => {
  await publish('shop-a', 'one')
  await publish('secret', 'one')
  const client = await connect(reader)
  const { body } = await client.ask('ConfigBatchListenRequest', watched('shop-a', 'secret', 'shop-b'))
  expect(body['changedConfigs']).toEqual([keyOf('shop-a')])
  await publish('secret', 'two')
  await publish('shop-b', 'two')
  expect((await client.next('ConfigChangeNotifyRequest')).body).toMatchObject(keyOf('shop-b'))
  expect(client.waiting).toEqual([])
})

test('a listener that has lost its permission receives nothing more', async () => {
  await managed.addUser({
    username: 'soon-gone',
    password: 'secret',
    permissions: { ':G:config/shop-*': 'r', ':G:config/kept': 'r' },
  })
  const client = await connect({ accessToken: await managed.tokenOf('soon-gone') })
  await client.ask('ConfigBatchListenRequest', watched('shop-lost', 'kept'))
  const permission = 'role=soon-gones&action=r&resource=:G:config/shop-*'
  await managed.ask('DELETE', `/svc/v1/auth/permissions?${permission}`)
  await publish('shop-lost', 'x')
  await publish('kept', 'x')
  expect((await client.next('ConfigChangeNotifyRequest')).body).toMatchObject({ dataId: 'kept' })
  expect(client.waiting).toEqual([])
})

test('a pattern means only what the client may read', async () => {
  await publish('shop-pattern', 'x')
  await publish('secret-pattern', 'x')
  const client = await connect(reader)
  await client.ask('ConfigFuzzyWatchRequest', { groupKeyPattern: 'public>>G>>*-pattern', initializing: true })
  const { body } = await client.next('ConfigFuzzyWatchSyncRequest')
  expect(body['contexts']).toEqual([{ groupKey: 'shop-pattern+G+public', changedType: 'ADD_CONFIG' }])
})
