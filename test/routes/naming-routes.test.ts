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
})
