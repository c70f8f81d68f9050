/** Rights that end: what becomes of the instances, pushes and connections of their users (docs/security.md). */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { instanceOf, portsOf } from '../grpc/naming-fixture.ts'
import { Client, type Json, unique, until } from '../interface/client.ts'
import { type ManagedWaypost, startManaged } from '../support/administrator.ts'
import type { Body, GrpcClient } from '../support/grpc-client.ts'
import { grpcClients } from '../support/grpc-clients.ts'

const PASSWORD = 'of-the-user'
/** Passwords are hashed one after the other. */
const HOOK_MS = 120_000

let server: ManagedWaypost
let http: Client

beforeAll(async () => {
  server = await startManaged()
  http = new Client(server.waypost.url)
}, HOOK_MS)
afterAll(async () => {
  http?.close()
  await server?.waypost.stop()
})

/** A user who may do everything in the services whose names begin like this, and may be given more. */
async function newUser(...resources: string[]): Promise<string> {
  const username = unique('user')
  const permissions = Object.fromEntries(resources.map((resource) => [resource, 'rw' as const]))
  await server.addUser({ username, password: PASSWORD, permissions })
  return username
}

const tokenOf = (username: string, password = PASSWORD) => server.tokenOf(username, password)
const clients = grpcClients(() => server.waypost)
const connect = (accessToken: string, setup: Body = {}) => clients({ headers: { accessToken }, setup })

const instanceRequest = (
  serviceName: string,
  fields: Record<string, string | number | boolean> = {},
): Body => ({
  namespace: 'public',
  groupName: 'DEFAULT_GROUP',
  serviceName,
  type: 'registerInstance',
  instance: instanceOf(fields),
})

async function register(client: GrpcClient, serviceName: string, port = 1): Promise<Body> {
  return (await client.ask('InstanceRequest', instanceRequest(serviceName, { port }))).body
}

/** Registers with another token than the client's. */
async function registerAs(accessToken: string, client: GrpcClient, serviceName: string): Promise<Body> {
  const request = instanceRequest(serviceName, { port: 1 })
  return (await client.ask('InstanceRequest', request, { accessToken })).body
}

async function portsIn(serviceName: string): Promise<number[]> {
  return portsOf(JSON.parse(await server.ask('GET', `/svc/v1/ns/instance/list?serviceName=${serviceName}`)))
}

const lists = (serviceName: string, ports: readonly number[]) =>
  until(
    () => portsIn(serviceName),
    (seen) => JSON.stringify(seen) === JSON.stringify(ports),
  )

const give = (username: string, resource: string) =>
  server.ask('POST', '/svc/v1/auth/permissions', { role: `${username}s`, resource, action: 'rw' })

const take = (username: string, resource: string) => {
  const query = new URLSearchParams({ role: `${username}s`, resource, action: 'rw' })
  return server.ask('DELETE', `/svc/v1/auth/permissions?${query}`)
}

const newPassword = (username: string, password: string) =>
  server.ask('PUT', '/svc/v1/auth/users', { username, newPassword: password })

const removeUser = (username: string) => server.ask('DELETE', `/svc/v1/auth/users?username=${username}`)
const leak = () => server.ask('POST', '/svc/v1/auth/keys/rotate', { leaked: 'true' })
const rotate = () => server.ask('POST', '/svc/v1/auth/keys/rotate', {})

async function connected(): Promise<Json[]> {
  return JSON.parse(await server.ask('GET', '/svc/v1/console/clients?pageSize=500')).pageItems
}

describe('a user who is removed', () => {
  test('loses the instances of its connections, which end; persistent ones stay', async () => {
    const [service, persistent, other] = [unique('a'), unique('p'), unique('o')]
    const [gone, stays] = [await newUser('*:*:*'), await newUser('*:*:*')]
    const client = await connect(await tokenOf(gone))
    const neighbour = await connect(await tokenOf(stays))
    await register(client, service)
    await register(client, other, 1)
    await register(neighbour, other, 2)
    const kept = { ...instanceRequest(persistent, { ephemeral: false }) }
    await client.ask('PersistentInstanceRequest', kept)
    await removeUser(gone)
    await client.ended
    await lists(service, [])
    await lists(other, [2])
    expect(await portsIn(persistent)).toEqual([8080])
    expect((await register(neighbour, other, 3))['resultCode']).toBe(200)
  })

  test('loses what it registered over HTTP once its beats are refused, and not before', async () => {
    const service = unique('http')
    const username = await newUser('*:*:*')
    const accessToken = await tokenOf(username)
    const metadata = JSON.stringify({
      'preserved.heart.beat.timeout': '14000',
      'preserved.ip.delete.timeout': '15000',
      'preserved.heart.beat.interval': '1000',
    })
    const place = { serviceName: service, ip: '10.0.0.1', port: '7' }
    const sent = await http.post('/nacos/v1/ns/instance', { ...place, metadata, accessToken })
    expect(sent.text).toBe('ok')
    await removeUser(username)
    await sleep(1_500)
    expect(await portsIn(service)).toEqual([7])
    const beat = await http.put('/nacos/v1/ns/instance/beat', { ...place, accessToken })
    expect(beat.status).toBe(403)
    await until(
      () => portsIn(service),
      (seen) => seen.length === 0,
      40_000,
    )
  })
})

