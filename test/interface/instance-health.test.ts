import { describe, expect, inject, test } from 'vitest'
import {
  hostsOf,
  serverForThisFile,
  sleep,
  unique,
  until,
  type Json,
  type Params,
  type Reply,
} from './client.ts'
import { expectProblem, refusals } from './problem.ts'

const waypost = serverForThisFile()
const instance = '/ns/instance'
const beat = '/ns/instance/beat'

/** Preserved metadata for these times, in milliseconds, and whatever else is given. */
function timing(timeoutMs: number, deleteMs: number, extra: Record<string, string> = {}): string {
  return JSON.stringify({
    'preserved.heart.beat.timeout': String(timeoutMs),
    'preserved.ip.delete.timeout': String(deleteMs),
    ...extra,
  })
}

async function registered(extra: Params = {}) {
  const key = { serviceName: unique('svc'), ip: '127.0.0.1', port: 80, ...extra }
  expect((await waypost.svc.post(instance, key)).text).toBe('ok')
  return { serviceName: key.serviceName, ip: key.ip, port: key.port }
}

const hosts = (query: Params): Promise<Json[]> => hostsOf(waypost.svc, query)

/** The hosts after a beat, which are healthy at once. On etcd the beat is answered before that is written. */
const healthyHosts = (query: Params): Promise<Json[]> =>
  until(
    () => hosts(query),
    (found) => found.every(({ healthy }) => healthy === true),
    inject('etcdEndpoints') === undefined ? 0 : 400,
  )

describe('an ephemeral instance without beats', () => {
  // It is looked at all the time, so it was healthy until then. By default it would take 15 s and 30 s.
  test.concurrent('is unhealthy after its timeout, and removed after its delete timeout', async () => {
    const startedAt = performance.now()
    const key = await registered({ metadata: timing(3_000, 12_000) })
    expect(await hosts(key)).toMatchObject([{ healthy: true }])
    await until(
      () => hosts(key),
      ([host]) => host?.healthy === false,
    )
    const unhealthyMs = performance.now() - startedAt
    expect(unhealthyMs).toBeGreaterThan(3_000)
    expect(unhealthyMs).toBeLessThan(15_000)
    await until(
      () => hosts(key),
      (found) => found.length === 0,
    )
    const goneMs = performance.now() - startedAt
    expect(goneMs).toBeGreaterThan(12_000)
    expect(goneMs).toBeLessThan(30_000)
  })
})

describe('a beat', () => {
  const renewals: [string, (key: Params) => Promise<Reply>][] = [
    [
      'a beat',
      (key) => waypost.svc.put(beat, { ...key, beat: JSON.stringify({ ...key, metadata: undefined }) }),
    ],
    ['a registration that changes nothing', (key) => waypost.svc.post(instance, key)],
  ]
  test.concurrent.each(renewals)('%s answers ok and keeps the instance healthy', async (_, renewed) => {
    const metadata = timing(2_000, 20_000)
    const key = await registered({ metadata })
    for (let n = 0; n < 8; n++) {
      await sleep(400)
      expect(await renewed({ ...key, metadata })).toMatchObject({ status: 200, text: 'ok' })
      expect(await hosts(key)).toMatchObject([{ healthy: true }])
    }
  })

  test.concurrent('does not change weight and metadata of a known instance', async () => {
    const key = await registered({ weight: 3, metadata: '{"a":"1"}' })
    const content = JSON.stringify({ ...key, cluster: 'DEFAULT', weight: 9, metadata: { a: '2', b: '3' } })
    expect((await waypost.svc.put(beat, { ...key, beat: content })).text).toBe('ok')
    expect(await hosts(key)).toMatchObject([{ weight: 3, metadata: { a: '1' } }])
  })

  test.concurrent('without content renews a known instance', async () => {
    const key = await registered({ metadata: timing(3_000, 60_000) })
    await until(
      () => hosts(key),
      ([host]) => host?.healthy === false,
    )
    expect((await waypost.svc.put(beat, key)).text).toBe('ok')
    expect(await healthyHosts(key)).toHaveLength(1)
  })

  test('with content registers an unknown instance', async () => {
    const serviceName = unique('beaten')
    const content = JSON.stringify({
      cluster: 'c1',
      ip: '127.0.0.7',
      metadata: { zone: 'a' },
      port: 7,
      scheduled: true,
      serviceName: `DEFAULT_GROUP@@${serviceName}`,
      weight: 2,
    })
    const answer = await waypost.svc.put(beat, { serviceName, ip: '127.0.0.7', port: 7, beat: content })
    expect(answer).toMatchObject({ status: 200, text: 'ok' })
    expect(await hosts({ serviceName })).toMatchObject([
      { ip: '127.0.0.7', port: 7, clusterName: 'c1', weight: 2, metadata: { zone: 'a' }, ephemeral: true },
    ])
  })

  test('without content of an unknown instance is a 404 and registers nothing', async () => {
    const serviceName = unique('beaten')
    expectProblem(await waypost.svc.put(beat, { serviceName, ip: '127.0.0.7', port: 7 }), 404)
    expect(await hosts({ serviceName })).toEqual([])
  })

  test('may have its content in a form body', async () => {
    const key = await registered()
    const form = { ...key, beat: JSON.stringify(key) }
    expect((await waypost.svc.call('PUT', beat, { form })).text).toBe('ok')
  })

  test.each(['{', '{"weight":-1}'])('with the content %s is a 400', async (content) => {
    const key = { serviceName: unique('svc'), ip: '127.0.0.1', port: 80 }
    expectProblem(await waypost.svc.put(beat, { ...key, beat: content }), 400, 'beat')
    expect(await hosts(key)).toEqual([])
  })
})

