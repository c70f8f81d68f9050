import { describe, expect, test } from 'vitest'
import { hostsOf, serverForThisFile, unique, type Params } from './client.ts'

const waypost = serverForThisFile()
const instance = '/ns/instance'
const beat = '/ns/instance/beat'

async function registered(extra: Params = {}) {
  const key = { serviceName: unique('svc'), ip: '127.0.0.1', port: 80, ...extra }
  const answer = await waypost.nacos.call('POST', instance, { query: key })
  expect(answer, answer.text).toMatchObject({ status: 200, text: 'ok' })
  return { serviceName: key.serviceName, ip: key.ip, port: key.port }
}

const hosts = (query: Params) => hostsOf(waypost.nacos, query)

describe('registering and listing', () => {
  test('an instance is listed in the envelope that clients read', async () => {
    const { serviceName } = await registered({ metadata: '{"a":"1"}' })
    const answer = await waypost.nacos.get('/ns/instance/list', { serviceName })
    expect(answer.headers['content-type']).toMatch(/^application\/json/)
    expect(answer.json()).toMatchObject({
      name: `DEFAULT_GROUP@@${serviceName}`,
      groupName: 'DEFAULT_GROUP',
      clusters: '',
      cacheMillis: 3_000,
      lastRefTime: expect.any(Number),
      checksum: expect.any(String),
      allIPs: false,
      reachProtectionThreshold: false,
      valid: true,
      hosts: [
        {
          instanceId: `127.0.0.1#80#DEFAULT#DEFAULT_GROUP@@${serviceName}`,
          ip: '127.0.0.1',
          port: 80,
          weight: 1,
          healthy: true,
          enabled: true,
          ephemeral: true,
          clusterName: 'DEFAULT',
          serviceName,
          metadata: { a: '1' },
          instanceHeartBeatInterval: 5_000,
          instanceHeartBeatTimeOut: 15_000,
          ipDeleteTimeout: 30_000,
          instanceIdGenerator: 'simple',
        },
      ],
    })
  })

  test('a registration may have a form body, as one client sends it', async () => {
    const serviceName = unique('svc')
    const form = { serviceName, ip: '127.0.0.1', port: 80, enable: true, healthy: 'True', ephemeral: 'True' }
    expect((await waypost.nacos.post(instance, form)).text).toBe('ok')
    expect(await hosts({ serviceName })).toMatchObject([{ ephemeral: true, healthy: true }])
  })

  test.each(['clusterName', 'cluster'])('the cluster may be given as %s', async (name) => {
    const { serviceName } = await registered({ [name]: 'c1' })
    expect(await hosts({ serviceName, clusters: 'c1' })).toHaveLength(1)
  })

  test.each([
    ['a b', 'illegal characters should not appear in the param.'],
    ['x'.repeat(65), 'the param length should not exceed 64.'],
  ])('the text for the cluster %j is that of 2.5.1', async (clusterName, why) => {
    const text = `Param 'cluster' is illegal, ${why}\r\n`
    const key = await registered()
    const answers = await Promise.all([
      waypost.nacos.post(instance, { ...key, clusterName }),
      waypost.nacos.get(instance, { ...key, clusterName }),
      waypost.nacos.put(beat, { ...key, beat: JSON.stringify({ ...key, cluster: clusterName }) }),
    ])
    for (const answer of answers) expect(answer).toMatchObject({ status: 400, text })
  })

  test.each(['enabled', 'enable'])('an instance is disabled by %s', async (name) => {
    const { serviceName } = await registered({ [name]: false })
    expect(await hosts({ serviceName })).toEqual([])
  })

  test('an unknown service has an empty list, under the requested name', async () => {
    const serviceName = unique('svc')
    const answer = (await waypost.nacos.get('/ns/instance/list', { serviceName, clusters: 'DEFAULT' })).json()
    expect(answer).toMatchObject({ name: `DEFAULT_GROUP@@${serviceName}`, clusters: 'DEFAULT', hosts: [] })
  })

  test('the grouped name that clients send is the service of that group', async () => {
    const { serviceName } = await registered()
    expect(await hosts({ serviceName: `DEFAULT_GROUP@@${serviceName}`, namespaceId: 'public' })).toHaveLength(
      1,
    )
  })

  test('JSON in a query may be unescaped', async () => {
    const serviceName = unique('svc')
    const query = `serviceName=${serviceName}&ip=127.0.0.1&port=80&metadata={"a":"1","b":"x=y"}`
    expect((await waypost.nacos.call('POST', instance, { query })).text).toBe('ok')
    expect(await hosts({ serviceName })).toMatchObject([{ metadata: { a: '1', b: 'x=y' } }])
  })
})

