/** The effect of permissions on reads and changes of services, some of which the caller may not read. */
import { beforeEach, describe, expect, test } from 'vitest'
import { at, EngineWorld } from '../../src/core/core.test-support.ts'
import { Refusal } from '../../src/core/refusal.ts'
import type { ClientViews } from '../../src/operations/client-views.ts'
import { Guard } from '../../src/operations/guard.ts'
import type { Authorisation } from '../../src/operations/authorisation.ts'
import type { ListWriter } from '../../src/operations/naming/instance-lists.ts'
import { allOperations, type OperationParts } from '../../src/operations/operations.ts'
import { InstanceListAnswers } from '../../src/protocols/answers/instance-list.ts'
import { nacosNamingRoutes } from '../../src/protocols/http/nacos/naming-routes.ts'
import { Router } from '../../src/protocols/http/routing/router.ts'
import { CALLER } from './route-table.ts'

type Params = Readonly<Record<string, string>>

/** Services called `mine…` may be read and written, while it is on. */
const mine: { isOn: boolean } & Authorisation = {
  isOn: false,
  allows: (_caller, _action, resource) =>
    resource.kind === 'some-services' ||
    (resource.kind === 'service' && resource.key.groupedName.startsWith('DEFAULT_GROUP@@mine')),
}

let world: EngineWorld
let router: Router
beforeEach(async () => {
  mine.isOn = false
  world = new EngineWorld()
  const parts = {
    guard: new Guard(mine),
    state: world.state,
    liveness: world.liveness,
    engine: world.engine,
    clock: () => at(world.nowMs),
    lists: new InstanceListAnswers(world.state, { now: () => 0, soon: setImmediate }) as ListWriter,
    pushes: { list: () => [], subscribe: () => true },
    readers: { note: () => {} },
    views: { subscribers: () => ({ value: [], missing: [] }) } as unknown as ClientViews,
    maxInstanceMetadataBytes: 8_192,
  } as Partial<OperationParts> as OperationParts
  router = new Router(nacosNamingRoutes({ ...allOperations(parts), maxInstanceMetadataBytes: 8_192 }), 1_000)
  for (const serviceName of ['mine', 'mine2', 'other'])
    await ask('POST /instance', { serviceName, ip: '10.0.0.1', port: '80' })
  mine.isOn = true
})

async function ask(request: string, params: Params = {}, target?: string) {
  const [method = '', path = ''] = request.split(' ')
  const { route, readParameters } = foundBy(method, `/nacos/v1/ns${path}`)
  try {
    const again = target === undefined ? undefined : route.again?.(target, CALLER)
    if (again !== undefined) return { status: again.status, body: String(again.body) }
    const hold = () => ({ answer() {}, refuse() {}, onGone() {} })
    const read = readParameters(new Map(Object.entries(params)))
    const handled = route.handle({ params: read, caller: CALLER, target, hold })
    await world.quiet()
    const answer = await handled
    return { status: answer!.status, body: String(answer!.body) }
  } catch (error) {
    const { status, body } = route.errors(error, { method, path, requestId: 'r' })
    return { status, body: String(body) }
  }
}

function foundBy(method: string, path: string) {
  const found = router.find(method, path)
  if (found instanceof Refusal) throw found
  return found
}

describe('a list', () => {
  test.each([
    ['GET /service/list', { pageNo: '1', pageSize: '10' }, { count: 2, doms: ['mine', 'mine2'] }],
    ['GET /service/list', { pageNo: '2', pageSize: '1' }, { count: 2, doms: ['mine2'] }],
    ['GET /service/names', {}, { count: 1, services: { public: ['mine', 'mine2'] } }],
    ['GET /api/allDomNames', {}, { count: 2, doms: { public: ['mine', 'mine2'] } }],
    ['GET /catalog/services', {}, { count: 2, serviceList: [{ name: 'mine' }, { name: 'mine2' }] }],
  ])('%s with %j holds only services that may be read', async (request, params, expected) => {
    expect(JSON.parse((await ask(request, params)).body)).toMatchObject(expected)
  })
})

describe('one service', () => {
  test.each([
    'GET /instance/list',
    'GET /service',
    'GET /catalog/service',
    'GET /catalog/instances',
    'GET /service/subscribers',
  ])('is read with %s only by callers who may read it', async (request) => {
    expect((await ask(request, { serviceName: 'mine' })).status).toBe(200)
    for (const serviceName of ['other', 'unknown', 'DEFAULT_GROUP@@other'])
      expect(await ask(request, { serviceName })).toMatchObject({
        status: 403,
        body: expect.stringContaining('"message":"authorization failed!"'),
      })
  })
})

describe('a beat', () => {
  const beatOf = (serviceName: string, ip = '10.0.0.1') => ({
    serviceName,
    beat: JSON.stringify({ ip, port: 80, cluster: 'DEFAULT' }),
  })

  test('of a service that may not be written renews and registers nothing', async () => {
    expect((await ask('PUT /instance/beat', beatOf('mine'))).status).toBe(200)
    expect((await ask('PUT /instance/beat', beatOf('other'))).status).toBe(403)
    expect((await ask('PUT /instance/beat', beatOf('other', '10.0.0.2'))).status).toBe(403)
    expect((await ask('GET /service/list', { pageNo: '1', pageSize: '9' })).body).toContain('"count":2')
    expect(world.state.instancesInAll).toBe(3)
  })

  test('that is recognised by its bytes is refused as soon as its service may not be written', async () => {
    mine.isOn = false
    expect((await ask('PUT /instance/beat', beatOf('other'), '/beat?1')).status).toBe(200)
    expect((await ask('PUT /instance/beat', {}, '/beat?1')).body).toContain('10200')
    mine.isOn = true
    expect((await ask('PUT /instance/beat', {}, '/beat?1')).status).toBe(403)
  })
})
