import { describe, expect, test } from 'vitest'
import { DIALECTS, hostsOf, serverForThisFile, unique, type Json, type Params } from './client.ts'

const waypost = serverForThisFile()
/** The further fields of a list of /nacos, for clients of 1.4. */
const MORE = {
  svc: { list: {}, host: {} },
  nacos: {
    list: { dom: expect.any(String), env: '', useSpecifiedURL: false, metadata: {} },
    host: { valid: true, marked: false },
  },
}

describe.each(DIALECTS)('/%s:', (dialect) => {
  const instance = '/ns/instance'
  const list = '/ns/instance/list'

  /** Registers one instance, by default 127.0.0.1:80 of a new service, and gives what identifies it. */
  async function registered(extra: Params = {}) {
    const key = { serviceName: unique('svc'), ip: '127.0.0.1', port: 80, ...extra }
    const answer = await waypost[dialect].post(instance, key)
    expect(answer, answer.text).toMatchObject({ status: 200, text: 'ok' })
    return { serviceName: String(key.serviceName), ip: String(key.ip), port: Number(key.port) }
  }

  /** The name of a service in a host. Under /nacos only Java clients get the group with it. */
  const nameInHost = (name: string, group = 'DEFAULT_GROUP') =>
    dialect === 'svc' ? `${group}@@${name}` : name
  const hosts = (query: Params): Promise<Json[]> => hostsOf(waypost[dialect], query)

  describe('registering', () => {
    test('a registration answers ok as plain text', async () => {
      const key = { serviceName: unique('svc'), ip: '127.0.0.1', port: 80 }
      const answer = await waypost[dialect].post(instance, key)
      expect(answer).toMatchObject({ status: 200, text: 'ok' })
      expect(answer.headers['content-type']).toMatch(/^text\/plain/)
    })

    test('a host has all fields, with the defaults', async () => {
      const { serviceName } = await registered()
      expect(await hosts({ serviceName })).toEqual([
        {
          instanceId: `127.0.0.1#80#DEFAULT#DEFAULT_GROUP@@${serviceName}`,
          ip: '127.0.0.1',
          port: 80,
          weight: 1,
          healthy: true,
          enabled: true,
          ephemeral: true,
          clusterName: 'DEFAULT',
          serviceName: nameInHost(serviceName),
          metadata: {},
          instanceHeartBeatInterval: 5_000,
          instanceHeartBeatTimeOut: 15_000,
          ipDeleteTimeout: 30_000,
          instanceIdGenerator: 'simple',
          ...MORE[dialect].host,
        },
      ])
    })

    test('every given value is stored', async () => {
      const serviceName = unique('svc')
      await registered({
        serviceName,
        ip: '127.1.2.3',
        port: 65_535,
        weight: 2.5,
        healthy: false,
        metadata:
          '{"zone":"a","preserved.heart.beat.interval":"1000","preserved.heart.beat.timeout":"60000","preserved.ip.delete.timeout":"90000"}',
        clusterName: 'c1',
        groupName: 'G1',
        ephemeral: true,
      })
      const [host] = await hosts({ serviceName, groupName: 'G1' })
      expect(host).toMatchObject({
        instanceId: `127.1.2.3#65535#c1#G1@@${serviceName}`,
        weight: 2.5,
        healthy: false,
        clusterName: 'c1',
        serviceName: nameInHost(serviceName, 'G1'),
        metadata: expect.objectContaining({ zone: 'a' }),
        instanceHeartBeatInterval: 1_000,
        instanceHeartBeatTimeOut: 60_000,
        ipDeleteTimeout: 90_000,
      })
    })

    test.each([
      ['{"a":"1","n":2,"t":true}', { a: '1', n: '2', t: 'true' }],
      ['a=1,b=two', { a: '1', b: 'two' }],
      ['', {}],
      ['{"grüße":"日本語 +%&="}', { grüße: '日本語 +%&=' }],
    ])('the metadata %s is accepted', async (metadata, expected) => {
      const { serviceName } = await registered({ metadata })
      expect((await hosts({ serviceName }))[0].metadata).toEqual(expected)
    })

    test('a second registration replaces the first', async () => {
      const serviceName = unique('svc')
      await registered({ serviceName, weight: 3, metadata: 'a=1' })
      await registered({ serviceName, metadata: 'b=2' })
      expect(await hosts({ serviceName })).toMatchObject([{ weight: 1, metadata: { b: '2' } }])
    })

    test('one address in two clusters is two instances', async () => {
      const serviceName = unique('svc')
      await registered({ serviceName, clusterName: 'c1' })
      await registered({ serviceName, clusterName: 'c2' })
      const clusters = (await hosts({ serviceName })).map((host) => host.clusterName)
      expect(clusters.sort()).toEqual(['c1', 'c2'])
    })

    test('a service holds ephemeral and persistent instances at once', async () => {
      const serviceName = unique('svc')
      await registered({ serviceName, port: 1, ephemeral: true })
      await registered({ serviceName, port: 2, ephemeral: false })
      const kinds = (await hosts({ serviceName })).map((host) => [host.port, host.ephemeral])
      expect(kinds.sort()).toEqual([
        [1, true],
        [2, false],
      ])
    })

    test('a registration as the other kind replaces the instance', async () => {
      const serviceName = unique('svc')
      for (const ephemeral of [true, false, true]) {
        await registered({ serviceName, ephemeral })
        expect(await hosts({ serviceName })).toMatchObject([{ ephemeral }])
      }
    })

    test('a service name may carry its group, which then goes before groupName', async () => {
      const serviceName = unique('svc')
      await registered({ serviceName: `G7@@${serviceName}`, groupName: 'ignored' })
      expect(await hosts({ serviceName: `G7@@${serviceName}`, namespaceId: 'public' })).toHaveLength(1)
      expect(await hosts({ serviceName, groupName: 'G7' })).toHaveLength(1)
      expect(await hosts({ serviceName, groupName: 'ignored' })).toHaveLength(0)
    })

    test('parameters in the query string, the form and both are equal, and encoding is ignored', async () => {
      const serviceName = unique('svc')
      const first = { query: { serviceName, ip: '127.0.0.1', port: 1, encoding: 'GBK' } }
      const second = { query: { serviceName }, form: { ip: '127.0.0.1', port: 2, serviceName: 'other' } }
      for (const call of [first, second])
        expect((await waypost[dialect].call('POST', instance, call)).text).toBe('ok')
      expect(await hosts({ serviceName })).toHaveLength(2)
    })

    test('the limits of port and weight are allowed values', async () => {
      const serviceName = unique('svc')
      await registered({ serviceName, port: 0, weight: 0 })
      await registered({ serviceName, port: 65_535, weight: 10_000 })
      const found = (await hosts({ serviceName })).map((host) => [host.port, host.weight])
      expect(found.sort((a, b) => a[0] - b[0])).toEqual([
        [0, 0],
        [65_535, 10_000],
      ])
    })

    test.each(['clusterName', 'cluster'])('the cluster may be given as %s', async (name) => {
      const { serviceName } = await registered({ [name]: 'c1' })
      await registered({ serviceName, clusterName: 'c1', cluster: 'ignored' })
      expect(await hosts({ serviceName })).toMatchObject([{ clusterName: 'c1' }])
      expect(await hosts({ serviceName, clusters: 'c1' })).toHaveLength(1)
    })

    test('JSON in a query may be unescaped', async () => {
      const serviceName = unique('svc')
      const query = `serviceName=${serviceName}&ip=127.0.0.1&port=80&metadata={"a":"1","b":"x=y"}`
      expect((await waypost[dialect].call('POST', instance, { query })).text).toBe('ok')
      expect(await hosts({ serviceName })).toMatchObject([{ metadata: { a: '1', b: 'x=y' } }])
    })

    test('two hundred concurrent registrations are all there', async () => {
      const serviceName = unique('svc')
      // Clients send again what a busy etcd has refused.
      const again = async (port: number, tries = 5): Promise<unknown> =>
        registered({ serviceName, port }).catch((error: Error) => {
          if (tries === 0 || !error.message.includes('The store is too slow')) throw error
          return again(port, tries - 1)
        })
      await Promise.all(Array.from({ length: 200 }, (_, n) => again(n + 1)))
      expect(await hosts({ serviceName })).toHaveLength(200)
    })
  })

  describe('the list', () => {
    test('it has all fields of the envelope', async () => {
      const { serviceName } = await registered()
      const answer = (await waypost[dialect].get(list, { serviceName })).json()
      expect(answer).toEqual({
        name: `DEFAULT_GROUP@@${serviceName}`,
        groupName: 'DEFAULT_GROUP',
        clusters: '',
        cacheMillis: 3_000,
        hosts: [expect.any(Object)],
        lastRefTime: expect.any(Number),
        checksum: expect.stringMatching(/^.+$/),
        ...MORE[dialect].list,
        allIPs: false,
        reachProtectionThreshold: false,
        valid: true,
      })
    })

    test('an unknown service is an empty list with all the fields', async () => {
      const serviceName = unique('unknown')
      const answer = await waypost[dialect].get(list, { serviceName, groupName: 'G' })
      expect(answer.headers['content-type']).toMatch(/^application\/json/)
      expect(answer.json()).toEqual({
        name: `G@@${serviceName}`,
        groupName: 'G',
        clusters: '',
        cacheMillis: 3_000,
        hosts: [],
        ...MORE[dialect].list,
        lastRefTime: expect.any(Number),
        checksum: expect.any(String),
        allIPs: false,
        reachProtectionThreshold: false,
        valid: true,
      })
    })

    test('clusters selects and is echoed as it was sent', async () => {
      const serviceName = unique('svc')
      for (const clusterName of ['c1', 'c2', 'c3']) await registered({ serviceName, clusterName })
      for (const [clusters, count] of [
        ['c3,c1', 2],
        ['c2', 1],
        ['nowhere', 0],
        [' c1,,c3 ', 2],
        ['', 3],
      ] as const) {
        const answer = (await waypost[dialect].get(list, { serviceName, clusters })).json()
        expect(answer.clusters).toBe(clusters)
        expect(answer.hosts).toHaveLength(count)
      }
    })

    test('healthyOnly leaves out the unhealthy', async () => {
      const serviceName = unique('svc')
      await registered({ serviceName, port: 1, healthy: false })
      await registered({ serviceName, port: 2 })
      expect(await hosts({ serviceName })).toHaveLength(2)
      expect(await hosts({ serviceName, healthyOnly: false })).toHaveLength(2)
      expect(await hosts({ serviceName, healthyOnly: true })).toMatchObject([{ port: 2 }])
    })

    test('disabled instances do not appear', async () => {
      const serviceName = unique('svc')
      await registered({ serviceName, port: 1, enabled: false })
      await registered({ serviceName, port: 2 })
      expect(await hosts({ serviceName })).toMatchObject([{ port: 2, enabled: true }])
    })

    test('lastRefTime strictly increases with every change, and only then', async () => {
      const serviceName = unique('svc')
      const times: number[] = []
      const look = async () => (await waypost[dialect].get(list, { serviceName })).json().lastRefTime
      for (let port = 1; port <= 20; port++) {
        await registered({ serviceName, port })
        times.push(await look())
      }
      expect(await look()).toBe(times.at(-1))
      expect(times).toEqual([...new Set(times)].sort((a, b) => a - b))
      expect(Math.abs(times[0]! - Date.now())).toBeLessThan(60_000)
    })

    test('the checksum is a digest of the hosts', async () => {
      const serviceName = unique('svc')
      const look = async () => (await waypost[dialect].get(list, { serviceName })).json().checksum
      await registered({ serviceName, port: 1 })
      const one = await look()
      await registered({ serviceName, port: 2 })
      const two = await look()
      expect(two).not.toBe(one)
      await waypost[dialect].delete(instance, { serviceName, ip: '127.0.0.1', port: 2 })
      expect(await look()).toBe(one)
    })

    test('namespaces separate services, and public, empty and absent are one', async () => {
      const serviceName = unique('svc')
      await registered({ serviceName, port: 1, namespaceId: 'never-listed' })
      await registered({ serviceName, port: 2 })
      expect(await hosts({ serviceName, namespaceId: 'never-listed' })).toMatchObject([{ port: 1 }])
      for (const namespaceId of [undefined, '', 'public'])
        expect(await hosts({ serviceName, namespaceId })).toMatchObject([{ port: 2 }])
    })
  })
})

