import { describe, expect, test } from 'vitest'
import { Client, type Dialect, DIALECTS, serverForThisFile, sleep, unique, type Json } from './client.ts'
import { expectProblem, refusals } from './problem.ts'

const waypost = serverForThisFile()
const switches = '/ns/operator/switches'

const current = async (): Promise<Json> => (await waypost.svc.get(switches)).json()

// Before others set the same switch for this server alone.
test('on /nacos a switch is set by the name that operators send, and the light beat is one', async () => {
  for (const checkTimes of [4, 3]) {
    const set = await waypost.nacos.put(switches, { entry: 'healthCheckTimes', value: checkTimes })
    expect(set).toMatchObject({ status: 200, text: 'ok' })
    const shown = { checkTimes, lightBeatEnabled: expect.any(Boolean) }
    expect((await waypost.nacos.get(switches)).json()).toMatchObject(shown)
  }
})

describe('the switches', () => {
  test('are all listed, with their defaults', async () => {
    expect(await current()).toMatchObject({
      name: expect.any(String),
      masters: null,
      adWeightMap: {},
      defaultPushCacheMillis: 10_000,
      clientBeatInterval: 5_000,
      defaultCacheMillis: 3_000,
      distroThreshold: 0.7,
      healthCheckEnabled: true,
      distroEnabled: true,
      enableStandalone: true,
      pushEnabled: true,
      checkTimes: 3,
      httpHealthParams: { max: 5_000, min: 500, factor: 0.85 },
      tcpHealthParams: { max: 5_000, min: 1_000, factor: 0.75 },
      mysqlHealthParams: { max: 3_000, min: 2_000, factor: 0.65 },
      incrementalList: [],
      serverStatusSynchronizationPeriodMillis: 2_000,
      serviceStatusSynchronizationPeriodMillis: 5_000,
      disableAddIP: false,
      sendBeatOnly: false,
      limitedUrlMap: {},
      distroServerExpiredMillis: 10_000,
      pushGoVersion: '0.1.0',
      pushJavaVersion: '0.1.0',
      pushPythonVersion: '0.4.3',
      pushCVersion: '1.0.12',
      enableAuthentication: false,
      defaultInstanceEphemeral: true,
      healthCheckWhiteList: [],
    })
    for (const name of ['overriddenServerStatus', 'checksum']) expect(await current()).toHaveProperty(name)
  })

  // What each switch takes is tested beside the code.
  const settable: [string, string, string, unknown][] = [
    ['healthCheckTimes', '5', 'checkTimes', 5],
    ['masters', '127.0.0.1,127.0.0.2', 'masters', ['127.0.0.1', '127.0.0.2']],
    ['pushVersion', 'go:1.2.3', 'pushGoVersion', '1.2.3'],
    [
      'tcpHealthParams',
      '{"max":4000,"min":1000,"factor":0.5}',
      'tcpHealthParams',
      { max: 4_000, min: 1_000, factor: 0.5 },
    ],
  ]
  test.each(settable)('%s set to %s is given back as %s', async (...[entry, value, field, expected]) => {
    const answer = await waypost.svc.put(switches, { entry, value })
    expect(answer, answer.text).toMatchObject({ status: 200, text: 'ok' })
    expect((await current())[field]).toEqual(expected)
  })

  const rows = ['adWeightMap', ''].flatMap((entry) => DIALECTS.map((dialect) => [entry, dialect] as const))
  test.each(rows)('%j cannot be set on /%s', async (entry, dialect) => {
    const before = await current()
    const answer = await waypost[dialect].put(switches, { entry, value: '{}' })
    refusals(dialect)(answer, 400, dialect === 'svc' || entry === '' ? 'entry' : entry)
    expect(await current()).toEqual(before)
  })

  const wrong: [string, string | undefined][] = [
    ['clientBeatInterval', 'soon'],
    ['limitedUrlMap', 'no-status'],
    ['pushEnabled', undefined],
  ]
  test.each(wrong)('%s set to %j is a 400 and changes nothing', async (entry, value) => {
    const before = await current()
    expectProblem(await waypost.svc.put(switches, { entry, value }), 400, 'value')
    expect(await current()).toEqual(before)
  })

  test('debug must be a boolean', async () => {
    const answer = await waypost.svc.put(switches, { entry: 'checkTimes', value: '3', debug: 'perhaps' })
    expectProblem(answer, 400, 'debug')
  })
})

