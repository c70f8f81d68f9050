/** Whole doubles are written with a fraction under /nacos: the C++ client refuses a list with `"weight":1`. */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { Client, type Params, serverForThisFile, unique } from './client.ts'

const waypost = serverForThisFile()

const WEIGHTS = [
  ['1', '1', '1.0'],
  ['2.5', '2.5', '2.5'],
  ['100', '100', '100.0'],
  ['0.02', '0.02', '0.02'],
]

async function registered(weight: string): Promise<Params> {
  const key = { serviceName: unique('svc'), ip: '10.0.0.1', port: 80 }
  const answer = await waypost.nacos.post('/ns/instance', {
    ...key,
    weight,
    metadata: '{"weight":"1","k":"\\"weight\\":1"}',
  })
  expect(answer.text).toBe('ok')
  return key
}

test.each(WEIGHTS)('a weight of %s is %s on /svc and %s on /nacos', async (sent, plain, decimal) => {
  const key = await registered(sent)
  const { serviceName } = key
  const page = { serviceName, clusterName: 'DEFAULT', pageNo: 1, pageSize: 10 }
  const asked: [path: string, query: Params][] = [
    ['/ns/instance/list', key],
    ['/ns/instance', key],
    ['/ns/catalog/instances', page],
    ['/ns/catalog/services', { ...page, serviceNameParam: serviceName, withInstances: true }],
  ]
  for (const [path, query] of asked) {
    const [svc, nacos] = [await waypost.svc.get(path, query), await waypost.nacos.get(path, query)]
    expect(svc.text, path).toContain(`"weight":${plain},`)
    expect(nacos.text, path).toContain(`"weight":${decimal},`)
    expect(nacos.text, path).toContain('"weight":"1"')
  }
  const all = new Client(`${waypost.server.url}/nacos`)
  for (const path of ['/v2/ns/instance/list', '/v2/ns/instance', '/v3/client/ns/instance/list'])
    expect((await all.get(path, key)).text, path).toContain(`"weight":${decimal},`)
  all.close()
})

test.each([
  ['0', '0', '0.0'],
  ['1', '1', '1.0'],
  ['0.5', '0.5', '0.5'],
])('a threshold of %s is %s on /svc and %s on /nacos', async (sent, plain, decimal) => {
  const serviceName = unique('svc')
  await waypost.nacos.post('/ns/service', { serviceName, protectThreshold: sent })
  const all = new Client(`${waypost.server.url}/nacos`)
  expect((await all.get('/v2/ns/service', { serviceName })).text).toContain(`"protectThreshold":${decimal},`)
  all.close()
  for (const path of ['/ns/service', '/ns/catalog/service']) {
    expect((await waypost.svc.get(path, { serviceName })).text).toContain(`"protectThreshold":${plain},`)
    expect((await waypost.nacos.get(path, { serviceName })).text).toContain(`"protectThreshold":${decimal},`)
  }
})

test('a push by UDP has them with a fraction', async () => {
  const { serviceName } = await registered('1')
  const socket = createSocket('udp4').bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const query = { serviceName, udpPort: socket.address().port, clientIP: '127.0.0.1' }
  await waypost.nacos.get('/ns/instance/list', query as Params, { 'User-Agent': 'Nacos-Java-Client:v1.4.8' })
  const received = once(socket, 'message')
  await waypost.nacos.post('/ns/instance', { serviceName: serviceName!, ip: '10.0.0.2', port: 80 })
  const [packet] = (await received) as [Buffer]
  const text = (packet[0] === 0x1f ? gunzipSync(packet) : packet).toString()
  const { data } = JSON.parse(text) as { data: string }
  socket.close()
  expect(data.match(/"weight":1\.0,/g)).toHaveLength(2)
})

test('switches and metrics have them with a fraction', async () => {
  await waypost.nacos.put('/ns/operator/switches', { entry: 'distroThreshold', value: '1' })
  expect((await waypost.nacos.get('/ns/operator/switches')).text).toContain('"distroThreshold":1.0,')
  expect((await waypost.svc.get('/ns/operator/switches')).text).toContain('"distroThreshold":1,')
  expect((await waypost.nacos.get('/ns/operator/metrics')).text).toMatch(/"cpu":\d+\.\d/)
})
