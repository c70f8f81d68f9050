/** `/nacos/v3`: what clients without gRPC and the Java client 3.x ask for (grpc-compat.md sections 5 to 7). */
import { expect, test } from 'vitest'
import { Client, serverForThisFile, unique, type Json } from './client.ts'

const waypost = serverForThisFile()
const v3 = (): Client => new Client(`${waypost.server.url}/nacos/v3`)
const read = async (call: Promise<{ status: number; json(): Json }>): Promise<Json> => {
  const reply = await call
  expect(reply.status).toBe(200)
  return reply.json()
}

test('an item is read with what is known of it; one that is not there is a code and not a status', async () => {
  const dataId = unique('item')
  const item = { dataId, groupName: 'G' }
  expect(await read(v3().get('/client/cs/config', item))).toMatchObject({ code: 20004 })
  await waypost.nacos.post('/cs/configs', { dataId, group: 'G', content: 'a: 1', type: 'yaml' })
  expect(await read(v3().get('/client/cs/config', item))).toMatchObject({
    code: 0,
    data: { content: 'a: 1', contentType: 'yaml', md5: expect.stringMatching(/^[0-9a-f]{32}$/), beta: false },
  })
})

test('an instance beats after it has registered; before, the code says that it must register', async () => {
  const serviceName = unique('service')
  const instance = { serviceName, ip: '10.0.0.1', port: 80 }
  const beat = { ...instance, heartBeat: true }
  expect(await read(v3().post('/client/ns/instance', beat))).toMatchObject({ code: 21003 })
  expect(await read(v3().post('/client/ns/instance', instance))).toEqual({
    code: 0,
    message: 'success',
    data: 'ok',
  })
  expect(await read(v3().post('/client/ns/instance', beat))).toMatchObject({ code: 0, data: 'ok' })
  const list = async () => (await read(v3().get('/client/ns/instance/list', { serviceName }))).data
  expect(await list()).toMatchObject([{ ip: '10.0.0.1', port: 80, healthy: true, clusterName: 'DEFAULT' }])
  expect(await read(v3().delete('/client/ns/instance', instance))).toMatchObject({ code: 0 })
  expect(await list()).toEqual([])
})

test('the hosts of a list are found whatever its names are', async () => {
  const clusterName = 'hosts,lastRefTime'
  const serviceName = `${unique('s')}","hosts":[1],"lastRefTime":2`
  await waypost.nacos.post('/ns/instance', {
    serviceName,
    ip: '10.0.0.1',
    port: 80,
    metadata: `{"a":",\\"lastRefTime\\":"}`,
  })
  const query = { serviceName, clusterName: `${clusterName},DEFAULT` }
  expect((await read(v3().get('/client/ns/instance/list', query))).data).toMatchObject([{ ip: '10.0.0.1' }])
})

test('a login has no envelope, and the health of the server a code', async () => {
  const login = await read(v3().post('/auth/user/login', { username: 'ann', password: 'x' }))
  expect(login).toMatchObject({ accessToken: expect.any(String), tokenTtl: expect.any(Number) })
  expect(await read(v3().get('/admin/core/state/liveness'))).toMatchObject({ code: 0 })
})
