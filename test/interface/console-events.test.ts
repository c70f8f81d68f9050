/** The stream of events that pages of the console follow. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ManagedWaypost, startManaged } from '../support/administrator.ts'
import { EventReader, type ReadEvent } from '../support/event-reader.ts'
import { startWaypost } from '../support/waypost.ts'
import { serverForThisFile, unique, until } from './client.ts'

const SESSION = '/svc/v1/console/session'

/** An event about something with this name. */
const about =
  (kind: string, name: string) =>
  ({ data }: ReadEvent): boolean =>
    data.kind === kind && Object.values(data).includes(name)

const readers: EventReader[] = []
afterAll(() => readers.forEach((reader) => reader.close()))

async function follow(url: string, headers: Record<string, string> = {}): Promise<EventReader> {
  const reader = await EventReader.open(url, headers)
  readers.push(reader)
  return reader
}

describe('a stream of a server without sign-in', () => {
  const examined = serverForThisFile()

  test('tells what changes, with names and without contents', async () => {
    const { server, svc } = examined
    const reader = await follow(server.url)
    expect(await reader.find(({ type }) => type === 'begun')).toMatchObject({ id: expect.any(String) })
    const [dataId, serviceName] = [unique('item'), unique('service')]
    const item = { tenant: 'dev', group: 'G', dataId }
    await svc.post('/cs/configs', { ...item, content: 'the secret content', type: 'text' })
    expect((await reader.find(about('config', dataId))).data).toEqual({
      kind: 'config',
      revision: expect.any(Number),
      namespaceId: 'dev',
      group: 'G',
      dataId,
    })
    await svc.post('/ns/instance', { serviceName, ip: '10.0.0.1', port: 80 })
    expect((await reader.find(about('service', serviceName))).data).toMatchObject({
      namespaceId: 'public',
      groupName: 'DEFAULT_GROUP',
      serviceName,
    })
    await svc.post('/console/namespaces', { customNamespaceId: 'dev', namespaceName: 'Development' })
    await reader.find(about('namespace', 'dev'))
    await svc.put('/ns/operator/switches', { entry: 'pushEnabled', value: 'true' })
    await reader.find(about('switch', 'pushEnabled'))
    await svc.delete('/cs/configs', item)
    await until(
      async () => reader.events.filter(about('config', dataId)).length,
      (count) => count === 2,
    )
    expect(JSON.stringify(reader.events)).not.toContain('secret')
  })

  test('continues after an interruption, and starts again where it cannot', async () => {
    const { server, svc } = examined
    const [first, second] = [unique('item'), unique('item')]
    const publish = (dataId: string) => svc.post('/cs/configs', { group: 'G', dataId, content: 'x' })
    const cut = await follow(server.url)
    await publish(first)
    const { id } = await cut.find(about('config', first))
    cut.close()
    await publish(second)
    const back = await follow(server.url, { 'last-event-id': id })
    await back.find(about('config', second))
    expect(back.events[0]?.type).toBe('begun')
    const lost = await follow(server.url, { 'last-event-id': 'elsewhere-1' })
    expect((await lost.find(() => true)).type).toBe('reset')
  })

  test('tells who gets an item that was just published', async () => {
    const { server, svc } = examined
    const dataId = unique('item')
    const reader = await follow(server.url)
    await svc.post('/cs/configs', { group: 'G', dataId, content: 'x' })
    await reader.find(about('config', dataId))
    const listening = { 'Listening-Configs': `${dataId}\u0002G\u0002none\u0001` }
    await svc.post('/cs/configs/listener', listening, { 'Long-Pulling-Timeout': '1000' })
    await reader.find(about('watchers', dataId))
  })

  test('is not opened by HEAD, which is answered at once and takes no place', async () => {
    const server = await startWaypost({ settings: { 'max-event-streams': 1 } })
    for (let turn = 0; turn < 3; turn++)
      expect((await fetch(`${server.url}/svc/v1/console/events`, { method: 'HEAD' })).status).toBe(200)
    expect((await follow(server.url)).status).toBe(200)
    await server.stop()
  })

  test('ends when the server stops, which it does not delay', async () => {
    const server = await startWaypost()
    const reader = await follow(server.url)
    await reader.find(({ type }) => type === 'begun')
    expect(await server.stop()).toBe(0)
    await reader.ended()
    expect(reader.events.at(-1)).toMatchObject({ type: 'ended', data: { reason: 'stopping' } })
  })
})

describe('a stream of somebody who is signed in', () => {
  let managed: ManagedWaypost
  let url: string

  beforeAll(async () => {
    managed = await startManaged()
    url = managed.waypost.url
    const reader = { username: 'reader', password: 'reading', permissions: { 'dev:*:*': 'r' } } as const
    await managed.addUser(reader)
    await managed.addUser({ ...reader, username: 'leaver' })
  }, 60_000)
  afterAll(() => managed?.waypost.stop())

  async function cookieOf(username: string): Promise<string> {
    const body = new URLSearchParams({ username, password: 'reading' })
    const answer = await fetch(url + SESSION, { method: 'POST', body })
    return answer.headers.get('set-cookie')?.split(';')[0] ?? ''
  }
  const publish = (tenant: string, dataId: string) =>
    managed.ask('POST', '/svc/v1/cs/configs', { tenant, group: 'G', dataId, content: 'x' })

  test('has what that user may read at that moment, and nothing else', async () => {
    const reader = await follow(url, { cookie: await cookieOf('reader') })
    await publish('prod', 'hidden')
    await publish('dev', 'shown')
    await reader.find(about('config', 'shown'))
    const grant = { role: 'readers', resource: 'prod:*:*', action: 'r' }
    await managed.ask('POST', '/svc/v1/auth/permissions', grant)
    await reader.find(({ data }) => data.kind === 'rights')
    await publish('prod', 'granted')
    await reader.find(about('config', 'granted'))
    await managed.ask('DELETE', `/svc/v1/auth/permissions?${new URLSearchParams(grant)}`)
    await publish('prod', 'revoked')
    await publish('dev', 'last')
    await reader.find(about('config', 'last'))
    const kinds = new Set(reader.events.map(({ data }) => data.kind))
    expect(kinds).toEqual(new Set([undefined, 'config', 'rights']))
    expect(JSON.stringify(reader.events)).not.toMatch(/hidden|revoked/)
  })

  test('is refused without a sign-in', async () => {
    expect((await follow(url)).status).toBe(403)
    expect((await follow(url, { cookie: `waypost-session=${'x'.repeat(43)}` })).status).toBe(403)
  })

  test('ends when the user signs out', async () => {
    const cookie = await cookieOf('reader')
    const reader = await follow(url, { cookie })
    await reader.find(({ type }) => type === 'begun')
    await fetch(url + SESSION, { method: 'DELETE', headers: { cookie } })
    await reader.ended()
    expect(reader.events.at(-1)).toMatchObject({ type: 'ended', data: { reason: 'signed-out' } })
  })

  test('ends when the user is removed', async () => {
    const reader = await follow(url, { cookie: await cookieOf('leaver') })
    await reader.find(({ type }) => type === 'begun')
    await managed.ask('DELETE', '/svc/v1/auth/users?username=leaver')
    await reader.ended()
    expect(reader.events.at(-1)).toMatchObject({ type: 'ended', data: { reason: 'signed-out' } })
  })
})
