import { describe, expect, test } from 'vitest'
import { DIALECTS, hostsOf, serverForThisFile, unique, type Params } from './client.ts'
import { refusals } from './problem.ts'

const waypost = serverForThisFile()

describe.each(DIALECTS)('/%s:', (dialect) => {
  const expectRefused = refusals(dialect)
  const configs = '/cs/configs'
  const instance = '/ns/instance'
  const long = (length: number) => 'x'.repeat(length)
  const good = { ip: '127.0.0.1', port: 80 }
  /** The parameter that is named, and the values that are wrong. */
  type Wrong = [string, Params]

  describe('a bad configuration is a 400 that names the parameter and changes nothing', () => {
    const wrong: Wrong[] = [
      ['dataId', { dataId: undefined }],
      ['dataId', { dataId: '' }],
      ['dataId', { dataId: 'a b' }],
      ['dataId', { dataId: 'a/b' }],
      ['dataId', { dataId: 'a#b' }],
      ['dataId', { dataId: long(257) }],
      ['group', { group: undefined }],
      ['group', { group: '' }],
      ['group', { group: 'a+b' }],
      ['group', { group: long(129) }],
      ['tenant', { tenant: 'a b' }],
      ['tenant', { tenant: 'a.b' }],
      ['tenant', { tenant: long(129) }],
    ]
    test.each(wrong)('%s in %j', async (name, extra) => {
      const item = { dataId: unique('bad'), group: 'G', content: 'x' }
      expectRefused(await waypost[dialect].post(configs, { ...item, ...extra }), 400, name)
      expectRefused(await waypost[dialect].get(configs, { ...item, ...extra }), 400, name)
      expectRefused(await waypost[dialect].delete(configs, { ...item, ...extra }), 400, name)
    })

    test.each([undefined, '', '  '])('content %j', async (content) => {
      const item = { dataId: unique('bad'), group: 'G' }
      expectRefused(await waypost[dialect].post(configs, { ...item, content }), 400, 'content')
      expect((await waypost[dialect].get(configs, item)).status).toBe(404)
    })

    test('names of the maximum length are accepted', async () => {
      const item = { dataId: unique(long(247)), group: unique(long(119)), tenant: unique(long(55)) }
      expect([item.dataId.length, item.group.length, item.tenant.length]).toEqual([256, 128, 64])
      expect((await waypost[dialect].post(configs, { ...item, content: 'x' })).text).toBe('true')
      expect((await waypost[dialect].get(configs, item)).text).toBe('x')
    })

    test('every allowed character of a name is accepted', async () => {
      const item = { dataId: unique('aZ0-_:.'), group: 'aZ0-_:.', tenant: 'aZ0-_' }
      expect((await waypost[dialect].post(configs, { ...item, content: 'x' })).text).toBe('true')
      expect((await waypost[dialect].get(configs, item)).text).toBe('x')
    })
  })

  describe('a bad instance is a 400 that names the parameter and changes nothing', () => {
    const switches = ['enabled', 'healthy', 'ephemeral'].map((name): Wrong => [name, { [name]: 'perhaps' }])
    const cluster = dialect === 'svc' ? 'clusterName' : 'cluster'
    const wrong: Wrong[] = [
      ['ip', { ip: undefined }],
      ['ip', { ip: '' }],
      ['ip', { ip: 'a b' }],
      ['ip', { ip: long(129) }],
      ['port', { port: undefined }],
      ['port', { port: '' }],
      ['port', { port: -1 }],
      ['port', { port: 65_536 }],
      ['port', { port: 'http' }],
      ['port', { port: 80.5 }],
      ['port', { port: '0x50' }],
      ['weight', { weight: -0.1 }],
      ['weight', { weight: 10_000.1 }],
      ['weight', { weight: 'heavy' }],
      ['weight', { weight: 'NaN' }],
      ['weight', { weight: 'Infinity' }],
      // Under /nacos these are false.
      ...(dialect === 'svc' ? switches : []),
      ['metadata', { metadata: '{"a":' }],
      ['metadata', { metadata: 'neither' }],
      ['metadata', { metadata: '[1,2]' }],
      ['metadata', { metadata: JSON.stringify({ big: long(8_200) }) }],
      [cluster, { clusterName: 'a b' }],
      [cluster, { clusterName: 'a/b' }],
      [cluster, { clusterName: long(65) }],
      ['groupName', { groupName: 'a b' }],
      ['groupName', { groupName: long(129) }],
      ['namespaceId', { namespaceId: 'a b' }],
      ['namespaceId', { namespaceId: long(129) }],
    ]
    test.each(wrong)('%s in %j', async (name, extra) => {
      const serviceName = unique('bad')
      expectRefused(await waypost[dialect].post(instance, { serviceName, ...good, ...extra }), 400, name)
      expect(await hostsOf(waypost[dialect], { serviceName })).toEqual([])
    })

    test.each([undefined, '', 'a b', '@name', '名字', long(513), '@@name', 'G@@'])(
      'the serviceName %j',
      async (serviceName) => {
        expectRefused(await waypost[dialect].post(instance, { serviceName, ...good }), 400, 'serviceName')
      },
    )

    test('metadata just under 8 KiB is accepted', async () => {
      const serviceName = unique('svc')
      const metadata = JSON.stringify({ big: long(8_000) })
      expect((await waypost[dialect].post(instance, { serviceName, ...good, metadata })).text).toBe('ok')
    })

    test.each(dialect === 'svc' ? ['weight', 'enabled', 'metadata'] : ['weight', 'metadata'])(
      'a bad %s in a modification changes nothing',
      async (name) => {
        const serviceName = unique('svc')
        await waypost[dialect].post(instance, { serviceName, ...good, weight: 2, metadata: 'a=1' })
        const change = { serviceName, ...good, weight: 5, metadata: '{"a":"2"}', [name]: '{bad' }
        expectRefused(await waypost[dialect].put(instance, change), 400, name)
        expect(await hostsOf(waypost[dialect], { serviceName })).toMatchObject([
          { weight: 2, metadata: { a: '1' } },
        ])
      },
    )

    test('metadata that grows over the limit by modification is refused', async () => {
      const serviceName = unique('svc')
      const half = (key: string) => JSON.stringify({ [key]: long(5_000) })
      await waypost[dialect].post(instance, { serviceName, ...good, metadata: half('a') })
      const grown = { serviceName, ...good, metadata: half('b') }
      expectRefused(await waypost[dialect].put(instance, grown), 400, 'metadata')
      const [host] = await hostsOf(waypost[dialect], { serviceName })
      expect(Object.keys(host.metadata)).toEqual(['a'])
    })
  })

  describe('required parameters', () => {
    const required: [string, string, Params][] = [
      ['DELETE', instance, { serviceName: 's', ip: '127.1.1.1', port: 1 }],
      ['PUT', instance, { serviceName: 's', ip: '127.1.1.1', port: 1 }],
      ['GET', instance, { serviceName: 's', ip: '127.1.1.1', port: 1 }],
      ['GET', '/ns/instance/list', { serviceName: 's' }],
      ['PUT', '/ns/instance/beat', { serviceName: 's', ip: '127.1.1.1', port: 1 }],
      ['PUT', '/ns/health/instance', { serviceName: 's', ip: '127.1.1.1', port: 1, healthy: true }],
      ['POST', '/ns/service', { serviceName: 's' }],
      ['PUT', '/ns/service', { serviceName: 's' }],
      ['DELETE', '/ns/service', { serviceName: 's' }],
      ['GET', '/ns/service', { serviceName: 's' }],
      ['PUT', '/ns/operator/switches', { entry: 'checkTimes', value: '3' }],
      ['GET', '/cs/history', { search: 'accurate', dataId: 'a', group: 'g' }],
    ]
    const each = required.flatMap(([method, path, params]) =>
      Object.keys(params)
        .filter((name) => name !== 'search')
        .map((name) => [method, path, name, params] as const),
    )
    test.each(each)('%s %s insists on %s', async (...[method, path, name, params]) => {
      expectRefused(
        await waypost[dialect].call(method, path, { query: { ...params, [name]: undefined } }),
        400,
        name,
      )
    })
  })

  describe('paths and methods', () => {
    test.each(['/cs/nothing', '/ns/nothing', '/ns', '/console/nothing', '/ns/instance/list/more', ''])(
      'the unknown path %j is a 404 for every method',
      async (path) => {
        for (const method of ['GET', 'POST', 'PUT', 'DELETE'])
          expectRefused(await waypost[dialect].call(method, path), 404)
      },
    )

    test.each([
      ['PATCH', '/cs/configs'],
      ['POST', '/ns/instance/list'],
      ['DELETE', '/ns/operator/switches'],
      ['POST', '/ns/raft/leader'],
      ['GET', '/ns/instance/beat'],
      ['PATCH', '/console/namespaces'],
    ])('%s %s is a 405 that names the allowed methods', async (method, path) => {
      const answer = await waypost[dialect].call(method, path)
      expectRefused(answer, 405)
      expect(String(answer.headers['allow'])).toMatch(/GET|PUT|POST/)
    })
  })

  describe('encodings', () => {
    test.each(['%ff', '%c3%28', '%ed%a0%80', 'ok%80'])('the invalid UTF-8 %s is a 400', async (bytes) => {
      const dataId = unique('utf8')
      const headers = { 'content-type': 'application/x-www-form-urlencoded' }
      const body = `dataId=${dataId}&group=G&content=${bytes}`
      expectRefused(await waypost[dialect].call('POST', configs, { body, headers }), 400, 'content')
      const inQuery = await waypost[dialect].call('POST', configs, { query: body })
      expectRefused(inQuery, 400, 'content')
      expect((await waypost[dialect].get(configs, { dataId, group: 'G' })).status).toBe(404)
    })
  })
})
