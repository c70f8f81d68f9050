import { expect, test } from 'vitest'
import { serverForThisFile, unique, type Json, type Params } from './client.ts'

const waypost = serverForThisFile()
const namespaces = '/console/namespaces'

const listed = async (): Promise<Json[]> => (await waypost.nacos.get(namespaces)).json().data
const find = async (namespace: string) => (await listed()).find((entry) => entry.namespace === namespace)

async function made(extra: Params = {}): Promise<string> {
  const customNamespaceId = unique('ns')
  const form = { customNamespaceId, namespaceName: 'Shown', namespaceDesc: 'about', ...extra }
  expect((await waypost.nacos.post(namespaces, form)).text).toBe('true')
  return customNamespaceId
}

test('the default namespace is the first, and others have type 2', async () => {
  const namespace = await made()
  const answer = (await waypost.nacos.get(namespaces)).json()
  expect(answer).toMatchObject({ code: 200, message: null })
  expect(answer.data[0]).toMatchObject({ namespace: '', namespaceShowName: 'public', quota: 200, type: 0 })
  expect(await find(namespace)).toMatchObject({ namespaceShowName: 'Shown', configCount: 0, type: 2 })
})

test('creating a namespace that exists answers false with 200, also for public', async () => {
  const customNamespaceId = await made()
  const again = await waypost.nacos.post(namespaces, { customNamespaceId, namespaceName: 'Again' })
  expect(again).toMatchObject({ status: 200, text: 'false' })
  const reserved = await waypost.nacos.post(namespaces, {
    customNamespaceId: 'public',
    namespaceName: 'Mine',
  })
  expect(reserved.text).not.toBe('true')
})

test('show=all answers one namespace with its description', async () => {
  const namespaceId = await made()
  const answer = (await waypost.nacos.get(namespaces, { show: 'all', namespaceId })).json()
  expect(answer).toMatchObject({
    namespace: namespaceId,
    namespaceShowName: 'Shown',
    namespaceDesc: 'about',
    quota: 200,
    configCount: 0,
    type: 2,
  })
})

test('checkNamespaceIdExist answers whether an id exists', async () => {
  const taken = await made()
  const check = async (customNamespaceId: string) =>
    (await waypost.nacos.get(namespaces, { checkNamespaceIdExist: true, customNamespaceId })).text
  expect(await check(taken)).toBe('true')
  expect(await check(unique('free'))).toBe('false')
  expect(await check('')).toBe('false')
})

test('a modification needs no description; for an unknown id it answers true and changes nothing', async () => {
  const namespace = await made()
  const renamed = await waypost.nacos.put(namespaces, { namespace, namespaceShowName: 'Renamed' })
  expect(renamed).toMatchObject({ status: 200, text: 'true' })
  expect(await find(namespace)).toMatchObject({ namespaceShowName: 'Renamed' })
  const unknown = { namespace: unique('absent'), namespaceShowName: 'x' }
  expect((await waypost.nacos.put(namespaces, unknown)).text).toBe('true')
  expect(await find(unknown.namespace)).toBeUndefined()
})

test('a deletion answers true, for known and unknown namespaces, and the items stay', async () => {
  const tenant = await made()
  const item = { dataId: 'kept', group: 'G', tenant }
  await waypost.nacos.post('/cs/configs', { ...item, content: 'x' })
  expect((await waypost.nacos.delete(namespaces, { namespaceId: tenant })).text).toBe('true')
  expect((await waypost.nacos.delete(namespaces, { namespaceId: tenant })).text).toBe('true')
  expect(await find(tenant)).toBeUndefined()
  expect((await waypost.nacos.get('/cs/configs', item)).text).toBe('x')
})

test('an id with invalid characters is refused', async () => {
  const before = await listed()
  const answer = await waypost.nacos.post(namespaces, { customNamespaceId: 'a b', namespaceName: 'n' })
  expect([200, 400]).toContain(answer.status)
  expect(answer.text).not.toBe('true')
  expect(await listed()).toEqual(before)
})