describe('on /nacos', () => {
  const instance = '/ns/instance'
  const hosts = (serviceName: string) => hostsOf(waypost.nacos, { serviceName })

  test.each([
    ['ephemeral and healthy by values with a capital', { healthy: 'True', ephemeral: 'True' }, 1],
    ['disabled by enable', { enable: false }, 0],
    ['disabled by enabled', { enabled: false }, 0],
  ])('an instance is %s', async (_how, extra, count) => {
    const serviceName = unique('svc')
    const form = { serviceName, ip: '127.0.0.1', port: 80, ...extra }
    expect((await waypost.nacos.post(instance, form)).text).toBe('ok')
    const expected = Array.from({ length: count }, () => ({ ephemeral: true, healthy: true }))
    expect(await hosts(serviceName)).toMatchObject(expected)
  })

  test.each([
    ['a b', 'illegal characters should not appear in the param.'],
    ['x'.repeat(65), 'the param length should not exceed 64.'],
  ])('the text for the cluster %j is that of 2.5.1', async (clusterName, why) => {
    const text = `Param 'cluster' is illegal, ${why}\r\n`
    const key = { serviceName: unique('svc'), ip: '127.0.0.1', port: 80 }
    const beat = JSON.stringify({ ...key, cluster: clusterName })
    const answers = await Promise.all([
      waypost.nacos.post(instance, { ...key, clusterName }),
      waypost.nacos.get(instance, { ...key, clusterName }),
      waypost.nacos.put('/ns/instance/beat', { ...key, beat }),
    ])
    for (const answer of answers) expect(answer).toMatchObject({ status: 400, text })
  })
})
