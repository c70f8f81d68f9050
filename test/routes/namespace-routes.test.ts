import { beforeEach, describe, expect, test } from 'vitest'
import { startFixture } from './fixture.ts'

let at: ReturnType<typeof startFixture>
beforeEach(() => (at = startFixture()))

const path = '/console/namespaces'
const listed = async () => JSON.parse((await at.svc('GET', path)).text).data
const PUBLIC = {
  namespace: '',
  namespaceShowName: 'public',
  namespaceDesc: 'Default Namespace',
  quota: 200,
  configCount: 0,
  type: 0,
}
const BLUE = { ...PUBLIC, namespace: 'blue', namespaceShowName: 'Blue', namespaceDesc: 'd', type: 2 }

describe.each(['svc', 'nacos'] as const)('%s: namespaces', (dialect) => {
  const make = (params: Record<string, string>) => at[dialect]('POST', path, { params })
  const makeBlue = () => make({ customNamespaceId: 'blue', namespaceName: 'Blue', namespaceDesc: 'd' })

  test('are listed, the default one first, with their counts', async () => {
    expect((await makeBlue()).text).toBe('true')
    await make({ customNamespaceId: 'aaa', namespaceName: 'later' })
    const item = { dataId: 'a', group: 'G', content: 'x' }
    for (const tenant of ['blue', 'public', '']) {
      await at.svc('POST', '/cs/configs', { params: { ...item, tenant, dataId: `a${tenant}` } })
    }
    const asked = await at[dialect]('GET', path)
    expect(asked.answer).toMatchObject({ contentType: 'application/json' })
    const aaa = { ...BLUE, namespace: 'aaa', namespaceShowName: 'later', namespaceDesc: '' }
    const data = [{ ...PUBLIC, configCount: 2 }, { ...BLUE, configCount: 1 }, aaa]
    expect(asked.text).toBe(JSON.stringify({ code: 200, message: null, data }))
  })

  test('that exist are not created again, nor is public', async () => {
    await makeBlue()
    expect((await make({ customNamespaceId: 'blue', namespaceName: 'Other' })).text).toBe('false')
    expect((await make({ customNamespaceId: 'public', namespaceName: 'Mine' })).text).toBe('false')
    expect(await listed()).toEqual([PUBLIC, BLUE])
  })

  test('get a UUID if the id is empty', async () => {
    expect((await make({ customNamespaceId: '', namespaceName: 'n' })).text).toBe('true')
    expect((await listed())[1].namespace).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('are renamed', async () => {
    await makeBlue()
    const params = { namespace: 'blue', namespaceShowName: 'Blau', namespaceDesc: 'neu' }
    expect((await at[dialect]('PUT', path, { params })).text).toBe('true')
    expect(await listed()).toEqual([PUBLIC, { ...BLUE, namespaceShowName: 'Blau', namespaceDesc: 'neu' }])
    const ofPublic = { ...params, namespace: 'public' }
    expect((await at[dialect]('PUT', path, { params: ofPublic })).text).toBe('false')
    const unlisted = { ...params, namespace: 'green' }
    expect((await at[dialect]('PUT', path, { params: unlisted })).text).toBe(String(dialect === 'nacos'))
    expect(await listed()).toHaveLength(2)
  })

  test('are removed from the list, except public', async () => {
    await makeBlue()
    const remove = async (namespaceId: string) =>
      (await at[dialect]('DELETE', path, { params: { namespaceId } })).text
    expect(await remove('blue')).toBe('true')
    expect(await remove('blue')).toBe('true')
    expect(await remove('public')).toBe('false')
    expect(await listed()).toEqual([PUBLIC])
  })

  test.each([{ namespaceName: '' }, { namespaceName: 'a@b' }, { customNamespaceId: 'a b' }])(
    '%j is a 400',
    async (wrong) => {
      const asked = await make({ customNamespaceId: 'x', namespaceName: 'X', ...wrong })
      expect(asked.answer?.status).toBe(400)
      expect(asked.text).toContain(Object.keys(wrong)[0])
    },
  )
})

test('/svc requires the parameters of the document, and /nacos does not', async () => {
  const names = { namespaceName: 'n' }
  expect((await at.svc('POST', path, { params: names })).answer?.status).toBe(400)
  expect((await at.nacos('POST', path, { params: names })).text).toBe('true')
  const [, { namespace }] = await listed()
  const renamed = { namespace, namespaceShowName: 'm' }
  expect((await at.svc('PUT', path, { params: renamed })).answer?.status).toBe(400)
  expect((await at.nacos('PUT', path, { params: renamed })).text).toBe('true')
  expect((await at.svc('PUT', path, { params: { ...renamed, namespaceDesc: '' } })).text).toBe('true')
})

test('/nacos answers one namespace, and whether an id exists', async () => {
  const get = async (params: Record<string, string>) => (await at.nacos('GET', path, { params })).text
  await at.svc('POST', path, {
    params: { customNamespaceId: 'blue', namespaceName: 'Blue', namespaceDesc: 'd' },
  })
  expect(JSON.parse(await get({ show: 'all', namespaceId: 'blue' }))).toEqual(BLUE)
  expect(JSON.parse(await get({ show: 'all', namespaceId: '' }))).toEqual(PUBLIC)
  expect(await get({ show: 'all', namespaceId: 'red' })).toContain('namespaceId [ red ] not exist')
  const check = (customNamespaceId: string) => get({ checkNamespaceIdExist: 'true', customNamespaceId })
  expect([await check('blue'), await check('red'), await check('')]).toEqual(['true', 'false', 'false'])
})

describe('/nacos answers about the server', () => {
  test.each([
    ['/console/health/liveness', 'OK'],
    ['/console/health/readiness', 'OK'],
    ['/cs/health', 'UP'],
  ])('%s: %s', async (where, text) => {
    const asked = await at.nacos('GET', where)
    expect(asked.answer?.status).toBe(200)
    expect(asked.text).toBe(text)
  })

  test('its state has texts alone', async () => {
    const state = JSON.parse((await at.nacos('GET', '/console/server/state')).text) as Record<string, unknown>
    expect(state).toMatchObject({
      version: '1.2.3',
      standalone_mode: 'standalone',
      function_mode: null,
      auth_enabled: 'false',
      config_retention_days: '30',
      server_port: '8848',
    })
    expect(Object.entries(state).filter(([, value]) => typeof value !== 'string')).toEqual([
      ['function_mode', null],
    ])
  })

  test('its nodes are listed', async () => {
    const { data } = JSON.parse((await at.nacos('GET', '/core/cluster/nodes')).text)
    expect(data).toMatchObject([
      {
        ip: '10.0.0.1',
        port: 8848,
        state: 'UP',
        extendInfo: { lastRefreshTime: 17, version: '1.2.3' },
        address: '10.0.0.1:8848',
        failAccessCnt: 0,
      },
    ])
  })
})
