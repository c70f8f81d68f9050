import { describe, expect, test } from 'vitest'
import { DIALECTS, hostsOf, serverForThisFile, unique, type Json, type Params } from './client.ts'
import { refusals } from './problem.ts'

const waypost = serverForThisFile()
const instance = '/ns/instance'

describe.each(DIALECTS)('/%s:', (dialect) => {
  const expectRefused = refusals(dialect)
  /** Registers one instance, by default 127.0.0.1:80 of a new service, and gives what identifies it. */
  async function registered(extra: Params = {}) {
    const key = { serviceName: unique('svc'), ip: '127.0.0.1', port: 80, ...extra }
    const answer = await waypost[dialect].post(instance, key)
    expect(answer, answer.text).toMatchObject({ status: 200, text: 'ok' })
    return { serviceName: String(key.serviceName), ip: String(key.ip), port: Number(key.port) }
  }

  const hosts = (query: Params): Promise<Json[]> => hostsOf(waypost[dialect], query)

  describe('the detail of an instance', () => {
    test('has all fields', async () => {
      const key = await registered({ weight: 2, metadata: 'a=1' })
      const answer = (await waypost[dialect].get(instance, key)).json()
      expect(answer).toEqual({
        metadata: { a: '1' },
        instanceId: `127.0.0.1#80#DEFAULT#DEFAULT_GROUP@@${key.serviceName}`,
        port: 80,
        service: `DEFAULT_GROUP@@${key.serviceName}`,
        healthy: true,
        ip: '127.0.0.1',
        clusterName: 'DEFAULT',
        weight: 2,
      })
    })

    test.each(['cluster', 'clusterName'])('the cluster may be named by %s', async (name) => {
      const key = await registered({ clusterName: 'c9' })
      expect((await waypost[dialect].get(instance, { ...key, [name]: 'c9' })).json().clusterName).toBe('c9')
      expectRefused(await waypost[dialect].get(instance, { ...key, [name]: 'c8' }), 404)
    })

    test.each([{ port: 81 }, { serviceName: unique('unknown') }, { cluster: 'c8' }, { ephemeral: false }])(
      'an instance that is not there is a 404: %j',
      async (other) => {
        const key = await registered()
        expectRefused(await waypost[dialect].get(instance, { ...key, ...other }), 404)
      },
    )
  })

  describe('modifying', () => {
    test('a change of one value keeps the rest', async () => {
      const key = await registered({ weight: 3, metadata: '{"a":"1","b":"2"}' })
      expect(await waypost[dialect].put(instance, { ...key, weight: 7 })).toMatchObject({
        status: 200,
        text: 'ok',
      })
      expect(await hosts(key)).toMatchObject([{ weight: 7, enabled: true, metadata: { a: '1', b: '2' } }])
    })

    test('metadata is merged by key', async () => {
      const key = await registered({ weight: 3, metadata: '{"a":"1","b":"2"}' })
      await waypost[dialect].put(instance, { ...key, metadata: '{"b":"3","c":"4"}' })
      expect(await hosts(key)).toMatchObject([{ weight: 3, metadata: { a: '1', b: '3', c: '4' } }])
    })

    test('disabling takes an instance off the list, and enabling brings it back', async () => {
      const key = await registered({ weight: 5 })
      await waypost[dialect].put(instance, { ...key, enabled: false })
      expect(await hosts(key)).toEqual([])
      await waypost[dialect].put(instance, { ...key, enabled: true })
      expect(await hosts(key)).toMatchObject([{ weight: 5, enabled: true }])
    })

    test.each([true, false])(
      'ephemeral=%s need not be given, and the other kind is a 404',
      async (ephemeral) => {
        const key = await registered({ ephemeral })
        expect((await waypost[dialect].put(instance, { ...key, weight: 4 })).text).toBe('ok')
        expect(await hosts(key)).toMatchObject([{ weight: 4, ephemeral }])
        const other = { ...key, weight: 9, ephemeral: !ephemeral }
        expectRefused(await waypost[dialect].put(instance, other), 404)
        expect(await hosts(key)).toMatchObject([{ weight: 4, ephemeral }])
      },
    )

    // By PUT /nacos registers it for clients that are not the Java client.
    const headers = { 'User-Agent': 'Nacos-Java-Client:v1.4.8' }
    test('an unknown instance is a 404 and is not created', async () => {
      const key = await registered()
      expectRefused(await waypost[dialect].put(instance, { ...key, port: 81, weight: 2 }, headers), 404)
      const serviceName = unique('unknown')
      expectRefused(await waypost[dialect].put(instance, { ...key, serviceName, weight: 2 }, headers), 404)
      expect(await hosts({ serviceName })).toEqual([])
      expect(await hosts(key)).toHaveLength(1)
    })
  })

  describe('deregistering', () => {
    test('it answers ok, for known and unknown instances, and the instance is gone', async () => {
      const key = await registered()
      expect(await waypost[dialect].delete(instance, key)).toMatchObject({ status: 200, text: 'ok' })
      expect(await hosts(key)).toEqual([])
      expect(await waypost[dialect].delete(instance, key)).toMatchObject({ status: 200, text: 'ok' })
      expect((await waypost[dialect].call('DELETE', instance, { form: key })).text).toBe('ok')
      const unknown = { ...key, serviceName: unique('unknown') }
      expect(await waypost[dialect].delete(instance, unknown)).toMatchObject({ status: 200, text: 'ok' })
    })

    test('only the named cluster is affected', async () => {
      const key = await registered({ clusterName: 'c1' })
      await registered({ ...key, clusterName: 'DEFAULT' })
      await waypost[dialect].delete(instance, { ...key, clusterName: 'c1' })
      expect(await hosts(key)).toMatchObject([{ clusterName: 'DEFAULT' }])
      await registered({ ...key, clusterName: 'c1' })
      await waypost[dialect].delete(instance, { ...key, clusterName: 'DEFAULT' })
      expect(await hosts(key)).toMatchObject([{ clusterName: 'c1' }])
    })

    test('without ephemeral it matches a persistent instance', async () => {
      const key = await registered({ ephemeral: false })
      await waypost[dialect].delete(instance, key)
      expect(await hosts(key)).toEqual([])
    })

    test('with the other kind it removes nothing', async () => {
      const key = await registered({ ephemeral: false })
      expect((await waypost[dialect].delete(instance, { ...key, ephemeral: true })).text).toBe('ok')
      expect(await hosts(key)).toHaveLength(1)
    })
  })
})

