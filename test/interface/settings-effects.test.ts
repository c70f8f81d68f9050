import { createServer, type AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { Client, type Json, serverForThisFile, sleep, unique, until } from './client.ts'

const waypost = serverForThisFile({
  settings: {
    'advertise-host': '[fd00:0::9]',
    'empty-service-expiry': '4s',
    'trusted-proxies': '127.0.0.2,10.0.0.0/8',
    'namespace-quota': 300,
    'probe-networks': '10.0.0.0/8,2001:db8::/32',
  },
})

async function srcIpOf(headers: Record<string, string>, localAddress: string): Promise<string> {
  const item = { dataId: unique('item'), group: 'G' }
  const form = { ...item, content: 'x' }
  const answer = await waypost.svc.call('POST', '/cs/configs', { form, headers, localAddress })
  expect(answer.text).toBe('true')
  const page = await waypost.svc.get('/cs/history', { search: 'accurate', ...item })
  return page.json().pageItems[0].srcIp
}

describe('a service that has been empty for a while', () => {
  test.concurrent('is removed if a registration created it, and stays if POST created it', async () => {
    const namespaceId = unique('ns')
    const key = { ip: '127.0.0.1', port: 80, namespaceId }
    await waypost.svc.post('/ns/service', { serviceName: 'made', namespaceId })
    for (const serviceName of ['made', 'registered', 'inhabited'])
      await waypost.svc.post('/ns/instance', { ...key, serviceName })
    for (const serviceName of ['made', 'registered'])
      await waypost.svc.delete('/ns/instance', { ...key, serviceName })
    const page = { pageNo: 1, pageSize: 10, namespaceId }
    const list = async () => (await waypost.svc.get('/ns/service/list', page)).json().doms
    expect(await list()).toEqual(['inhabited', 'made', 'registered'])
    await until(list, (doms) => doms.length === 2)
    expect(await list()).toEqual(['inhabited', 'made'])
    await sleep(2_000)
    expect(await list()).toEqual(['inhabited', 'made'])
  })
})

test('the address of this server has brackets in every list of servers', async () => {
  const { svc, nacos, server } = waypost
  const own = `[fd00:0::9]:${server.port}`
  const get = async (client: typeof svc, path: string) => (await client.get(path)).json()
  expect((await new Client(server.url).get('/nacos/serverlist')).text).toBe(own)
  expect((await get(svc, '/ns/operator/servers')).servers).toMatchObject([{ ip: 'fd00:0::9', key: own }])
  expect(JSON.parse((await get(svc, '/ns/raft/leader')).leader)).toMatchObject({ ip: own, voteFor: own })
  expect((await get(nacos, '/core/cluster/nodes')).data).toMatchObject([{ ip: 'fd00:0::9', address: own }])
})

describe('the address of an operator in the history', () => {
  const forwarded = { 'X-Forwarded-For': '192.0.2.7' }

  test('is that of the socket, independent of headers of other clients', async () => {
    expect(await srcIpOf({}, '127.0.0.3')).toBe('127.0.0.3')
    expect(await srcIpOf(forwarded, '127.0.0.3')).toBe('127.0.0.3')
  })

  test('is the forwarded one if a trusted proxy sends it', async () => {
    expect(await srcIpOf(forwarded, '127.0.0.2')).toBe('192.0.2.7')
    expect(await srcIpOf({}, '127.0.0.2')).toBe('127.0.0.2')
  })

  test('is not what the client wrote before the address that the trusted proxy added', async () => {
    const headers = { 'X-Forwarded-For': '203.0.113.1, 192.0.2.7, 10.1.1.1' }
    expect(await srcIpOf(headers, '127.0.0.2')).toBe('192.0.2.7')
  })
})

test('the shown quota is the setting', async () => {
  const answer = (await waypost.svc.get('/console/namespaces')).json()
  expect(answer.data[0].quota).toBe(300)
})

test('what is outside of probe-networks is not connected to, and is unhealthy with the reason', async () => {
  let connections = 0
  const server = createServer((socket) => (connections++, socket.destroy()))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const [namespaceId, serviceName] = ['public', unique('outside')]
  for (const ip of ['127.0.0.1', '::ffff:127.0.0.1', 'localhost'])
    await waypost.svc.post('/ns/instance', { serviceName, ip, port, ephemeral: false })
  const query = { namespaceId, serviceName, pageNo: 1, pageSize: 10 }
  const list = async () => (await waypost.svc.get('/console/instances', query)).json().pageItems
  const found = await until(list, (items: Json[]) => items.every(({ healthy }: Json) => !healthy))
  expect(found.length).toBeGreaterThan(0)
  for (const { health } of found) expect(health.check.text).toContain('outside of probe-networks')
  expect(connections).toBe(0)
  server.close()
})
