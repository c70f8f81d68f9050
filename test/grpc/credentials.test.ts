/** How clients show who they are, and what becomes of it while they are connected. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ManagedWaypost, startManaged } from '../support/administrator.ts'
import type { Body, GrpcClient } from '../support/grpc-client.ts'
import { grpcClients } from '../support/grpc-clients.ts'
import { instanceOf } from './naming-fixture.ts'

let managed: ManagedWaypost
let token: string
beforeAll(async () => {
  managed = await startManaged()
  token = await signedIn('shop', { ':G:config/*': 'rw', ':DEFAULT_GROUP:naming/*': 'rw' })
})
afterAll(() => managed.waypost.stop())

/** A new user with these permissions, and its token. */
async function signedIn(username: string, permissions: Record<string, 'r' | 'rw'>): Promise<string> {
  await managed.addUser({ username, password: 'secret', permissions })
  return managed.tokenOf(username)
}

const connected = grpcClients(() => managed.waypost)
const connect = (headers: Record<string, string> = {}) => connected({ headers })

const ITEM = { dataId: 'item', group: 'G', tenant: '' }
const publish = (client: GrpcClient, headers?: Record<string, string>, more: Body = {}) =>
  client.ask('ConfigPublishRequest', { ...ITEM, content: 'x', ...more }, headers)
const FORBIDDEN = { type: 'ConfigPublishResponse', body: { resultCode: 500, errorCode: 403, success: false } }
const DONE = { type: 'ConfigPublishResponse', body: { resultCode: 200, errorCode: 0, success: true } }

describe('a token', () => {
  test.each(['accessToken', 'ACCESSTOKEN'])('is read from the header %s', async (name) => {
    expect(await publish(await connect(), { [name]: token })).toMatchObject(DONE)
  })

  test.each(['Authorization', 'authorization'])('is read from the header %s', async (name) => {
    const client = await connect()
    for (const scheme of ['Bearer', 'bearer'])
      expect(await publish(client, { [name]: `${scheme} ${token}` })).toMatchObject(DONE)
    for (const other of [token, `Basic ${token}`, 'Bearer', `Bearer ${token}x`])
      expect(await publish(client, { [name]: other })).toMatchObject(FORBIDDEN)
  })

  test('in the body is none: headers there are copies that some clients send', async () => {
    const client = await connect()
    expect(await publish(client, {}, { headers: { accessToken: token } })).toMatchObject(FORBIDDEN)
    const more = { headers: { accessToken: 'wrong' }, accessToken: 'wrong' }
    expect(await publish(client, { accessToken: token }, more)).toMatchObject(DONE)
  })

  test('is needed by nothing that only keeps a connection', async () => {
    const client = await connect({ accessToken: 'wrong' })
    expect((await client.ask('ServerCheckRequest')).body).toMatchObject({ success: true })
    expect((await client.ask('HealthCheckRequest')).body).toMatchObject({ success: true })
  })

  test('that is wrong hides whether something is there or a request can be read', async () => {
    const client = await connect({ accessToken: 'wrong' })
    const { body: absent } = await client.ask('ConfigQueryRequest', { ...ITEM, dataId: 'absent' })
    const { body: present } = await client.ask('ConfigQueryRequest', ITEM)
    expect(absent).toMatchObject({ errorCode: 403 })
    expect({ ...present, requestId: '' }).toEqual({ ...absent, requestId: '' })
  })
})

test('a user that loses a right is refused on its connection at once, and one that is removed loses it', async () => {
  const own = await signedIn('guest', { ':G:config/item': 'rw', ':DEFAULT_GROUP:naming/svc': 'rw' })
  const client = await connect({ accessToken: own })
  expect(await publish(client)).toMatchObject(DONE)
  await managed.ask('DELETE', '/svc/v1/auth/permissions?role=guests&action=rw&resource=:G:config/item')
  expect(await publish(client)).toMatchObject(FORBIDDEN)
  const request = { serviceName: 'svc', type: 'registerInstance', instance: instanceOf({}) }
  expect((await client.ask('InstanceRequest', request)).body).toMatchObject({ success: true })
  await managed.ask('DELETE', '/svc/v1/auth/users?username=guest')
  // The connection ends a moment later (docs/security.md); a new one with the same token is refused.
  const another = await connect()
  expect(await another.ask('InstanceRequest', request, { accessToken: own })).toMatchObject({
    type: 'InstanceResponse',
    body: { errorCode: 403 },
  })
  await client.ended
  expect(await publish(another, { accessToken: token })).toMatchObject(DONE)
})
