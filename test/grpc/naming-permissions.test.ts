/** The services that users may see and change over gRPC while authentication is on. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sleep, unique } from '../interface/client.ts'
import { type ManagedWaypost, startManaged } from '../support/administrator.ts'
import type { Body } from '../support/grpc-client.ts'
import { grpcClients } from '../support/grpc-clients.ts'
import { instanceOf, NamingClient, portsOf } from './naming-fixture.ts'

let managed: ManagedWaypost
const connect = grpcClients(() => managed.waypost)
beforeAll(async () => {
  managed = await startManaged({ settings: { 'token-ttl': '10s' } })
  const permissions = { ':DEFAULT_GROUP:naming/read-*': 'r', ':DEFAULT_GROUP:naming/own-*': 'rw' } as const
  await managed.addUser({ username: 'shop', password: 'secret', permissions })
}, 60_000)
afterAll(() => managed.waypost.stop())

async function connected(accessToken?: string): Promise<NamingClient> {
  const headers = accessToken === undefined ? {} : { accessToken }
  return new NamingClient(await connect({ headers }))
}

const signedIn = async () => connected(await managed.tokenOf('shop'))

const register = (serviceName: string, port: number) =>
  managed.ask('POST', '/nacos/v1/ns/instance', { serviceName, ip: '10.0.0.1', port: `${port}` })

describe('without a permission', () => {
  const instance = instanceOf({})
  test.each<[string, Body, string]>([
    ['InstanceRequest', { serviceName: 'read-a', type: 'registerInstance', instance }, 'InstanceResponse'],
    ['InstanceRequest', { serviceName: 'read-a', type: 'deregisterInstance', instance }, 'InstanceResponse'],
    [
      'BatchInstanceRequest',
      { serviceName: 'read-a', type: 'batchRegisterInstance', instances: [instance] },
      'BatchInstanceResponse',
    ],
    [
      'PersistentInstanceRequest',
      { serviceName: 'read-a', type: 'registerInstance', instance },
      'InstanceResponse',
    ],
    ['ServiceQueryRequest', { serviceName: 'secret' }, 'QueryServiceResponse'],
    ['SubscribeServiceRequest', { serviceName: 'secret', subscribe: true }, 'SubscribeServiceResponse'],
    ['ServiceListRequest', { namespace: 'dev', pageNo: 1, pageSize: 9 }, 'ServiceListResponse'],
    ['NamingFuzzyWatchRequest', { groupKeyPattern: 'dev>>*>>*' }, 'NamingFuzzyWatchResponse'],
  ])('%s %j is refused in the type of its answer', async (...[type, body, answer]) => {
    for (const client of [await signedIn(), await connected(), await connected('made up')]) {
      const refused = await client.grpc.ask(type, body)
      expect(refused).toMatchObject({
        type: answer,
        body: { resultCode: 500, errorCode: 403, success: false },
      })
    }
  })
})

test('with a permission, a client registers, reads and lists what it may', async () => {
  const client = await signedIn()
  const serviceName = unique('own')
  await register(unique('secret'), 80)
  await client.register(serviceName, { port: 80 })
  expect(portsOf(await client.query(serviceName))).toEqual([80])
  const { serviceNames } = await client.ask('ServiceListRequest', { pageNo: 1, pageSize: 100 })
  expect(serviceNames).toContain(serviceName)
  expect(serviceNames.filter((name: string) => name.startsWith('secret'))).toEqual([])
})

test('a subscription outlives the token that it began with', async () => {
  const client = await signedIn()
  const serviceName = unique('read')
  await client.subscribe(serviceName)
  await sleep(10_200)
  const { body } = await client.grpc.ask('ServiceQueryRequest', { serviceName })
  expect(body).toMatchObject({ errorCode: 403 })
  await register(serviceName, 80)
  await client.pushedUntil((service) => portsOf(service).includes(80))
})

test('a subscriber receives nothing more once its permission is taken', async () => {
  const permissions = { ':DEFAULT_GROUP:naming/svc-*': 'r' } as const
  await managed.addUser({ username: 'guest', password: 'secret', permissions })
  const serviceName = unique('svc')
  const client = await connected(await managed.tokenOf('guest'))
  await client.subscribe(serviceName)
  await client.pushed()
  await managed.ask('DELETE', '/svc/v1/auth/users', { username: 'guest' })
  await register(serviceName, 80)
  await sleep(300)
  expect(client.grpc.waiting).toEqual([])
})
