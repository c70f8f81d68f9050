import { describe, expect, test } from 'vitest'
import { hostsOf, serverForThisFile, unique, type Json, type Params } from './client.ts'
import { expectProblem } from './problem.ts'

const waypost = serverForThisFile()
const instance = '/ns/instance'

/** Registers one instance, by default 127.0.0.1:80 of a new service, and gives what identifies it. */
async function registered(extra: Params = {}) {
  const key = { serviceName: unique('svc'), ip: '127.0.0.1', port: 80, ...extra }
  const answer = await waypost.svc.post(instance, key)
  expect(answer, answer.text).toMatchObject({ status: 200, text: 'ok' })
  return { serviceName: String(key.serviceName), ip: String(key.ip), port: Number(key.port) }
}

const hosts = (query: Params): Promise<Json[]> => hostsOf(waypost.svc, query)

describe('the detail of an instance', () => {
  test('has all fields', async () => {
    const key = await registered({ weight: 2, metadata: 'a=1' })
    const answer = (await waypost.svc.get(instance, key)).json()
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
    expect((await waypost.svc.get(instance, { ...key, [name]: 'c9' })).json().clusterName).toBe('c9')
    expectProblem(await waypost.svc.get(instance, { ...key, [name]: 'c8' }), 404)
  })

  test('an instance that is not there is a 404', async () => {
    const key = await registered()
    expectProblem(await waypost.svc.get(instance, { ...key, port: 81 }), 404)
    expectProblem(await waypost.svc.get(instance, { ...key, serviceName: unique('unknown') }), 404)
  })
})

describe('modifying', () => {
  test('a change of one value keeps the rest', async () => {
    const key = await registered({ weight: 3, metadata: '{"a":"1","b":"2"}' })
    expect(await waypost.svc.put(instance, { ...key, weight: 7 })).toMatchObject({ status: 200, text: 'ok' })
    expect(await hosts(key)).toMatchObject([{ weight: 7, enabled: true, metadata: { a: '1', b: '2' } }])
  })

  test('metadata is merged by key', async () => {
    const key = await registered({ weight: 3, metadata: '{"a":"1","b":"2"}' })
    await waypost.svc.put(instance, { ...key, metadata: '{"b":"3","c":"4"}' })
    expect(await hosts(key)).toMatchObject([{ weight: 3, metadata: { a: '1', b: '3', c: '4' } }])
  })

  test('disabling takes an instance off the list, and enabling brings it back', async () => {
    const key = await registered({ weight: 5 })
    await waypost.svc.put(instance, { ...key, enabled: false })
    expect(await hosts(key)).toEqual([])
    await waypost.svc.put(instance, { ...key, enabled: true })
    expect(await hosts(key)).toMatchObject([{ weight: 5, enabled: true }])
  })

  test('without ephemeral it matches a persistent instance, and with the other kind it does not', async () => {
    const key = await registered({ ephemeral: false })
    expect((await waypost.svc.put(instance, { ...key, weight: 4 })).text).toBe('ok')
    expect(await hosts(key)).toMatchObject([{ weight: 4, ephemeral: false }])
    expectProblem(await waypost.svc.put(instance, { ...key, weight: 9, ephemeral: true }), 404)
    expect(await hosts(key)).toMatchObject([{ weight: 4 }])
  })

  test('an unknown instance is a 404 and is not created', async () => {
    const key = await registered()
    expectProblem(await waypost.svc.put(instance, { ...key, port: 81, weight: 2 }), 404)
    const serviceName = unique('unknown')
    expectProblem(await waypost.svc.put(instance, { ...key, serviceName, weight: 2 }), 404)
    expect(await hosts({ serviceName })).toEqual([])
    expect(await hosts(key)).toHaveLength(1)
  })
})

describe('deregistering', () => {
  test('it answers ok, for known and unknown instances, and the instance is gone', async () => {
    const key = await registered()
    expect(await waypost.svc.delete(instance, key)).toMatchObject({ status: 200, text: 'ok' })
    expect(await hosts(key)).toEqual([])
    expect(await waypost.svc.delete(instance, key)).toMatchObject({ status: 200, text: 'ok' })
    const unknown = { ...key, serviceName: unique('unknown') }
    expect(await waypost.svc.delete(instance, unknown)).toMatchObject({ status: 200, text: 'ok' })
  })

  test('only the named cluster is affected', async () => {
    const key = await registered({ clusterName: 'c1' })
    await registered({ ...key, clusterName: 'DEFAULT' })
    await waypost.svc.delete(instance, { ...key, clusterName: 'c1' })
    expect(await hosts(key)).toMatchObject([{ clusterName: 'DEFAULT' }])
    await registered({ ...key, clusterName: 'c1' })
    await waypost.svc.delete(instance, key)
    expect(await hosts(key)).toMatchObject([{ clusterName: 'c1' }])
  })

  test('without ephemeral it matches a persistent instance', async () => {
    const key = await registered({ ephemeral: false })
    await waypost.svc.delete(instance, key)
    expect(await hosts(key)).toEqual([])
  })

  test('with the other kind it removes nothing', async () => {
    const key = await registered({ ephemeral: false })
    expect((await waypost.svc.delete(instance, { ...key, ephemeral: true })).text).toBe('ok')
    expect(await hosts(key)).toHaveLength(1)
  })
})
