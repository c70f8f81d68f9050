import { createSocket } from 'node:dgram'
import { afterEach, describe, expect, test } from 'vitest'
import { hostsOf, serverForThisFile, sleep, unique, until, type Params } from './client.ts'
import { expectProblem } from './problem.ts'

/** These tests set switches of one server, so they run one after the other, and each resets its switches. */
const waypost = serverForThisFile()
const turned = new Map<string, string>()

async function turn(entry: string, value: string, putBack?: string): Promise<void> {
  if (putBack !== undefined) turned.set(entry, putBack)
  const answer = await waypost.svc.put('/ns/operator/switches', { entry, value })
  expect(answer, `${entry}: ${answer.text}`).toMatchObject({ status: 200, text: 'ok' })
}

afterEach(async () => {
  for (const [entry, value] of turned) {
    const answer = await waypost.svc.put('/ns/operator/switches', { entry, value })
    expect(answer.text, entry).toBe('ok')
  }
  turned.clear()
})

const key = () => ({ serviceName: unique('svc'), ip: '127.0.0.1', port: 80 })
const register = (form: Params) => waypost.svc.post('/ns/instance', form)
const hosts = (query: Params) => hostsOf(waypost.svc, query)
const shortLived = '{"preserved.heart.beat.timeout":"1000","preserved.ip.delete.timeout":"60000"}'

describe('caching and beats', () => {
  test('defaultCacheMillis is the cacheMillis of a list as soon as it is set', async () => {
    const instance = key()
    await register(instance)
    const look = async () => (await waypost.svc.get('/ns/instance/list', instance)).json().cacheMillis
    expect(await look()).toBe(3_000)
    await turn('defaultCacheMillis', '7000', '3000')
    expect(await look()).toBe(7_000)
  })

  test('defaultPushCacheMillis is the cacheMillis of subscribers, and pushEnabled=false ends pushes', async () => {
    const instance = key()
    await register(instance)
    const socket = createSocket('udp4')
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
    const query = { ...instance, udpPort: socket.address().port, clientIP: '127.0.0.1' }
    const java = { 'User-Agent': 'Nacos-Java-Client:v1.4.8' }
    const look = async () => (await waypost.nacos.get('/ns/instance/list', query, java)).json().cacheMillis
    expect(await look()).toBe(10_000)
    await turn('defaultPushCacheMillis', '15000', '10000')
    expect(await look()).toBe(15_000)
    await turn('pushEnabled', 'false', 'true')
    expect(await look()).toBe(3_000)
    socket.close()
  })

  test('clientBeatInterval is the interval in the answer to a beat', async () => {
    const instance = key()
    await register(instance)
    const beat = { ...instance, beat: JSON.stringify(instance) }
    expect((await waypost.nacos.put('/ns/instance/beat', beat)).json().clientBeatInterval).toBe(5_000)
    await turn('clientBeatInterval', '8000', '5000')
    expect((await waypost.nacos.put('/ns/instance/beat', beat)).json().clientBeatInterval).toBe(8_000)
  })
})

describe('health checks', () => {
  test('healthCheckEnabled false keeps instances without beats healthy, except those on the white list', async () => {
    const spared = { ...key(), metadata: shortLived }
    const listed = { ...key(), metadata: shortLived }
    await turn('healthCheckEnabled', 'false', 'true')
    await turn('healthCheckWhiteList', `${listed.serviceName},DEFAULT_GROUP@@${listed.serviceName}`)
    await register(spared)
    await register(listed)
    await until(
      () => hosts(listed),
      ([host]) => host?.healthy === false,
    )
    await sleep(500)
    expect(await hosts(spared)).toMatchObject([{ healthy: true }])
  })

  test('healthCheckEnabled true gives instances a full timeout again', async () => {
    const instance = { ...key(), metadata: shortLived }
    await turn('check', 'false', 'true')
    await register(instance)
    await sleep(1_500)
    expect(await hosts(instance)).toMatchObject([{ healthy: true }])
    await turn('check', 'true', 'true')
    await until(
      () => hosts(instance),
      ([host]) => host?.healthy === false,
    )
  })
})