describe('detail, modification and removal', () => {
  test('the detail is found by clusterName and by cluster', async () => {
    const key = await registered({ clusterName: 'c1', weight: 2 })
    for (const name of ['clusterName', 'cluster']) {
      const answer = (await waypost.nacos.get(instance, { ...key, [name]: 'c1' })).json()
      expect(answer).toMatchObject({
        service: `DEFAULT_GROUP@@${key.serviceName}`,
        ip: '127.0.0.1',
        port: 80,
        clusterName: 'c1',
        weight: 2,
        healthy: true,
        metadata: {},
      })
    }
  })

  test('an unknown instance is a 404 in text', async () => {
    const answer = await waypost.nacos.get(instance, { serviceName: unique('svc'), ip: '127.1.1.1', port: 1 })
    expect(answer.status).toBe(404)
    expect(answer.headers['content-type'] ?? '').not.toMatch(/json/)
    expect(answer.text).not.toBe('')
  })

  test.each(['PUT', 'PATCH'])('%s changes what it names and keeps the rest', async (method) => {
    const key = await registered({ weight: 3, metadata: 'a=1' })
    const answer = await waypost.nacos.call(method, instance, { query: { ...key, weight: 5 } })
    expect(answer).toMatchObject({ status: 200, text: 'ok' })
    expect(await hosts(key)).toMatchObject([{ weight: 5, enabled: true, metadata: { a: '1' } }])
    await waypost.nacos.call(method, instance, { form: { ...key, metadata: '{"b":"2"}' } })
    expect(await hosts(key)).toMatchObject([{ weight: 5, metadata: { a: '1', b: '2' } }])
  })

  test('PUT of an unknown instance registers it, and what it does not name takes its default', async () => {
    const key = { serviceName: unique('svc'), ip: '127.1.1.1', port: 1 }
    expect(await waypost.nacos.put(instance, { ...key, weight: 2 })).toMatchObject({
      status: 200,
      text: 'ok',
    })
    const defaults = { enabled: true, healthy: true, ephemeral: true, clusterName: 'DEFAULT', metadata: {} }
    expect(await hosts(key)).toMatchObject([{ ip: '127.1.1.1', port: 1, weight: 2, ...defaults }])
    expect((await waypost.nacos.put(instance, { ...key, port: 2, metadata: 'a=1' })).text).toBe('ok')
    expect(await hosts(key)).toMatchObject([{ weight: 2 }, { weight: 1, metadata: { a: '1' } }])
    const persistent = { ...key, port: 3, ephemeral: false, enabled: false }
    expect((await waypost.nacos.put(instance, persistent)).text).toBe('ok')
    expect((await waypost.nacos.get(instance, { ...persistent, enabled: undefined })).status).toBe(200)
    expect(await hosts(key)).toHaveLength(2)
  })

  const refused: [string, string, Record<string, string>][] = [
    ['PUT', 'the Java client', { 'User-Agent': 'Nacos-Java-Client:v1.4.8' }],
    ['PUT', 'the Java client by Client-Version', { 'Client-Version': 'Nacos-Java-Client:v1.0.0' }],
    ['PATCH', 'any client', {}],
  ]
  test.each(refused)('%s of an unknown instance by %s is a 404', async (method, _client, headers) => {
    const query = { serviceName: unique('svc'), ip: '127.1.1.1', port: 1, weight: 2 }
    expect((await waypost.nacos.call(method, instance, { query, headers })).status).toBe(404)
    expect(await hosts(query)).toEqual([])
  })

  test('PUT of an instance of the other kind is a 404 and changes nothing', async () => {
    const key = await registered({ weight: 3 })
    expect((await waypost.nacos.put(instance, { ...key, ephemeral: false, weight: 5 })).status).toBe(404)
    expect(await hosts(key)).toMatchObject([{ weight: 3, ephemeral: true }])
  })

  test('PUT of an unknown instance on /svc is a 404', async () => {
    const query = { serviceName: unique('svc'), ip: '127.1.1.1', port: 1, weight: 2 }
    expect((await waypost.svc.put(instance, query)).status).toBe(404)
    expect(await hosts(query)).toEqual([])
  })

  test('a removal answers ok, for known and unknown instances, by query or by form', async () => {
    const key = await registered()
    expect((await waypost.nacos.delete(instance, key)).text).toBe('ok')
    expect(await hosts(key)).toEqual([])
    expect((await waypost.nacos.call('DELETE', instance, { form: key })).text).toBe('ok')
  })
})