describe('a permission that is taken', () => {
  test('takes the instances in that service alone, and brings them back when it is given again', async () => {
    const [one, two] = [unique('one'), unique('two')]
    const grants = [`*:*:naming/${one}`, `*:*:naming/${two}`]
    const username = await newUser(...grants)
    const client = await connect(await tokenOf(username))
    await register(client, one)
    await register(client, two)
    await take(username, grants[0]!)
    await lists(one, [])
    expect(await portsIn(two)).toEqual([1])
    expect((await register(client, one))['errorCode']).toBe(403)
    const [shown] = (await connected()).filter(({ id }) => id === client.connectionId)
    expect(shown).toMatchObject({ username, services: 1, instances: 1 })
    await give(username, grants[0]!)
    await lists(one, [1])
    expect((await register(client, one, 2))['resultCode']).toBe(200)
    await lists(one, [2])
    await client.close()
    await lists(one, [])
  })

  test('to read stops pushes, and the list of then comes when it is given again', async () => {
    const service = unique('read')
    const [reader, writer] = [await newUser(`*:*:naming/${service}`), await newUser('*:*:*')]
    const client = await connect(await tokenOf(reader))
    await client.ask('SubscribeServiceRequest', {
      namespace: 'public',
      groupName: 'DEFAULT_GROUP',
      serviceName: service,
      subscribe: true,
      clusters: '',
    })
    await client.next('NotifySubscriberRequest')
    await take(reader, `*:*:naming/${service}`)
    const other = await connect(await tokenOf(writer))
    await register(other, service, 9)
    await sleep(700)
    expect(client.waiting).toEqual([])
    await give(reader, `*:*:naming/${service}`)
    const { body } = await client.next('NotifySubscriberRequest')
    expect(portsOf(body['serviceInfo'] as Json)).toEqual([9])
  })
})

describe('credentials that end', () => {
  const WAYS = {
    'a leaked key': async () => void (await leak()),
    'a new password': async (username: string) => void (await newPassword(username, 'another-one')),
  }

  test.each(Object.entries(WAYS))('%s: connections end, and their instances stay', async (way, end) => {
    const service = unique('kept')
    const username = await newUser('*:*:*')
    const old = await tokenOf(username)
    const client = await connect(old)
    await register(client, service, 1)
    await end(username)
    await client.ended
    expect(await portsIn(service)).toEqual([1])
    const back = await connect(old)
    expect((await register(back, service, 1))['errorCode']).toBe(403)
    const fresh = await tokenOf(username, way === 'a leaked key' ? PASSWORD : 'another-one')
    expect((await registerAs(fresh, back, service))['resultCode']).toBe(200)
    expect(await portsIn(service)).toEqual([1])
    // It has signed in again: nothing ends it.
    await rotate()
    await sleep(500)
    expect(await portsIn(service)).toEqual([1])
    expect((await registerAs(fresh, back, service))['resultCode']).toBe(200)
  })

  test('a leaked key ends watches whose tokens were over, and who has signed in since is left alone', async () => {
    const username = await newUser('*:*:*')
    const [idle, fresh] = [await connect(await tokenOf(username)), await connect(await tokenOf(username))]
    const service = unique('leak')
    for (const client of [idle, fresh]) await register(client, service, 1)
    await rotate()
    await rotate()
    await sleep(500)
    expect((await connected()).map(({ id }) => id)).toEqual(
      expect.arrayContaining([idle.connectionId, fresh.connectionId]),
    )
    await leak()
    await Promise.all([idle.ended, fresh.ended])
    const again = await connect(await tokenOf(username))
    await register(again, service, 1)
    await rotate()
    await sleep(500)
    expect(await portsIn(service)).toEqual([1])
    expect((await register(again, service, 2))['resultCode']).toBe(200)
  })

  test('a token that never counted ends its connection after a while, and who shows nothing stays connected', async () => {
    const nameless = await clients()
    expect((await register(nameless, unique('none')))['errorCode']).toBe(403)
    const client = await connect('no-token')
    expect((await register(client, unique('none')))['errorCode']).toBe(403)
    await client.ended
    expect((await nameless.ask('HealthCheckRequest')).type).toBe('HealthCheckResponse')
  })

  test('an event stream ends, and a held poll says nothing', async () => {
    const username = await newUser('*:*:*')
    const item = { dataId: unique('item'), group: 'G', tenant: '' }
    await server.ask('POST', '/svc/v1/cs/configs', { ...item, content: 'a' })
    const token = await tokenOf(username)
    const headers = { authorization: `Bearer ${token}` }
    const events = await fetch(`${server.waypost.url}/svc/v1/console/events`, { headers })
    const text = events.text()
    const md5 = '0cc175b9c0f1b6a831c399e269772661'
    const listening = `${item.dataId}\u0002${item.group}\u0002${md5}\u0001`
    const poll = http.call('POST', '/nacos/v1/cs/configs/listener', {
      form: { 'Listening-Configs': listening },
      headers: { ...headers, 'Long-Pulling-Timeout': '30000' },
    })
    await sleep(500)
    await leak()
    expect(await text).toContain('signed-out')
    await server.ask('POST', '/svc/v1/cs/configs', { ...item, content: 'b' })
    expect((await poll).text).toBe('')
    const next = await http.get('/nacos/v1/cs/configs', item, headers)
    expect(next.status).toBe(403)
  })
})