describe('switches that refuse writes', () => {
  test('disableAddIP refuses new instances and does not affect known ones', async () => {
    const known = key()
    await register(known)
    await turn('disableAddIP', 'true', 'false')
    const refused = await register({ ...known, port: 81 })
    expect(refused.status).toBeGreaterThanOrEqual(400)
    expect(refused.status).toBeLessThan(500)
    expect(await hosts(known)).toMatchObject([{ port: 80 }])
    expect((await register(known)).text).toBe('ok')
    const beat = { ...known, beat: JSON.stringify(known) }
    expect((await waypost.svc.put('/ns/instance/beat', beat)).text).toBe('ok')
  })

  test('sendBeatOnly accepts beats of known instances, and no beat registers an unknown one', async () => {
    const known = key()
    await register(known)
    await turn('sendBeatOnly', 'true', 'false')
    const beat = { ...known, beat: JSON.stringify(known) }
    expect((await waypost.svc.put('/ns/instance/beat', beat)).text).toBe('ok')
    const unknown = { ...known, port: 81 }
    const query = { ...unknown, beat: JSON.stringify(unknown) }
    await waypost.svc.put('/ns/instance/beat', query)
    expect((await waypost.nacos.put('/ns/instance/beat', query)).json().code).toBe(20_404)
    expect(await hosts(known)).toMatchObject([{ port: 80 }])
  })

  test('sendBeatOnly refuses registrations', async () => {
    const known = key()
    await register(known)
    await turn('sendBeatOnly', 'true', 'false')
    const refused = await register({ ...known, port: 81 })
    expect(refused.status).toBeGreaterThanOrEqual(400)
    expect(refused.status).toBeLessThan(500)
    expect(await hosts(known)).toHaveLength(1)
  })
})

describe('limitedUrlMap', () => {
  test('answers the status and an empty body to every URL that begins with its text', async () => {
    const instance = key()
    await register(instance)
    const url = `/svc/v1/ns/instance/list?serviceName=${instance.serviceName}`
    await turn('limitedUrlMap', `${url}:429,/svc/v1/ns/operator:410`)
    const limited = await waypost.svc.get('/ns/instance/list', instance)
    expect(limited).toMatchObject({ status: 429, text: '' })
    expect(await waypost.svc.get('/ns/instance', instance)).toMatchObject({ status: 200 })
    const { limitedUrlMap } = (await waypost.svc.get('/ns/operator/switches')).json()
    expect(limitedUrlMap, 'operator routes always answer').toMatchObject({ [url]: 429 })
  })
})

describe('overriddenServerStatus', () => {
  const entry = 'overriddenServerStatus'
  const read = (query: Params) => waypost.svc.get('/ns/instance/list', query)

  test('DOWN refuses service discovery, and an operator can remove it', async () => {
    const instance = key()
    await turn(entry, 'DOWN', 'null')
    expectProblem(await read(instance), 503)
    expectProblem(await register(instance), 503)
    expect((await waypost.svc.get('/ns/operator/metrics')).json().status).toBe('DOWN')
    expect((await waypost.svc.get('/ns/operator/servers')).status).toBe(200)
    await turn(entry, 'null', 'null')
    expect((await waypost.svc.get('/ns/operator/switches')).json()[entry]).toBeNull()
    expect((await waypost.svc.get('/ns/operator/metrics')).json().status).toBe('UP')
    expect(await hosts(instance)).toEqual([])
    expect((await register(instance)).text).toBe('ok')
  })

  test('READ_ONLY allows only reads', async () => {
    const instance = key()
    await register(instance)
    await turn(entry, 'READ_ONLY', 'null')
    expect((await read(instance)).json().hosts).toHaveLength(1)
    expectProblem(await register({ ...instance, port: 81 }), 503)
  })

  test('configuration is not affected', async () => {
    await turn(entry, 'DOWN', 'null')
    const item = { dataId: unique('app'), group: 'G' }
    expect((await waypost.svc.post('/cs/configs', { ...item, content: 'x' })).text).toBe('true')
  })
})
