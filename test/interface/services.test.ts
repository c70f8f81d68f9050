import { describe, expect, test } from 'vitest'
import { DIALECTS, hostsOf, serverForThisFile, unique, type Json, type Params } from './client.ts'
import { refusals } from './problem.ts'

const waypost = serverForThisFile()

describe.each(DIALECTS)('/%s:', (dialect) => {
  const expectRefused = refusals(dialect)
  const service = '/ns/service'

  async function created(extra: Params = {}): Promise<string> {
    const serviceName = unique('svc')
    const answer = await waypost[dialect].post(service, { serviceName, ...extra })
    expect(answer, answer.text).toMatchObject({ status: 200, text: 'ok' })
    return serviceName
  }

  async function registered(serviceName: string, extra: Params = {}, localAddress?: string): Promise<void> {
    const form = { serviceName, ip: '127.0.0.1', port: 80, ...extra }
    const answer = await waypost[dialect].call('POST', '/ns/instance', {
      form,
      ...(localAddress && { localAddress }),
    })
    expect(answer.text).toBe('ok')
  }

  async function serviceOf(serviceName: string, extra: Params = {}): Promise<Json> {
    return (await waypost[dialect].get(service, { serviceName, ...extra })).json()
  }

  describe('a service', () => {
    test('has all fields, with the defaults, after its creation', async () => {
      const serviceName = await created()
      expect(await serviceOf(serviceName)).toEqual({
        metadata: {},
        groupName: 'DEFAULT_GROUP',
        namespaceId: 'public',
        name: serviceName,
        selector: dialect === 'svc' ? { type: 'none' } : { type: 'none', contextType: 'NONE' },
        protectThreshold: 0,
        clusters: [],
      })
    })

    test('every given value is stored', async () => {
      const given = { groupName: 'G1', namespaceId: 'blue', protectThreshold: 0.25 }
      const selector = '{"type":"label","expression":"CONSUMER.label.zone = PROVIDER.label.zone"}'
      const serviceName = await created({ ...given, metadata: '{"owner":"grün"}', selector })
      expect(await serviceOf(serviceName, given)).toEqual({
        ...given,
        name: serviceName,
        metadata: { owner: 'grün' },
        selector: {
          ...JSON.parse(selector),
          ...(dialect === 'nacos' && { labels: ['zone'], contextType: 'CMDB' }),
        },
        clusters: [],
      })
    })

    test('has a cluster after an instance registers in it', async () => {
      const serviceName = await created()
      await registered(serviceName, { clusterName: 'c1' })
      await registered(serviceName, { clusterName: 'c2' })
      const { clusters } = await serviceOf(serviceName)
      const inOrder = clusters.sort((a: Json, b: Json) => a.name.localeCompare(b.name))
      const shape = { healthChecker: { type: 'TCP' }, metadata: {} }
      expect(inOrder).toEqual([
        { ...shape, name: 'c1' },
        { ...shape, name: 'c2' },
      ])
    })

    test('is also created by a registration', async () => {
      const serviceName = unique('svc')
      await registered(serviceName)
      expect(await serviceOf(serviceName)).toMatchObject({ name: serviceName, protectThreshold: 0 })
    })

    test('may have both kinds of instances', async () => {
      const serviceName = await created()
      await registered(serviceName, { port: 1, ephemeral: true })
      await registered(serviceName, { port: 2, ephemeral: false })
      expect(await hostsOf(waypost[dialect], { serviceName })).toHaveLength(2)
    })

    test('that exists cannot be created again: a 400, and it stays as it was', async () => {
      const serviceName = await created({ protectThreshold: 0.5 })
      const again = await waypost[dialect].post(service, { serviceName, protectThreshold: 0.9 })
      expectRefused(again, 400, 'already exists')
      expect(await serviceOf(serviceName)).toMatchObject({ protectThreshold: 0.5 })
    })

    test('that does not exist is a 404 to query, update and delete', async () => {
      const query = { serviceName: unique('unknown') }
      expectRefused(await waypost[dialect].get(service, query), 404)
      expectRefused(await waypost[dialect].put(service, { ...query, protectThreshold: 0.5 }), 404)
      expectRefused(await waypost[dialect].delete(service, query), 404)
      expectRefused(await waypost[dialect].get(service, query), 404)
    })

    test('keeps the fields that an update does not name', async () => {
      const serviceName = await created({ metadata: '{"a":"1"}', protectThreshold: 0.2 })
      expect((await waypost[dialect].put(service, { serviceName, protectThreshold: 0.7 })).text).toBe('ok')
      expect(await serviceOf(serviceName)).toMatchObject({ protectThreshold: 0.7, metadata: { a: '1' } })
      expect((await waypost[dialect].put(service, { serviceName, metadata: '{"b":"2"}' })).text).toBe('ok')
      const after = await serviceOf(serviceName)
      expect(after).toMatchObject({ protectThreshold: 0.7, metadata: { b: '2' } })
    })

    test('of the same name in two groups and namespaces is several services', async () => {
      const serviceName = await created({ protectThreshold: 0.1 })
      await waypost[dialect].post(service, { serviceName, groupName: 'G', protectThreshold: 0.2 })
      await waypost[dialect].post(service, { serviceName, namespaceId: 'blue', protectThreshold: 0.3 })
      expect(await serviceOf(serviceName)).toMatchObject({ protectThreshold: 0.1 })
      expect(await serviceOf(serviceName, { groupName: 'G' })).toMatchObject({ protectThreshold: 0.2 })
      expect(await serviceOf(serviceName, { namespaceId: 'blue' })).toMatchObject({ protectThreshold: 0.3 })
    })
  })

  describe('deleting a service', () => {
    test.each([true, false])(
      'with an instance (ephemeral %s) is a 400, without one it is gone',
      async (ephemeral) => {
        const serviceName = await created()
        await registered(serviceName, { ephemeral })
        expectRefused(await waypost[dialect].delete(service, { serviceName }), 400, 'is not empty')
        expect(await hostsOf(waypost[dialect], { serviceName })).toHaveLength(1)
        await waypost[dialect].delete('/ns/instance', { serviceName, ip: '127.0.0.1', port: 80 })
        expect((await waypost[dialect].delete(service, { serviceName })).text).toBe('ok')
        expectRefused(await waypost[dialect].get(service, { serviceName }), 404)
      },
    )
  })

  describe('the list of services', () => {
    const list = '/ns/service/list'

    test('it has the total count and the names of a page', async () => {
      const namespaceId = unique('ns')
      for (const name of ['d', 'b', 'e', 'a', 'c']) {
        await waypost[dialect].post(service, { serviceName: `list-${name}`, namespaceId })
      }
      const pages = [1, 2, 3, 4].map((pageNo) =>
        waypost[dialect].get(list, { pageNo, pageSize: 2, namespaceId }),
      )
      const answers = (await Promise.all(pages)).map((answer) => answer.json())
      expect(answers).toEqual([
        { count: 5, doms: ['list-a', 'list-b'] },
        { count: 5, doms: ['list-c', 'list-d'] },
        { count: 5, doms: ['list-e'] },
        { count: 5, doms: [] },
      ])
    })

    test('it has the services of one group', async () => {
      const namespaceId = unique('ns')
      await waypost[dialect].post(service, { serviceName: 'one', namespaceId })
      await waypost[dialect].post(service, { serviceName: 'two', namespaceId, groupName: 'G' })
      const page = { pageNo: 1, pageSize: 10, namespaceId }
      expect((await waypost[dialect].get(list, page)).json()).toEqual({ count: 1, doms: ['one'] })
      expect((await waypost[dialect].get(list, { ...page, groupName: 'G' })).json()).toEqual({
        count: 1,
        doms: ['two'],
      })
    })

    test('a namespace without services is an empty list', async () => {
      const answer = await waypost[dialect].get(list, { pageNo: 1, pageSize: 10, namespaceId: unique('ns') })
      expect(answer.json()).toEqual({ count: 0, doms: [] })
    })

    const wrong: [string, Params][] = [
      ['pageNo', { pageSize: 10 }],
      ['pageSize', { pageNo: 1 }],
      ['pageNo', { pageNo: 'x', pageSize: 10 }],
      ['pageSize', { pageNo: 1, pageSize: -1 }],
    ]
    test.each(wrong)('%s is wrong in %j', async (name, query) => {
      expectRefused(await waypost[dialect].get(list, query), 400, name)
    })
  })

  describe('the parameters of a service are checked', () => {
    const wrong: [string, Params][] = [
      ['serviceName', { serviceName: undefined }],
      ['serviceName', { serviceName: '' }],
      ['selector', { selector: '{"type":"label","expression":"a=b"}' }],
      ['protectThreshold', { protectThreshold: 1.1 }],
      ['protectThreshold', { protectThreshold: -0.1 }],
      ['protectThreshold', { protectThreshold: 'half' }],
      ['protectThreshold', { protectThreshold: 'NaN' }],
      ['selector', { selector: 'zone' }],
      ['selector', { selector: '{"type":"weather"}' }],
      ['selector', { selector: '{"type":"label","expression":"zone is near"}' }],
      ['metadata', { metadata: '{"a":' }],
    ]
    test.each(wrong)('%s: %j is a 400 and makes or changes nothing', async (name, extra) => {
      const serviceName = unique('svc')
      expectRefused(await waypost[dialect].post(service, { serviceName, ...extra }), 400, name)
      expectRefused(await waypost[dialect].get(service, { serviceName }), 404)
      await waypost[dialect].post(service, { serviceName, protectThreshold: 0.5 })
      expectRefused(await waypost[dialect].put(service, { serviceName, ...extra }), 400, name)
      expect(await serviceOf(serviceName)).toMatchObject({ protectThreshold: 0.5, metadata: {} })
    })
  })

  describe('the label selector', () => {
    const selector = '{"type":"label","expression":"CONSUMER.label.zone = PROVIDER.label.zone"}'

    /** Ports of the providers that a consumer at this address is given. */
    async function seenFrom(localAddress: string, query: Params): Promise<number[]> {
      const answer = await waypost[dialect].call('GET', '/ns/instance/list', { query, localAddress })
      return answer
        .json()
        .hosts.map((host: Json) => host.port)
        .sort()
    }

    test(`lists the providers whose labels equal those of the instances at the consumer's address`, async () => {
      const namespaceId = unique('ns')
      const serviceName = await created({ namespaceId, selector })
      await registered(serviceName, { namespaceId, ip: '127.9.0.1', port: 1, metadata: 'zone=a' })
      await registered(serviceName, { namespaceId, ip: '127.9.0.2', port: 2, metadata: 'zone=b' })
      await registered(serviceName, { namespaceId, ip: '127.9.0.3', port: 3, metadata: 'zone=a' })
      await registered('consumer-a', { namespaceId, ip: '127.0.0.2', port: 9, metadata: 'zone=a' })
      await registered('consumer-z', { namespaceId, ip: '127.0.0.3', port: 9, metadata: 'zone=z' })
      expect(await seenFrom('127.0.0.2', { serviceName, namespaceId })).toEqual([1, 3])
      expect(await seenFrom('127.0.0.3', { serviceName, namespaceId }), 'no match gives all').toEqual([
        1, 2, 3,
      ])
      expect(await seenFrom('127.0.0.4', { serviceName, namespaceId }), 'no labels gives all').toEqual([
        1, 2, 3,
      ])
    })
  })
})