describe('the metrics', () => {
  const read = async (dialect: Dialect = 'svc') => (await waypost[dialect].get('/ns/operator/metrics')).json()

  test.each(DIALECTS)('are all there on /%s, and those of the machine have its values', async (dialect) => {
    const metrics = await read(dialect)
    const names = ['serviceCount', 'load', 'mem', 'responsibleServiceCount', 'instanceCount', 'cpu', 'status']
    expect(Object.keys(metrics)).toEqual(expect.arrayContaining([...names, 'responsibleInstanceCount']))
    expect(metrics.status).toBe('UP')
    for (const share of [metrics.cpu, metrics.mem]) {
      expect(share).toBeGreaterThanOrEqual(0)
      expect(share).toBeLessThanOrEqual(1)
    }
    expect(metrics.mem).toBeGreaterThan(0.001)
    expect(metrics.load).toBeGreaterThanOrEqual(0)
  })

  test('count services and instances as they are added and removed', async () => {
    const before = await read()
    const serviceName = unique('counted')
    const keys = [1, 2, 3].map((port) => ({ serviceName, ip: '127.0.0.1', port }))
    for (const key of keys) await waypost.svc.post('/ns/instance', { ...key, ephemeral: key.port < 3 })
    const after = await read()
    expect(after.serviceCount).toBe(before.serviceCount + 1)
    expect(after.instanceCount).toBe(before.instanceCount + 3)
    expect(after.responsibleServiceCount).toBe(after.serviceCount)
    expect(after.responsibleInstanceCount).toBe(after.instanceCount)
    await waypost.svc.delete('/ns/instance', keys[0])
    expect((await read()).instanceCount).toBe(before.instanceCount + 2)
  })
})

describe('the servers', () => {
  const servers = '/ns/operator/servers'

  test.each([undefined, true, false])('with healthy %j: this one, with all its fields', async (healthy) => {
    const answer = (await waypost.svc.get(servers, { healthy })).json()
    expect(answer.servers).toHaveLength(1)
    const [server] = answer.servers
    const fields = ['ip', 'servePort', 'site', 'weight', 'adWeight', 'alive', 'replies', 'lastRefTime']
    expect(Object.keys(server).sort()).toEqual([...fields, 'lastRefTimeStr', 'key'].sort())
    expect(server).toMatchObject({
      servePort: waypost.server.port,
      alive: true,
      replies: true,
      site: expect.any(String),
    })
    expect(server.key).toBe(`${server.ip}:${server.servePort}`)
    expect(server.weight).toEqual(expect.any(Number))
    expect(server.adWeight).toEqual(expect.any(Number))
    expect(Math.abs(server.lastRefTime - Date.now())).toBeLessThan(60_000)
    expect(server.lastRefTimeStr).toMatch(/\d/)
  })

  test('healthy must be a boolean', async () => {
    expectProblem(await waypost.svc.get(servers, { healthy: 'perhaps' }), 400, 'healthy')
  })
})

describe('the leader', () => {
  const read = async (): Promise<Json> => JSON.parse((await waypost.svc.get('/ns/raft/leader')).json().leader)

  test('is this server, with all its fields', async () => {
    const leader = await read()
    const fields = ['heartbeatDueMs', 'ip', 'leaderDueMs', 'state', 'term', 'voteFor']
    expect(Object.keys(leader).sort()).toEqual(fields)
    expect(leader.state).toBe('LEADER')
    expect(leader.ip).toMatch(new RegExp(`:${waypost.server.port}$`))
    expect(leader.voteFor).toBe(leader.ip)
    expect(Number.isInteger(leader.term)).toBe(true)
  })

  test('has due times that pass and start again', async () => {
    const heartbeats: number[] = []
    const leases: number[] = []
    for (let n = 0; n < 8; n++) {
      const leader = await read()
      heartbeats.push(leader.heartbeatDueMs)
      leases.push(leader.leaderDueMs)
      await sleep(97)
    }
    for (const series of [heartbeats, leases]) {
      for (const due of series) expect(Number.isInteger(due) && due >= 0 && due <= 60_000).toBe(true)
      expect(new Set(series).size).toBeGreaterThan(2)
    }
  })
})

test('on /nacos a server that is DOWN answers 503 in text', async () => {
  await waypost.nacos.put(switches, { entry: 'overriddenServerStatus', value: 'DOWN' })
  const answer = await waypost.nacos.get('/ns/instance/list', { serviceName: unique('svc') })
  const lifted = await waypost.nacos.put(switches, { entry: 'overriddenServerStatus', value: 'null' })
  expect(lifted.text).toBe('ok')
  expect(answer.status).toBe(503)
  expect(answer.text).toMatch(/server is DOWN ?now, please try again later!/)
})

describe('the state of the server on /nacos', () => {
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

describe('the list for clients with an endpoint', () => {
  test('is the address of the server, also for who names a namespace', async () => {
    const answer = await new Client(waypost.server.url).get('/nacos/serverlist?nofix=1&namespace=dev')
    expect(answer).toMatchObject({ status: 200, text: `127.0.0.1:${waypost.server.port}` })
    expect(answer.headers['content-type']).toBe('text/plain;charset=UTF-8')
  })
})
