import { ANONYMOUS } from '../../src/core/access/identity.ts'
import { describe, expect, test } from 'vitest'
import { at, carryOut, EngineWorld, lastBeatMs } from '../../src/core/core.test-support.ts'
import { setSwitch } from '../../src/core/operator/set-switch.ts'
import { InstanceListAnswers } from '../../src/protocols/answers/instance-list.ts'
import { Refusal } from '../../src/core/refusal.ts'
import { nacosNamingRoutes } from '../../src/protocols/http/nacos/naming-routes.ts'
import type { Answer } from '../../src/protocols/http/routing/answer.ts'
import { Router } from '../../src/protocols/http/routing/router.ts'
import { svcNamingRoutes } from '../../src/protocols/http/svc/naming-routes.ts'
import type { ListWriter, PushSubscription } from '../../src/operations/naming/instance-lists.ts'
import type { ClientViews } from '../../src/operations/client-views.ts'
import { Guard } from '../../src/operations/guard.ts'
import { Timeline } from '../../src/core/naming/timeline/timeline.ts'
import { allOperations, type OperationParts } from '../../src/operations/operations.ts'

type Params = Record<string, string>

/** Both dialects' naming routes on one engine, called without sockets; commits succeed at once. */
function startRoutes() {
  const world = new EngineWorld()
  const subscribed: PushSubscription[] = []
  const maxInstanceMetadataBytes = 8_192
  const operations = allOperations({
    timeline: new Timeline({ startMs: 0, probeText: () => '' }),
    guard: new Guard(),
    state: world.state,
    liveness: world.liveness,
    lists: new InstanceListAnswers(world.state, { now: () => 0, soon: setImmediate }) as ListWriter,
    engine: world.engine,
    clock: () => at(world.nowMs),
    readers: { note: () => {} },
    pushes: {
      list: () => [],
      subscribe: (one: PushSubscription) => subscribed.push(one) > 0,
    },
    views: {
      subscribers: () => ({ value: subscribed, missing: ['10.0.0.2:8848'] }),
    } as unknown as ClientViews,
    maxInstanceMetadataBytes,
  } as Partial<OperationParts> as OperationParts)
  const parts = { ...operations, maxInstanceMetadataBytes }
  const router = new Router([...svcNamingRoutes(parts), ...nacosNamingRoutes(parts)], 1_000)
  const ask = async (path: string, params: Params, headers: Params = {}): Promise<Answer> => {
    const [method = '', place = ''] = path.split(' ')
    const found = router.find(method, place)
    if (found instanceof Refusal) throw found
    const caller = {
      ip: '10.9.9.9',
      identity: ANONYMOUS,
      socketIp: '10.8.8.8',
      isProxied: false,
      socketPort: 1234,
      isSecure: false,
      userAgent: headers['user-agent'] ?? '',
      headers,
    }
    try {
      const read = found.readParameters(new Map(Object.entries(params)))
      const handled = found.route.handle({
        params: read,
        caller,
        target: undefined,
        hold: () => ({ answer() {}, onGone() {} }),
      })
      await world.quiet()
      const answer = await handled
      if (answer === undefined) throw new Error('not answered')
      return answer
    } catch (error) {
      return found.route.errors(error, { method, path: place, requestId: 'r' })
    }
  }
  const textOf = async (path: string, params: Params = {}, headers: Params = {}) => {
    const { status, body } = await ask(path, params, headers)
    return `${status} ${String(body)}`
  }
  return {
    world,
    subscribed,
    /** Status and body. */
    svc: (path: string, params?: Params) => textOf(path.replace(' ', ' /svc/v1/ns'), params),
    nacos: (path: string, params?: Params, headers?: Params) =>
      textOf(path.replace(' ', ' /nacos/v1/ns'), params, headers),
    /** The body of a JSON answer of `/nacos`. */
    json: async (path: string, params: Params = {}, headers: Params = {}) =>
      JSON.parse(String((await ask(path.replace(' ', ' /nacos/v1/ns'), params, headers)).body)) as Record<
        string,
        unknown
      >,
  }
}

const ONE = { serviceName: 'orders', ip: '10.0.0.1', port: '80' }
const SERVICE = { serviceName: 'orders' }

