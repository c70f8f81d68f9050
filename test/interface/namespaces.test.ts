import { describe, expect, test } from 'vitest'
import { DIALECTS, serverForThisFile, unique, type Json, type Params } from './client.ts'
import { refusals } from './problem.ts'

const waypost = serverForThisFile()
const namespaces = '/console/namespaces'
const PUBLIC = {
  namespace: '',
  namespaceShowName: 'public',
  namespaceDesc: 'Default Namespace',
  quota: 200,
  configCount: 0,
  type: 0,
}
const SHOWN = { ...PUBLIC, namespaceShowName: 'Shown', namespaceDesc: 'about', type: 2 }

describe.each(DIALECTS)('/%s:', (dialect) => {
  const expectRefused = refusals(dialect)
  async function listed(): Promise<Json[]> {
    const answer = (await waypost[dialect].get(namespaces)).json()
    expect(answer).toMatchObject({ code: 200, message: null, data: expect.any(Array) })
    return answer.data
  }

  async function find(namespace: string): Promise<Json> {
    return (await listed()).find((entry) => entry.namespace === namespace)
  }

  async function made(extra: Params = {}): Promise<string> {
    const customNamespaceId = unique('ns')
    const form = { customNamespaceId, namespaceName: 'Shown', namespaceDesc: 'about', ...extra }
    expect(await waypost[dialect].post(namespaces, form)).toMatchObject({ status: 200, text: 'true' })
    return customNamespaceId
  }

  describe('the list of namespaces', () => {
    test('begins with the default namespace', async () => {
      const answer = await waypost[dialect].get(namespaces)
      expect(answer.headers['content-type']).toBe('application/json')
      const [first] = answer.json().data
      expect(first).toEqual({ ...PUBLIC, configCount: expect.any(Number) })
      expect(Object.keys(first)).toEqual(Object.keys(PUBLIC))
    })

    test('has a created namespace, with all its fields', async () => {
      const namespace = await made()
      expect(await find(namespace)).toEqual({ ...SHOWN, namespace })
    })

    test('has the number of configurations of each namespace', async () => {
      const namespace = await made()
      const countOf = async (id: string) => (await find(id)).configCount
      const inDefault = await countOf('')
      for (const dataId of ['a', 'b', 'c'])
        await waypost[dialect].post('/cs/configs', { dataId, group: 'G', content: 'x', tenant: namespace })
      await waypost[dialect].post('/cs/configs', { dataId: 'a', group: 'G', content: 'y', tenant: namespace })
      expect(await countOf(namespace)).toBe(3)
      await waypost[dialect].delete('/cs/configs', { dataId: 'a', group: 'G', tenant: namespace })
      expect(await countOf(namespace)).toBe(2)
      expect(await countOf('')).toBe(inDefault)
      const item = { dataId: unique('counted'), group: 'G' }
      await waypost[dialect].post('/cs/configs', { ...item, content: 'x', tenant: 'public' })
      expect(await countOf('')).toBe(inDefault + 1)
    })
  })

  describe('creating a namespace', () => {
    test('that exists answers false with 200 and changes nothing', async () => {
      const customNamespaceId = await made()
      const again = await waypost[dialect].post(namespaces, { customNamespaceId, namespaceName: 'Other' })
      expect(again).toMatchObject({ status: 200, text: 'false' })
      expect(await find(customNamespaceId)).toMatchObject({ namespaceShowName: 'Shown' })
    })

    test('with an empty id creates a UUID', async () => {
      const namespaceName = unique('uuid')
      const answer = await waypost[dialect].post(namespaces, { customNamespaceId: '', namespaceName })
      expect(answer).toMatchObject({ status: 200, text: 'true' })
      const entry = (await listed()).find((one) => one.namespaceShowName === namespaceName)
      expect(entry.namespace).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/)
    })

    test('public cannot be created', async () => {
      const before = await listed()
      const mine = { customNamespaceId: 'public', namespaceName: 'mine' }
      expect((await waypost[dialect].post(namespaces, mine)).text).toBe('false')
      expect(await listed()).toEqual(before)
    })

    const wrong: [string, Params][] = [
      ...(dialect === 'svc' ? [['customNamespaceId', { namespaceName: 'n' }] as [string, Params]] : []),
      ['customNamespaceId', { customNamespaceId: 'a b', namespaceName: 'n' }],
      ['customNamespaceId', { customNamespaceId: 'a/b', namespaceName: 'n' }],
      ['customNamespaceId', { customNamespaceId: 'x'.repeat(129), namespaceName: 'n' }],
      ['namespaceName', { customNamespaceId: 'nameless' }],
      ['namespaceName', { customNamespaceId: 'nameless', namespaceName: '' }],
      ['namespaceName', { customNamespaceId: 'named', namespaceName: 'a@b' }],
      ['namespaceName', { customNamespaceId: 'named', namespaceName: 'n'.repeat(257) }],
    ]
    test.each(wrong)('%s is wrong in %j', async (name, form) => {
      const before = await listed()
      expectRefused(await waypost[dialect].post(namespaces, form), 400, name)
      expect(await listed()).toEqual(before)
    })
  })

  describe('modifying a namespace', () => {
    test('changes the shown name and the description', async () => {
      const namespace = await made()
      const form = { namespace, namespaceShowName: 'Umbenannt ü', namespaceDesc: 'neu' }
      expect(await waypost[dialect].put(namespaces, form)).toMatchObject({ status: 200, text: 'true' })
      expect(await find(namespace)).toMatchObject({ namespaceShowName: 'Umbenannt ü' })
      const shown = (await waypost.nacos.get(namespaces, { show: 'all', namespaceId: namespace })).json()
      expect(shown).toMatchObject({ namespace, namespaceShowName: 'Umbenannt ü', namespaceDesc: 'neu' })
    })

    test('the description of its creation is stored', async () => {
      const namespaceId = await made({ namespaceDesc: 'beschrieben' })
      const shown = (await waypost.nacos.get(namespaces, { show: 'all', namespaceId })).json()
      expect(shown.namespaceDesc).toBe('beschrieben')
    })

    // /nacos needs no description.
    const required = ['namespace', 'namespaceShowName', ...(dialect === 'svc' ? ['namespaceDesc'] : [])]
    test.each(required)('%s is required', async (name) => {
      const namespace = await made()
      const form = { namespace, namespaceShowName: 'New', namespaceDesc: 'new', [name]: undefined }
      expectRefused(await waypost[dialect].put(namespaces, form), 400, name)
      expect(await find(namespace)).toMatchObject({ namespaceShowName: 'Shown' })
    })

    test('a namespace that is not listed does not add it to the list', async () => {
      const namespace = unique('unknown')
      const renamed = { namespace, namespaceShowName: 'x', namespaceDesc: 'y' }
      expect((await waypost[dialect].put(namespaces, renamed)).text).toBe(String(dialect === 'nacos'))
      expect(await find(namespace)).toBeUndefined()
      expect((await waypost[dialect].put(namespaces, { ...renamed, namespace: 'public' })).text).toBe('false')
      expect(await find('')).toMatchObject({ namespaceShowName: 'public' })
    })
  })

  describe('deleting a namespace', () => {
    test('removes a namespace from the list, and its items stay readable', async () => {
      const namespace = await made()
      const item = { dataId: 'kept', group: 'G', tenant: namespace }
      const instance = { serviceName: 'kept', ip: '127.0.0.1', port: 80, namespaceId: namespace }
      await waypost[dialect].post('/cs/configs', { ...item, content: 'still here' })
      await waypost[dialect].post('/ns/instance', instance)
      const answer = await waypost[dialect].delete(namespaces, { namespaceId: namespace })
      expect(answer).toMatchObject({ status: 200, text: 'true' })
      expect(await find(namespace)).toBeUndefined()
      expect((await waypost[dialect].get('/cs/configs', item)).text).toBe('still here')
      expect((await waypost[dialect].get('/ns/instance/list', instance)).json().hosts).toHaveLength(1)
    })

    test('an unknown namespace answers true', async () => {
      const answer = await waypost[dialect].delete(namespaces, { namespaceId: unique('unknown') })
      expect(answer).toMatchObject({ status: 200, text: 'true' })
    })

    test('public cannot be deleted', async () => {
      expect((await waypost[dialect].delete(namespaces, { namespaceId: 'public' })).text).toBe('false')
      for (const namespaceId of ['public', '']) {
        expect((await waypost[dialect].delete(namespaces, { namespaceId })).text).not.toBe('true')
        expect(await find('')).toMatchObject({ type: 0 })
      }
    })

    test('namespaceId is required', async () => {
      expectRefused(await waypost[dialect].delete(namespaces, {}), 400, 'namespaceId')
    })
  })

  test('an unknown namespace works without being listed', async () => {
    const tenant = unique('unknown')
    await waypost[dialect].post('/cs/configs', { dataId: 'a', group: 'G', content: 'x', tenant })
    expect((await waypost[dialect].get('/cs/configs', { dataId: 'a', group: 'G', tenant })).text).toBe('x')
    expect(await find(tenant)).toBeUndefined()
  })

  test('the quota is shown and not enforced', async () => {
    const tenant = await made()
    const names = Array.from({ length: 201 }, (_, n) => `item.${n}`)
    const publish = (dataId: string) =>
      waypost[dialect].post('/cs/configs', { dataId, group: 'G', content: 'x', tenant })
    const answers = await Promise.all(names.map(publish))
    expect(new Set(answers.map((answer) => answer.text))).toEqual(new Set(['true']))
    expect(await find(tenant)).toMatchObject({ quota: 200, configCount: 201 })
  })
})

