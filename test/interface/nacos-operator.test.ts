import { describe, expect, test } from 'vitest'
import { Client, serverForThisFile, unique } from './client.ts'

const waypost = serverForThisFile()

describe('switches and metrics', () => {
  test('a switch is set by the name that operators send, and an unknown one is a 400', async () => {
    const set = await waypost.nacos.put('/ns/operator/switches', { entry: 'healthCheckTimes', value: '4' })
    expect(set).toMatchObject({ status: 200, text: 'ok' })
    expect((await waypost.nacos.get('/ns/operator/switches')).json()).toMatchObject({
      checkTimes: 4,
      lightBeatEnabled: expect.any(Boolean),
    })
    for (const entry of ['noSuchSwitch', 'name', 'checksum', 'adWeightMap']) {
      const answer = await waypost.nacos.put('/ns/operator/switches', { entry, value: 'x' })
      expect(answer.status).toBe(400)
      expect(answer.headers['content-type'] ?? '').not.toMatch(/problem/)
      expect(answer.text).toContain(entry)
    }
  })

  test('metrics have the status that clients read as health, and all counts', async () => {
    const metrics = (await waypost.nacos.get('/ns/operator/metrics')).json()
    expect(metrics).toMatchObject({
      status: 'UP',
      serviceCount: expect.any(Number),
      instanceCount: expect.any(Number),
      responsibleServiceCount: expect.any(Number),
      responsibleInstanceCount: expect.any(Number),
      cpu: expect.any(Number),
      load: expect.any(Number),
      mem: expect.any(Number),
    })
  })

  test('a server that is DOWN answers 503 in text', async () => {
    const path = '/ns/operator/switches'
    await waypost.nacos.put(path, { entry: 'overriddenServerStatus', value: 'DOWN' })
    const answer = await waypost.nacos.get('/ns/instance/list', { serviceName: unique('svc') })
    const lifted = await waypost.nacos.put(path, { entry: 'overriddenServerStatus', value: 'null' })
    expect(lifted.text).toBe('ok')
    expect(answer.status).toBe(503)
    expect(answer.text).toMatch(/server is DOWN ?now, please try again later!/)
  })
})

describe('the state of the server', () => {
  test('the cluster has this one node', async () => {
    const answer = (await waypost.nacos.get('/core/cluster/nodes')).json()
    expect(answer).toMatchObject({ code: 200, data: [expect.any(Object)] })
    const [member] = answer.data
    expect(member).toMatchObject({
      ip: expect.any(String),
      port: waypost.server.port,
      state: 'UP',
      extendInfo: { lastRefreshTime: expect.any(Number), version: expect.any(String) },
      failAccessCnt: 0,
    })
    expect(member.address).toBe(`${member.ip}:${member.port}`)
  })

  test('the console answers version and mode', async () => {
    const answer = (await waypost.nacos.get('/console/server/state')).json()
    const facts = { standalone_mode: 'standalone', auth_enabled: 'false', config_retention_days: '30' }
    expect(answer).toMatchObject({
      ...facts,
      server_port: String(waypost.server.port),
      version: expect.any(String),
    })
    const others = Object.entries(answer).filter(([, value]) => typeof value !== 'string')
    expect(others).toEqual([['function_mode', null]])
  })

  test.each(['liveness', 'readiness'])('%s is a plain OK', async (name) => {
    const answer = await waypost.nacos.get(`/console/health/${name}`)
    expect(answer).toMatchObject({ status: 200, text: 'OK' })
  })

  test('the health of the configuration part is UP', async () => {
    expect(await waypost.nacos.get('/cs/health')).toMatchObject({ status: 200, text: 'UP' })
  })
})

describe('paths that do not exist', () => {
  test.each(['/cs/nothing', '/ns/nothing', '/ns/instance/nothing', '/nothing'])(
    '%s is a 404',
    async (path) => {
      const answer = await waypost.nacos.get(path)
      expect(answer.status).toBe(404)
    },
  )

  test.each([
    ['PATCH', '/cs/configs'],
    ['POST', '/ns/instance/list'],
    ['GET', '/ns/instance/beat'],
  ])('%s %s is a 405', async (method, path) => {
    expect((await waypost.nacos.call(method, path)).status).toBe(405)
  })
})

describe('the list for clients with an endpoint', () => {
  test('is the address of the server, also for who names a namespace', async () => {
    const answer = await new Client(waypost.server.url).get('/nacos/serverlist?nofix=1&namespace=dev')
    expect(answer).toMatchObject({ status: 200, text: `127.0.0.1:${waypost.server.port}` })
    expect(answer.headers['content-type']).toBe('text/plain;charset=UTF-8')
  })
})