describe('on /nacos', () => {
  const of = (serviceName: string) => hostsOf(waypost.nacos, { serviceName })
  const unknown = () => ({ serviceName: unique('svc'), ip: '127.1.1.1', port: 1 })

  test('PATCH changes what it names and keeps the rest', async () => {
    const key = unknown()
    await waypost.nacos.post(instance, { ...key, weight: 3, metadata: 'a=1' })
    const query = { ...key, weight: 5 }
    expect(await waypost.nacos.call('PATCH', instance, { query })).toMatchObject({ status: 200, text: 'ok' })
    await waypost.nacos.call('PATCH', instance, { form: { ...key, metadata: '{"b":"2"}' } })
    expect(await of(key.serviceName)).toMatchObject([
      { weight: 5, enabled: true, metadata: { a: '1', b: '2' } },
    ])
  })

  test.each([
    ['PUT', 'the Java client by Client-Version', { 'Client-Version': 'Nacos-Java-Client:v1.0.0' }],
    ['PATCH', 'any client', {}],
  ])('%s of an unknown instance by %s is a 404', async (method, _client, headers) => {
    const query = { ...unknown(), weight: 2 }
    const answer = await waypost.nacos.call(method, instance, { query, headers })
    refusals('nacos')(answer, 404)
    expect(await of(query.serviceName)).toEqual([])
  })

  test('PUT of an unknown instance registers it, and what it does not name takes its default', async () => {
    const key = unknown()
    const put = async (extra: Params) => (await waypost.nacos.put(instance, { ...key, ...extra })).text
    expect(await put({ weight: 2 })).toBe('ok')
    const defaults = { enabled: true, healthy: true, ephemeral: true, clusterName: 'DEFAULT', metadata: {} }
    expect(await of(key.serviceName)).toMatchObject([{ ip: '127.1.1.1', port: 1, weight: 2, ...defaults }])
    expect(await put({ port: 2, metadata: 'a=1' })).toBe('ok')
    expect(await of(key.serviceName)).toMatchObject([{ weight: 2 }, { weight: 1, metadata: { a: '1' } }])
    const persistent = { ...key, port: 3, ephemeral: false }
    expect(await put({ ...persistent, enabled: false })).toBe('ok')
    expect((await waypost.nacos.get(instance, persistent)).status).toBe(200)
    expect(await of(key.serviceName)).toHaveLength(2)
  })
})
