/** A request that names no cluster means the instance that is there, if one cluster alone has it. */
import { expect, test } from 'vitest'
import { Client, type Json, type Params, type Reply, serverForThisFile, unique } from './client.ts'

const WHERE = { ip: '10.5.3.1', port: 80 }

const waypost = serverForThisFile()
const at = (prefix: string): Client => new Client(`${waypost.server.url}${prefix}`)

/** A request without a cluster, and its effect on the instance that is there. */
interface Row {
  readonly ask: (named: Params) => Promise<Reply>
  readonly seen: (host: Json) => unknown
  readonly effect: unknown
  readonly service?: Params
}

const weightOf = (host: Json) => host?.weight
const zoneOf = (host: Json) => host?.metadata.zone
const locators = JSON.stringify([{ ...WHERE, ephemeral: true }])
const metadata = JSON.stringify({ zone: 'b' })

const svc = '/svc/v1/ns'
const [v1, v2, v3] = ['/nacos/v1/ns', '/nacos/v2/ns', '/nacos/v3/client/ns']

const ROWS: Readonly<Record<string, Row>> = {}
const rows = ROWS as Record<string, Row>
for (const prefix of [svc, v1, v2]) {
  const call = (path: string, more: Params) => (named: Params) =>
    at(prefix).put(path, { ...named, ...WHERE, ...more })
  rows[`PUT ${prefix}`] = { ask: call('/instance', { weight: 2 }), seen: weightOf, effect: 2 }
  rows[`PUT ${prefix}, an empty cluster`] = {
    ask: call('/instance', { weight: 2, clusterName: '' }),
    seen: weightOf,
    effect: 2,
  }
  rows[`batch of metadata ${prefix}`] = {
    ask: (named) =>
      at(prefix).put('/instance/metadata/batch', {
        namespaceId: '',
        ...named,
        instances: locators,
        metadata,
      }),
    seen: zoneOf,
    effect: 'b',
  }
  rows[`health ${prefix}`] = {
    ask: call('/health/instance', { healthy: false }),
    seen: (host) => host?.healthy,
    effect: false,
    service: { checker: 'NONE' },
  }
}
rows[`batch ${svc}`] = {
  ask: (named) => at(svc).put('/instance/batch', { ...named, instances: locators, weight: 2 }),
  seen: weightOf,
  effect: 2,
}
rows[`PATCH ${v1}`] = {
  ask: (named) => at(v1).call('PATCH', '/instance', { form: { ...named, ...WHERE, weight: 2 } }),
  seen: weightOf,
  effect: 2,
}
for (const prefix of [svc, v1, v2, v3])
  rows[`DELETE ${prefix}`] = {
    ask: (named) => at(prefix).delete('/instance', { ...named, ...WHERE }),
    seen: (host) => host,
    effect: undefined,
  }

const register = (serviceName: string, clusterName: string) =>
  waypost.nacos.post('/ns/instance', { serviceName, clusterName, ...WHERE })

async function hostsOf(serviceName: string): Promise<Json[]> {
  return (await waypost.nacos.get('/ns/instance/list', { serviceName })).json().hosts
}

async function serviceOf({ service }: Row): Promise<string> {
  const serviceName = unique('svc')
  await register(serviceName, 'c1')
  if (service === undefined) return serviceName
  const healthChecker = JSON.stringify({ type: 'NONE' })
  for (const clusterName of ['c1', 'c2', 'DEFAULT'])
    await waypost.nacos.put('/ns/cluster', {
      serviceName,
      clusterName,
      checkPort: 80,
      useInstancePort4Check: true,
      healthChecker,
    })
  return serviceName
}

const names = Object.keys(ROWS)

test.each(names)('%s means the one that is there', async (name) => {
  const row = ROWS[name]!
  const serviceName = await serviceOf(row)
  expect((await row.ask({ serviceName })).status).toBe(200)
  const hosts = await hostsOf(serviceName)
  expect(hosts.length).toBeLessThan(2)
  expect(row.seen(hosts[0])).toEqual(row.effect)
})

test.each(names)('%s is refused under /svc, with the clusters, where several have it', async (name) => {
  const row = ROWS[name]!
  const serviceName = await serviceOf(row)
  await register(serviceName, 'c2')
  const before = await hostsOf(serviceName)
  const answer = await row.ask({ serviceName })
  const others = (await hostsOf(serviceName)).filter(({ clusterName }) => clusterName !== 'DEFAULT')
  expect(others).toEqual(before)
  if (!name.includes(svc)) return
  expect(answer.status).toBe(400)
  expect(answer.text).toContain('c1, c2')
})

test('a batch of many changes nothing where one of them is in several clusters', async () => {
  const serviceName = unique('svc')
  const ports = Array.from({ length: 66 }, (_, index) => 100 + index)
  for (const port of ports) await waypost.nacos.post('/ns/instance', { serviceName, ...WHERE, port })
  const last = { serviceName, ...WHERE, port: ports.at(-1) }
  await waypost.nacos.post('/ns/instance', { ...last, clusterName: 'c1' })
  const instances = JSON.stringify(ports.map((port) => ({ ...WHERE, port, ephemeral: true })))
  const answer = await at(svc).put('/instance/batch', { serviceName, instances, weight: 2 })
  expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('DEFAULT, c1')])
  expect((await hostsOf(serviceName)).filter(({ weight }) => weight !== 1)).toEqual([])
})

test('the detail without a cluster is of the instance that is there', async () => {
  const serviceName = unique('svc')
  await register(serviceName, 'c1')
  for (const prefix of [svc, v1, v2]) {
    const answer = (await at(prefix).get('/instance', { serviceName, ...WHERE })).json()
    expect((answer.data ?? answer).clusterName).toBe('c1')
  }
  await register(serviceName, 'c2')
  const refused = await at(svc).get('/instance', { serviceName, ...WHERE })
  expect([refused.status, refused.text.includes('c1, c2')]).toEqual([400, true])
  for (const prefix of [v1, v2])
    expect((await at(prefix).get('/instance', { serviceName, ...WHERE })).status).not.toBe(200)
})

test('a cluster that is named is meant, and no cluster has no instance of another kind', async () => {
  const serviceName = unique('svc')
  await register(serviceName, 'c1')
  for (const more of [{ clusterName: 'DEFAULT' }, { ephemeral: false }])
    expect((await at(svc).delete('/instance', { serviceName, ...WHERE, ...more })).text).toBe('ok')
  expect(await hostsOf(serviceName)).toMatchObject([{ clusterName: 'c1' }])
})

test('the timeline and the audit name the cluster that was found', async () => {
  const serviceName = unique('svc')
  await register(serviceName, 'c1')
  await waypost.svc.put('/ns/instance', { serviceName, ...WHERE, weight: 2 })
  const timeline = (await waypost.svc.get('/console/timeline', { serviceName })).json()
  expect(timeline.entries).toContainEqual(
    expect.objectContaining({ kind: 'weight', cause: 'operator', clusterName: 'c1' }),
  )
  await expect
    .poll(async () => (await waypost.svc.get('/audit', { search: serviceName })).text, { timeout: 20_000 })
    .toContain(`${WHERE.ip}:${WHERE.port}@c1`)
})