describe('on /nacos', () => {
  const get = async (query: Params) => (await waypost.nacos.get(namespaces, query)).json()

  test('show=all answers one namespace with its description', async () => {
    const namespaceId = unique('ns')
    const made = { customNamespaceId: namespaceId, namespaceName: 'Shown', namespaceDesc: 'about' }
    await waypost.nacos.post(namespaces, made)
    expect(await get({ show: 'all', namespaceId })).toEqual({ ...SHOWN, namespace: namespaceId })
    expect(await get({ show: 'all', namespaceId: '' })).toEqual({
      ...PUBLIC,
      configCount: expect.any(Number),
    })
    const unknown = await waypost.nacos.get(namespaces, { show: 'all', namespaceId: 'red' })
    expect(unknown.text).toContain('namespaceId [ red ] not exist')
  })

  test('checkNamespaceIdExist answers whether an id exists', async () => {
    const taken = unique('ns')
    await waypost.nacos.post(namespaces, { customNamespaceId: taken, namespaceName: 'n' })
    const check = (customNamespaceId: string) => get({ checkNamespaceIdExist: true, customNamespaceId })
    expect([await check(taken), await check(unique('free')), await check('')]).toEqual([true, false, false])
  })

  test('neither an id nor a description is needed', async () => {
    const names = { namespaceName: unique('shown') }
    expect((await waypost.nacos.post(namespaces, names)).text).toBe('true')
    const find = async (shown: string) =>
      (await get({})).data.find((one: Json) => one.namespaceShowName === shown)
    const { namespace } = await find(names.namespaceName)
    const renamed = { namespace, namespaceShowName: unique('renamed') }
    expect((await waypost.nacos.put(namespaces, renamed)).text).toBe('true')
    expect(await find(renamed.namespaceShowName)).toMatchObject({ namespace })
  })
})