describe('a beat on /nacos', () => {
  const codeOf = async (query: Params) => (await waypost.nacos.put(beat, query)).json().code

  test('of a known instance is answered in JSON', async () => {
    const key = await registered()
    const answer = await waypost.nacos.put(beat, { ...key, beat: JSON.stringify(key) })
    expect(answer.json()).toEqual({ clientBeatInterval: 5_000, code: 10_200, lightBeatEnabled: true })
  })

  test('is answered with the interval of the instance, if it has one', async () => {
    const key = await registered({ metadata: '{"preserved.heart.beat.interval":"2000"}' })
    const answer = await waypost.nacos.put(beat, { ...key, beat: JSON.stringify(key) })
    expect(answer.json().clientBeatInterval).toBe(2_000)
  })

  test('without content is 10200 for a known instance, and 20404 for an unknown one', async () => {
    const key = await registered({ clusterName: 'c1' })
    expect(await codeOf({ ...key, clusterName: 'c1' })).toBe(10_200)
    expect(await codeOf(key)).toBe(10_200)
    expect(await codeOf({ ...key, clusterName: 'c2' })).toBe(20_404)
    const unknown = { ...key, serviceName: unique('svc') }
    const answer = await waypost.nacos.put(beat, unknown)
    expect(answer.json()).toEqual({ clientBeatInterval: 5_000, code: 20_404, lightBeatEnabled: true })
    expect(await hosts({ serviceName: unknown.serviceName })).toEqual([])
  })

  test('with content registers an unknown instance', async () => {
    const serviceName = unique('svc')
    const content = { ip: '127.0.0.5', port: 5, cluster: 'c2', weight: 2, metadata: { a: '1' }, serviceName }
    const form = { serviceName: `DEFAULT_GROUP@@${serviceName}`, beat: JSON.stringify(content) }
    expect((await waypost.nacos.call('PUT', beat, { form })).json().code).toBe(10_200)
    expect(await hosts({ serviceName })).toMatchObject([
      { ip: '127.0.0.5', port: 5, clusterName: 'c2', weight: 2, metadata: { a: '1' } },
    ])
  })

  test('without a cluster creates no second instance', async () => {
    const key = await registered({ clusterName: 'c1', weight: 3 })
    const content = JSON.stringify({ ip: key.ip, port: key.port, weight: 1, metadata: {} })
    expect(await codeOf({ serviceName: key.serviceName, beat: content })).toBe(10_200)
    expect(await hosts(key)).toMatchObject([{ clusterName: 'c1', weight: 3 }])
  })

  test.each(['{', '{}', '[]'])('with the content %s is a 400', async (content) => {
    const query = { serviceName: unique('svc'), beat: content }
    refusals('nacos')(await waypost.nacos.put(beat, query), 400)
  })
})

describe.each([
  ['svc', '/ns/health/instance'],
  ['nacos', '/ns/health/instance'],
  ['nacos', '/ns/health'],
] as const)('/%s: the update of health at %s', (dialect, health) => {
  const expectRefused = refusals(dialect)
  test('works if the checker of the cluster is NONE', async () => {
    const key = await registered({ ephemeral: false })
    const checker = { checkPort: 80, useInstancePort4Check: true, healthChecker: '{"type":"NONE"}' }
    const cluster = { serviceName: key.serviceName, clusterName: 'DEFAULT', ...checker }
    expect((await waypost[dialect].put('/ns/cluster', cluster)).text).toBe('ok')
    const rows = [
      { healthy: false },
      { healthy: true },
      dialect === 'svc' ? { healthy: false } : { valid: false },
    ]
    for (const row of rows) {
      expect((await waypost[dialect].put(health, { ...key, ...row })).text).toBe('ok')
      expect(await hosts(key)).toMatchObject([{ healthy: Object.values(row)[0] }])
    }
    expectRefused(await waypost[dialect].put(health, { ...key, port: 81, healthy: true }), 404)
  })

  test.each([true, false])('is refused with the reason if ephemeral=%s is checked', async (ephemeral) => {
    const key = await registered({ ephemeral })
    const answer = await waypost[dialect].put(health, { ...key, healthy: false })
    expectRefused(answer, 400, 'health check is still working')
    expect(await hosts(key)).toMatchObject([{ healthy: true }])
  })
})

test.each([undefined, '', 'maybe'])('the health %j is a 400 on /svc', async (healthy) => {
  const key = await registered()
  expectProblem(await waypost.svc.put('/ns/health/instance', { ...key, healthy }), 400, 'healthy')
})