describe('instances', () => {
  test('are registered, listed, read, modified and deregistered', async () => {
    const { svc, json } = startRoutes()
    expect(await svc('POST /instance', { ...ONE, metadata: 'a=1,b=2', weight: '2.5' })).toBe('200 ok')
    expect(await json('GET /instance/list', SERVICE)).toMatchObject({
      name: 'DEFAULT_GROUP@@orders',
      cacheMillis: 3_000,
      hosts: [{ ip: '10.0.0.1', port: 80, weight: 2.5, metadata: { a: '1', b: '2' }, healthy: true }],
    })
    expect(await svc('PUT /instance', { ...ONE, metadata: '{"b":"3"}', enabled: 'false' })).toBe('200 ok')
    expect(await json('GET /instance', ONE)).toEqual({
      service: 'DEFAULT_GROUP@@orders',
      ip: '10.0.0.1',
      port: 80,
      clusterName: 'DEFAULT',
      weight: 2.5,
      healthy: true,
      instanceId: '10.0.0.1#80#DEFAULT#DEFAULT_GROUP@@orders',
      metadata: { a: '1', b: '3' },
    })
    expect(await svc('DELETE /instance', ONE)).toBe('200 ok')
    expect(await svc('DELETE /instance', ONE)).toBe('200 ok')
    expect((await json('GET /instance/list', SERVICE))['hosts']).toEqual([])
  })

  test('have one namespace for public, empty and absent, and cluster is an alias of clusterName', async () => {
    const { svc, world } = startRoutes()
    for (const namespaceId of ['', 'public'])
      await svc('POST /instance', { ...ONE, namespaceId, cluster: 'c1' })
    await svc('POST /instance', { ...ONE, clusterName: 'c1', cluster: 'ignored' })
    expect(world.state.instancesInAll).toBe(1)
    expect(await svc('GET /instance', { ...ONE, cluster: 'c1' })).toMatch(/^200/)
    expect(await svc('GET /instance', { ...ONE, clusterName: 'c1' })).toMatch(/^200/)
  })

  test('need no groupName if the service name has the group', async () => {
    const { svc, json } = startRoutes()
    await svc('POST /instance', { ...ONE, serviceName: 'G@@orders', groupName: 'other' })
    expect(await json('GET /instance/list', { ...SERVICE, groupName: 'G' })).toMatchObject({
      hosts: [{ port: 80 }],
    })
  })

  test('that are unknown are 404, for each part of their key', async () => {
    const { svc } = startRoutes()
    expect(await svc('GET /instance', ONE)).toMatch(/^404/)
    await svc('POST /instance', { ...ONE, port: '81' })
    expect(await svc('GET /instance', ONE)).toMatch(/^404/)
    expect(await svc('GET /instance', { ...ONE, port: '81', cluster: 'none' })).toMatch(/^404/)
    expect(await svc('GET /instance', { ...ONE, port: '81', ephemeral: 'false' })).toMatch(/^404/)
    expect(await svc('PUT /instance', ONE)).toMatch(/^404/)
  })

  test('have a settable health only if the checker is NONE', async () => {
    const { svc, json } = startRoutes()
    await svc('POST /instance', { ...ONE, ephemeral: 'false' })
    expect(await svc('PUT /health/instance', { ...ONE, healthy: 'false' })).toMatch(/^400.*health check/)
    const cluster = { ...SERVICE, clusterName: 'DEFAULT', checkPort: '80', useInstancePort4Check: 'true' }
    expect(await svc('PUT /cluster', { ...cluster, healthChecker: '{"type":"none"}' })).toBe('200 ok')
    expect(await svc('PUT /health/instance', { ...ONE, healthy: 'false' })).toBe('200 ok')
    expect((await json('GET /instance', ONE))['healthy']).toBe(false)
  })
})

