import { describe, expect, test } from 'vitest'
import { hostsOf, serverForThisFile, sleep, unique, type Json, type Params } from './client.ts'
import { expectProblem } from './problem.ts'

const waypost = serverForThisFile({
  settings: {
    'svc.naming.clean.expired-metadata.expired-time': 1_500,
    'svc.naming.clean.expired-metadata.interval': 200,
  },
})
const instance = '/ns/instance'
const batch = '/ns/instance/metadata/batch'

async function registered(extra: Params = {}) {
  const key = { serviceName: unique('svc'), ip: '127.0.0.1', port: 80, ...extra }
  expect((await waypost.svc.post(instance, key)).text).toBe('ok')
  return { serviceName: String(key.serviceName), ip: String(key.ip), port: Number(key.port) }
}

/** Three instances of one service: 1 and 2 ephemeral, 3 persistent, each with the metadata own=yes. */
async function threeInstances(): Promise<string> {
  const serviceName = unique('svc')
  for (const port of [1, 2, 3])
    await registered({ serviceName, port, ephemeral: port < 3, metadata: 'own=yes' })
  return serviceName
}

async function metadataByPort(serviceName: string): Promise<Record<number, Json>> {
  const hosts = await hostsOf(waypost.svc, { serviceName })
  return Object.fromEntries(hosts.map((host) => [host.port, host.metadata]))
}

async function update(method: 'PUT' | 'DELETE', serviceName: string, form: Params): Promise<string[]> {
  const full = { namespaceId: 'public', serviceName: `DEFAULT_GROUP@@${serviceName}`, ...form }
  const answer = await waypost.svc.call(method, batch, { form: full })
  expect(answer.status, answer.text).toBe(200)
  expect(Object.keys(answer.json())).toEqual(['updated'])
  return answer.json().updated.sort()
}

describe('remembered metadata', () => {
  test('they apply again when the instance returns in time, and weight and enabled do not', async () => {
    const key = await registered({ metadata: 'a=1' })
    await waypost.svc.put(instance, { ...key, metadata: '{"k":"remembered"}', weight: 9, enabled: false })
    await waypost.svc.delete(instance, key)
    await registered({ ...key, metadata: 'a=2' })
    expect(await hostsOf(waypost.svc, key)).toMatchObject([
      { metadata: { a: '2', k: 'remembered' }, weight: 1, enabled: true },
    ])
  })

  test.concurrent('after the expired-time they are forgotten', async () => {
    const key = await registered()
    await waypost.svc.put(instance, { ...key, metadata: '{"k":"remembered"}' })
    await waypost.svc.delete(instance, key)
    await sleep(6_000)
    await registered(key)
    expect((await metadataByPort(key.serviceName))[80]).toEqual({})
  })
})

describe('the batch update', () => {
  test('consistencyType ephemeral affects all ephemeral instances', async () => {
    const serviceName = await threeInstances()
    const updated = await update('PUT', serviceName, { consistencyType: 'ephemeral', metadata: '{"k":"v"}' })
    expect(updated).toEqual([
      '127.0.0.1:1:unknown:DEFAULT:ephemeral',
      '127.0.0.1:2:unknown:DEFAULT:ephemeral',
    ])
    const changed = { own: 'yes', k: 'v' }
    expect(await metadataByPort(serviceName)).toEqual({ 1: changed, 2: changed, 3: { own: 'yes' } })
  })

  test('consistencyType persist affects all persistent instances, independent of instances', async () => {
    const serviceName = await threeInstances()
    const instances = '[{"ip":"127.0.0.1","port":"1","ephemeral":"true","clusterName":"DEFAULT"}]'
    const form = { consistencyType: 'persist', metadata: '{"k":"v"}', instances }
    expect(await update('PUT', serviceName, form)).toEqual(['127.0.0.1:3:unknown:DEFAULT:persist'])
    expect((await metadataByPort(serviceName))[1]).toEqual({ own: 'yes' })
  })

  test('instances are found by ip, port, kind and cluster, and unknown ones are skipped', async () => {
    const serviceName = await threeInstances()
    await registered({ serviceName, port: 4, clusterName: 'c4' })
    const instances = JSON.stringify([
      { ip: '127.0.0.1', port: '1', ephemeral: 'true', clusterName: 'DEFAULT' },
      { ip: '127.0.0.1', port: 2 },
      { ip: '127.0.0.1', port: 3, ephemeral: false },
      { ip: '127.0.0.1', port: 4, clusterName: 'c4' },
      { ip: '127.0.0.1', port: 3, ephemeral: true },
      { ip: '127.9.9.9', port: 1 },
    ])
    expect(await update('PUT', serviceName, { instances, metadata: '{"k":"v"}' })).toEqual([
      '127.0.0.1:1:unknown:DEFAULT:ephemeral',
      '127.0.0.1:2:unknown:DEFAULT:ephemeral',
      '127.0.0.1:3:unknown:DEFAULT:persist',
      '127.0.0.1:4:unknown:c4:ephemeral',
    ])
    for (const metadata of Object.values(await metadataByPort(serviceName))) expect(metadata.k).toBe('v')
  })

  test('other namespaces are not affected', async () => {
    const serviceName = unique('svc')
    await registered({ serviceName, namespaceId: 'blue' })
    const form = { consistencyType: 'ephemeral', metadata: '{"k":"v"}' }
    expect(await update('PUT', serviceName, form)).toEqual([])
    expect(await update('PUT', serviceName, { ...form, namespaceId: 'blue' })).toHaveLength(1)
  })
})

test('batch metadata on /nacos needs no namespaceId', async () => {
  const { serviceName } = await registered()
  const form = { serviceName, consistencyType: 'ephemeral', metadata: '{"k":"v"}' }
  const answer = await waypost.nacos.call('PUT', batch, { form })
  expect(answer.json()).toEqual({ updated: ['127.0.0.1:80:unknown:DEFAULT:ephemeral'] })
})

describe('the batch delete', () => {
  test('it removes registered and written keys', async () => {
    const serviceName = await threeInstances()
    await update('PUT', serviceName, { consistencyType: 'ephemeral', metadata: '{"k":"v","l":"w"}' })
    const form = { consistencyType: 'ephemeral', metadata: '{"own":"","k":"whatever"}' }
    expect(await update('DELETE', serviceName, form)).toHaveLength(2)
    expect(await metadataByPort(serviceName)).toEqual({ 1: { l: 'w' }, 2: { l: 'w' }, 3: { own: 'yes' } })
  })
})

describe('a batch that cannot be parsed is a 400 and changes nothing', () => {
  const good = { namespaceId: 'public', consistencyType: 'ephemeral', metadata: '{"k":"v"}' }
  const wrong: [string, Params][] = [
    ['namespaceId', { ...good, namespaceId: undefined }],
    ['serviceName', { ...good, serviceName: undefined }],
    ['metadata', { ...good, metadata: undefined }],
    ['metadata', { ...good, metadata: '{"k":' }],
    ['metadata', { ...good, metadata: '[1]' }],
    ['instances', { ...good, consistencyType: undefined, instances: '[{' }],
    ['instances', { ...good, consistencyType: undefined, instances: '{"ip":1}' }],
  ]
  test.each(wrong)('%s in %j', async (name, form) => {
    const serviceName = await threeInstances()
    const full = { serviceName: `DEFAULT_GROUP@@${serviceName}`, ...form }
    for (const method of ['PUT', 'DELETE'])
      expectProblem(await waypost.svc.call(method, batch, { form: full }), 400, name)
    for (const metadata of Object.values(await metadataByPort(serviceName)))
      expect(metadata).toEqual({ own: 'yes' })
  })
})