describe('beats', () => {
  test('a beat of a known instance is answered in JSON', async () => {
    const key = await registered()
    const answer = await waypost.nacos.put(beat, { ...key, beat: JSON.stringify(key) })
    expect(answer.json()).toEqual({ clientBeatInterval: 5_000, code: 10_200, lightBeatEnabled: true })
  })

  test('the answer to a beat has the interval of the instance, if it has one', async () => {
    const key = await registered({ metadata: '{"preserved.heart.beat.interval":"2000"}' })
    const answer = await waypost.nacos.put(beat, { ...key, beat: JSON.stringify(key) })
    expect(answer.json().clientBeatInterval).toBe(2_000)
  })

  test('a light beat of a known instance is 10200, of an unknown one 20404', async () => {
    const key = await registered({ clusterName: 'c1' })
    const light = await waypost.nacos.put(beat, { ...key, clusterName: 'c1' })
    expect(light.json().code).toBe(10_200)
    const serviceName = unique('svc')
    const unknown = await waypost.nacos.put(beat, { ...key, serviceName })
    expect(unknown.status).toBe(200)
    expect(unknown.json()).toMatchObject({ code: 20_404, clientBeatInterval: 5_000 })
    expect(await hosts({ serviceName })).toEqual([])
  })

  test('a full beat of an unknown instance registers it', async () => {
    const serviceName = unique('svc')
    const content = { ip: '127.0.0.5', port: 5, cluster: 'c2', weight: 2, metadata: { a: '1' }, serviceName }
    const form = { serviceName: `DEFAULT_GROUP@@${serviceName}`, beat: JSON.stringify(content) }
    expect((await waypost.nacos.call('PUT', beat, { form })).json().code).toBe(10_200)
    expect(await hosts({ serviceName })).toMatchObject([
      { ip: '127.0.0.5', port: 5, clusterName: 'c2', weight: 2, metadata: { a: '1' } },
    ])
  })

  test('a beat without a cluster creates no second instance', async () => {
    const key = await registered({ clusterName: 'c1', weight: 3 })
    const content = JSON.stringify({ ip: key.ip, port: key.port, weight: 1, metadata: {} })
    expect((await waypost.nacos.put(beat, { serviceName: key.serviceName, beat: content })).json().code).toBe(
      10_200,
    )
    expect(await hosts(key)).toMatchObject([{ clusterName: 'c1', weight: 3 }])
  })

  test.each(['{', '{}', '[]'])('the beat %s is a 400', async (content) => {
    const answer = await waypost.nacos.put(beat, { serviceName: unique('svc'), beat: content })
    expect(answer.status).toBe(400)
  })
})

describe('bad input is a 400 in text that names the parameter', () => {
  const wrong: [string | RegExp, Params][] = [
    ['ip', { ip: undefined }],
    ['port', { port: undefined }],
    ['port', { port: 'x' }],
    ['port', { port: 65_536 }],
    ['serviceName', { serviceName: undefined }],
    [/weight/i, { weight: 10_001 }],
    ['metadata', { metadata: 'x' }],
    [/cluster/i, { clusterName: 'a b' }],
  ]
  test.each(wrong)('%s: %j', async (name, extra) => {
    const serviceName = unique('svc')
    const form = { serviceName, ip: '127.0.0.1', port: 80, ...extra }
    const answer = await waypost.nacos.post(instance, form)
    expect(answer.status, answer.text).toBe(400)
    expect(answer.headers['content-type'] ?? '').not.toMatch(/problem/)
    expect(answer.text).toMatch(name)
    expect(await hosts({ serviceName })).toEqual([])
  })
})

test('batch metadata on /nacos needs no namespaceId', async () => {
  const { serviceName } = await registered()
  const form = { serviceName, consistencyType: 'ephemeral', metadata: '{"k":"v"}' }
  const answer = await waypost.nacos.call('PUT', '/ns/instance/metadata/batch', { form })
  expect(answer.json()).toEqual({ updated: ['127.0.0.1:80:unknown:DEFAULT:ephemeral'] })
})

test.each(['/ns/health/instance', '/ns/health'])('%s takes healthy or valid', async (path) => {
  const key = await registered({ ephemeral: false })
  const cluster = { serviceName: key.serviceName, clusterName: 'DEFAULT', checkPort: 80 }
  const refused = await waypost.nacos.put(path, { ...key, valid: false })
  expect(refused.status).toBe(400)
  expect(refused.text).toContain('health check is still working')
  const checker = { useInstancePort4Check: true, healthChecker: '{"type":"NONE"}' }
  expect((await waypost.nacos.put('/ns/cluster', { ...cluster, ...checker })).text).toBe('ok')
  expect((await waypost.nacos.put(path, { ...key, valid: false })).text).toBe('ok')
  expect(await hosts(key)).toMatchObject([{ healthy: false }])
  expect((await waypost.nacos.put(path, { ...key, healthy: true })).text).toBe('ok')
  expect(await hosts(key)).toMatchObject([{ healthy: true }])
})