describe('a beat', () => {
  const full = (other: object = {}) =>
    JSON.stringify({ ip: '10.0.0.1', port: 80, serviceName: 'DEFAULT_GROUP@@orders', ...other })

  test('with content registers an unknown instance and only renews a known one', async () => {
    const { svc, json, world } = startRoutes()
    expect(
      await svc('PUT /instance/beat', { ...SERVICE, beat: full({ weight: 3, metadata: { a: '1' } }) }),
    ).toBe('200 ok')
    world.nowMs = 5_000
    expect(
      await svc('PUT /instance/beat', { ...SERVICE, beat: full({ weight: 9, metadata: { b: '2' } }) }),
    ).toBe('200 ok')
    const [instance] = world.state.services.all().next().value?.instances.values() ?? []
    expect(instance).toMatchObject({ metadata: { a: '1' }, record: { weight: 3 } })
    expect(lastBeatMs(world.state, instance!)).toBe(5_000)
    expect((await json('GET /instance/list', SERVICE))['hosts']).toHaveLength(1)
  })

  test('without content is 404 on /svc and 20404 on /nacos for an unknown instance', async () => {
    const { svc, nacos } = startRoutes()
    expect(await svc('PUT /instance/beat', ONE)).toMatch(/^404/)
    expect(await nacos('PUT /instance/beat', ONE)).toBe(
      '200 {"clientBeatInterval":5000,"code":20404,"lightBeatEnabled":true}',
    )
    await nacos('POST /instance', {
      ...ONE,
      metadata: '{"preserved.heart.beat.interval":"1000"}',
      clusterName: 'c1',
    })
    expect(await nacos('PUT /instance/beat', ONE)).toBe(
      '200 {"clientBeatInterval":1000,"code":10200,"lightBeatEnabled":true}',
    )
    expect(await nacos('PUT /instance/beat', { ...ONE, clusterName: 'c2' })).toContain('20404')
  })

  test('makes an instance healthy', async () => {
    const { svc, json, world } = startRoutes()
    await svc('POST /instance', { ...ONE, healthy: 'false' })
    await svc('PUT /instance/beat', ONE)
    expect((await json('GET /instance', ONE))['healthy']).toBe(true)
    expect(world.published.at(-1)).toMatchObject({ kind: 'instance-health-changed', healthy: true })
  })

  test('only renews while sendBeatOnly is on', async () => {
    const { nacos, world } = startRoutes()
    carryOut(world.state, setSwitch('sendBeatOnly', 'true', true), at(0))
    expect(await nacos('PUT /instance/beat', { ...SERVICE, beat: full() })).toContain('20404')
    expect(world.state.instancesInAll).toBe(0)
  })

  test('may also be a registration that changes nothing', async () => {
    const { svc, world } = startRoutes()
    await svc('POST /instance', ONE)
    world.nowMs = 4_000
    await svc('POST /instance', ONE)
    const [instance] = world.state.services.all().next().value?.instances.values() ?? []
    expect(lastBeatMs(world.state, instance!)).toBe(4_000)
  })
})

describe('the list', () => {
  test('has the longer cacheMillis for subscribers of pushes, at the socket’s address', async () => {
    const { json, subscribed } = startRoutes()
    const asked = { ...SERVICE, udpPort: '5555', clientIP: '1.2.3.4', clusters: ' c1,,c2 ' }
    const view = await json('GET /instance/list', asked, { 'user-agent': 'Nacos-Java-Client:v1.4.8' })
    expect(view).toMatchObject({ cacheMillis: 10_000, clusters: ' c1,,c2 ' })
    expect(subscribed).toMatchObject([{ address: '10.8.8.8', port: 5_555, consumerIp: '1.2.3.4' }])
    expect((await json('GET /instance/list', SERVICE))['cacheMillis']).toBe(3_000)
    expect((await json('GET /service/subscribers', SERVICE))['count']).toBe(1)
  })
})

describe('services', () => {
  test('are created, changed, read, listed and deleted', async () => {
    const { svc, json } = startRoutes()
    expect(await svc('POST /service', { ...SERVICE, protectThreshold: '0.5', metadata: 'a=1' })).toBe(
      '200 ok',
    )
    expect(await svc('POST /service', SERVICE)).toMatch(/^400/)
    const selector = '{"type":"label","expression":"CONSUMER.label.a = PROVIDER.label.a"}'
    expect(await svc('PUT /service', { ...SERVICE, selector })).toBe('200 ok')
    expect(await json('GET /service', SERVICE)).toEqual({
      name: 'orders',
      groupName: 'DEFAULT_GROUP',
      namespaceId: 'public',
      protectThreshold: 0.5,
      metadata: { a: '1' },
      selector: { ...(JSON.parse(selector) as object), labels: ['a'], contextType: 'CMDB' },
      clusters: [],
    })
    expect(await json('GET /service/list', { pageNo: '1', pageSize: '10' })).toEqual({
      count: 1,
      doms: ['orders'],
    })
    await svc('POST /instance', ONE)
    expect(await svc('DELETE /service', SERVICE)).toMatch(/^400/)
    await svc('DELETE /instance', ONE)
    expect(await svc('DELETE /service', SERVICE)).toBe('200 ok')
    for (const method of ['GET', 'PUT', 'DELETE'])
      expect(await svc(`${method} /service`, SERVICE)).toMatch(/^404/)
  })

  test.each([
    ['protectThreshold', '1.1'],
    ['protectThreshold', '-0.1'],
    ['protectThreshold', 'x'],
    ['metadata', '{'],
    ['selector', '{"type":"other"}'],
    ['selector', '{"type":"label","expression":"a=b"}'],
  ])('%s is never %s', async (name, value) => {
    const { svc, world } = startRoutes()
    expect(await svc('POST /service', { ...SERVICE, [name]: value })).toMatch(/^400/)
    expect(world.state.services.size).toBe(0)
  })
})

