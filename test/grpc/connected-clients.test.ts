import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Client, clientsOf } from '../interface/client.ts'
import { connectGrpc } from '../support/grpc-client.ts'
import { startWaypost, type Waypost } from '../support/waypost.ts'

let server: Waypost
let svc: Client
beforeAll(async () => {
  server = await startWaypost()
  ;({ svc } = clientsOf(server.url))
})
afterAll(async () => {
  svc.close()
  await server.stop()
})

const SERVICE = { namespace: 'public', groupName: 'DEFAULT_GROUP', serviceName: 'shop' }

const address = (): string => `127.0.0.1:${server.port}`

async function connectShop() {
  const labels = { source: 'sdk', module: 'naming', AppName: 'shop' }
  const client = await connectGrpc(server, { setup: { clientVersion: 'Nacos-Java-Client:v2.5.1', labels } })
  const instance = { ip: '10.0.0.7', port: 8080, ephemeral: true }
  await client.ask('InstanceRequest', { ...SERVICE, type: 'registerInstance', instance })
  await client.ask('SubscribeServiceRequest', { ...SERVICE, subscribe: true, clusters: '' })
  return client
}

describe('the clients that are connected', () => {
  test('are listed with what they say of themselves, what they publish and subscribe to', async () => {
    const client = await connectShop()
    const answer = (await svc.get('/console/clients', { search: 'Java' })).json()
    expect(answer).toMatchObject({ totalCount: 1, server: address(), missingServers: [] })
    expect(answer.pageItems).toEqual([
      {
        id: client.connectionId,
        server: address(),
        ip: '127.0.0.1',
        port: expect.any(Number) as number,
        version: 'Nacos-Java-Client:v2.5.1',
        appName: 'shop',
        module: 'naming',
        clientIp: '127.0.0.1',
        username: '',
        labels: { source: 'sdk', module: 'naming', AppName: 'shop' },
        sinceMs: expect.any(Number) as number,
        heardAgoMs: expect.any(Number) as number,
        services: 1,
        instances: 1,
        subscriptions: 1,
      },
    ])
    expect((await svc.get('/console/clients', { search: 'Python' })).json().totalCount).toBe(0)
    await client.close()
  })

  test('can be closed, and their instances leave', async () => {
    const client = await connectShop()
    expect((await svc.delete('/console/clients', { id: client.connectionId })).status).toBe(200)
    await client.ended
    const list = await svc.get('/ns/instance/list', { serviceName: 'shop' })
    expect(list.json().hosts).toEqual([])
  })

  test('can be moved, and their instances stay until they have registered elsewhere', async () => {
    const client = await connectShop()
    expect((await svc.put('/console/clients/move', { id: client.connectionId })).status).toBe(200)
    await client.next('ConnectResetRequest')
    await client.ended
    const list = await svc.get('/ns/instance/list', { serviceName: 'shop' })
    expect(list.json().hosts).toMatchObject([{ ip: '10.0.0.7' }])
  })

  test('are not found once they have left', async () => {
    const { status, text } = await svc.delete('/console/clients', { id: 'nobody' })
    expect(status).toBe(404)
    expect(text).toContain('client-not-found')
  })
})