test('batch metadata answers the affected instances', async () => {
  const { svc } = startRoutes()
  await svc('POST /instance', ONE)
  await svc('POST /instance', { ...ONE, port: '81', ephemeral: 'false' })
  const batch = { namespaceId: 'public', serviceName: 'DEFAULT_GROUP@@orders', metadata: '{"a":"1"}' }
  const path = '/instance/metadata/batch'
  expect(await svc(`PUT ${path}`, { ...batch, consistencyType: 'ephemeral', instances: 'ignored' })).toBe(
    '200 {"updated":["10.0.0.1:80:unknown:DEFAULT:ephemeral"]}',
  )
  expect(await svc(`PUT ${path}`, { ...batch, consistencyType: 'persist' })).toBe(
    '200 {"updated":["10.0.0.1:81:unknown:DEFAULT:persist"]}',
  )
  expect(await svc(`PUT ${path}`, { ...batch, consistencyType: 'other' })).toBe('200 {"updated":[]}')
  const instances = '[{"ip":"10.0.0.1","port":80,"ephemeral":true}]'
  expect(await svc(`DELETE ${path}`, { ...batch, instances })).toBe(
    '200 {"updated":["10.0.0.1:80:unknown:DEFAULT:ephemeral"]}',
  )
})

describe('the operators’ views', () => {
  test('accept names of object properties', async () => {
    const { nacos, json } = startRoutes()
    for (const clusterName of ['constructor', '__proto__']) {
      for (const namespaceId of ['', '__proto__']) {
        expect(await nacos('POST /instance', { ...ONE, clusterName, namespaceId })).toBe('200 ok')
      }
    }
    const list = await nacos('GET /catalog/services', { withInstances: 'true' })
    expect(list).toContain('"clusterMap":{"constructor":{"hosts":[{"valid":true')
    expect(list).toContain('"__proto__":{"hosts":[{"valid":true')
    expect(await nacos('GET /api/allDomNames')).toBe(
      '200 {"count":2,"doms":{"__proto__":["orders"],"public":["orders"]}}',
    )
    expect(await json('GET /catalog/service', SERVICE)).toMatchObject({
      clusters: [
        { name: '__proto__', healthChecker: { type: 'TCP' }, defaultCheckPort: 80 },
        { name: 'constructor', healthChecker: { type: 'TCP' }, defaultCheckPort: 80 },
      ],
    })
  })

  test('show disabled instances, and whether the protection triggers', async () => {
    const { svc, json } = startRoutes()
    await svc('POST /service', { ...SERVICE, protectThreshold: '0.5' })
    await svc('POST /instance', { ...ONE, enabled: 'false' })
    await svc('POST /instance', { ...ONE, port: '81', healthy: 'false' })
    expect(await json('GET /catalog/instances', { ...SERVICE, clusterName: 'DEFAULT' })).toMatchObject({
      count: 2,
      list: [{ port: 80, enabled: false }, { port: 81 }],
    })
    expect(await json('GET /catalog/services')).toEqual({
      serviceList: [
        {
          name: 'orders',
          groupName: 'DEFAULT_GROUP',
          clusterCount: 1,
          ipCount: 2,
          healthyInstanceCount: 1,
          triggerFlag: 'true',
        },
      ],
      count: 1,
    })
    expect((await json('GET /service/names', { expr: 'ord' }))['count']).toBe(1)
  })
})
