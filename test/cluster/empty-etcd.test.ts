/** An etcd whose data are gone, for servers that have seen them (docs/decisions/0071). */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { EtcdClient } from '@waypost/etcd-client/etcd-client'
import { prefixEnd } from '@waypost/etcd-client/range-end'
import { instanceOf } from '../grpc/naming-fixture.ts'
import { clientsOf, type Json } from '../interface/client.ts'
import { type Cluster, startCluster } from '../support/cluster.ts'
import { describeOnEtcd, ETCD_HOOK_MS } from '../support/etcd.ts'
import { clientOf } from '../support/etcd-client.ts'
import { connectGrpc, type GrpcClient } from '../support/grpc-client.ts'
import { runWaypost, startWaypost, temporaryDirectory, type Waypost } from '../support/waypost.ts'

const WAIT = { timeout: 60_000 }
const PREFIX = 'cluster-test/'
const REASON = 'etcd has lost the data of this installation'

let cluster: Cluster
let etcd: EtcdClient
let grpc: GrpcClient | undefined

const http = (server: Waypost) => clientsOf(server.url)

async function begin(): Promise<void> {
  cluster = await startCluster({ servers: 2, etcdMembers: 3 })
  etcd = clientOf(cluster.etcd)
  const [one] = cluster.servers
  const published = await http(one!).nacos.post('/cs/configs', { dataId: 'a', group: 'G', content: 'x' })
  expect([published.status, published.text]).toEqual([200, 'true'])
  const instance = { serviceName: 'orders', ip: '10.0.0.1', port: 80 }
  const registered = await http(one!).nacos.post('/ns/instance', { ...instance, ephemeral: false })
  expect([registered.status, registered.text]).toEqual([200, 'ok'])
  grpc = await connectGrpc(one!)
}

/** All servers have the data, and the installation has its name. */
async function isShared(): Promise<void> {
  for (const server of cluster.servers) await expect.poll(() => answersOf(server), WAIT).toEqual(['x', [80]])
  await expect.poll(() => isThere('k/installation'), WAIT).toBe(true)
}

async function end(): Promise<void> {
  await grpc?.close()
  grpc = undefined
  etcd?.close()
  await cluster?.stop()
}

/** The content and the ports that clients get. */
async function answersOf(server: Waypost): Promise<[string, number[]]> {
  const content = await http(server).nacos.get('/cs/configs', { dataId: 'a', group: 'G' })
  const list = await http(server).nacos.get('/ns/instance/list', { serviceName: 'orders' })
  return [content.text, (list.json() as { hosts: { port: number }[] }).hosts.map(({ port }) => port)]
}

async function keysLeft(): Promise<string[]> {
  const { kvs } = await etcd.range({ key: PREFIX, end: prefixEnd(PREFIX), keysOnly: true })
  return kvs.map(({ key }) => key.slice(PREFIX.length))
}

async function isThere(key: string): Promise<boolean> {
  return (await etcd.range({ key: PREFIX + key })).kvs.length > 0
}

async function warningsOf(server: Waypost): Promise<{ status: number; codes: string[] }> {
  const ready = await fetch(`${server.url}/readyz`)
  const body = (await ready.json()) as { warnings?: { code: string }[] }
  return { status: ready.status, codes: (body.warnings ?? []).map(({ code }) => code) }
}

async function deleteAll(): Promise<void> {
  const success = [{ do: 'delete', key: PREFIX, end: prefixEnd(PREFIX) } as const]
  await etcd.txn({ compare: [], success })
}

async function loseAll(): Promise<void> {
  const { members } = cluster.etcd
  for (const member of members) await member.lose()
  await Promise.all(members.map((member) => member.restart()))
}

/** All servers know that their data are missing. */
async function noticed(): Promise<void> {
  for (const server of cluster.servers)
    await expect
      .poll(() => warningsOf(server), WAIT)
      .toMatchObject({ status: 200, codes: expect.arrayContaining(['store-empty']) as string[] })
  await expect.poll(keysLeft, WAIT).toEqual(['k/store-empty'])
}

/** Each way to change something, by each door, with its answer. */
const CHANGES: [door: string, change: (server: Waypost) => Promise<{ status: number; text: string }>][] = [
  ['v1', (server) => http(server).nacos.post('/cs/configs', { dataId: 'a', group: 'G', content: 'y' })],
  [
    'v1, the same content',
    (server) => http(server).nacos.post('/cs/configs', { dataId: 'a', group: 'G', content: 'x' }),
  ],
  ['v1, a removal', (server) => http(server).nacos.delete('/cs/configs', { dataId: 'a', group: 'G' })],
  [
    'v1, a registration',
    (server) => http(server).nacos.post('/ns/instance', { serviceName: 'orders', ip: '10.0.0.1', port: 81 }),
  ],
  [
    'v1, a persistent one',
    (server) =>
      http(server).nacos.post('/ns/instance', {
        serviceName: 'orders',
        ip: '10.0.0.1',
        port: 82,
        ephemeral: false,
      }),
  ],
  [
    'v1, a namespace',
    (server) =>
      http(server).nacos.post('/console/namespaces', { namespaceName: 'n', customNamespaceId: 'n' }),
  ],
  ['svc', (server) => http(server).svc.post('/cs/configs', { dataId: 'a', group: 'G', content: 'y' })],
  [
    'svc, a registration',
    (server) => http(server).svc.post('/ns/instance', { serviceName: 'orders', ip: '10.0.0.1', port: 83 }),
  ],
  [
    'svc, history',
    (server) => http(server).svc.get('/cs/history', { search: 'accurate', dataId: 'a', group: 'G' }),
  ],
  ['v2', (server) => posted(`${server.url}/nacos/v2/cs/config`, { dataId: 'a', group: 'G', content: 'y' })],
  [
    'v3',
    (server) =>
      posted(`${server.url}/nacos/v3/admin/cs/config`, { dataId: 'a', groupName: 'G', content: 'y' }),
  ],
  ['gRPC', () => asked('ConfigPublishRequest', { dataId: 'a', group: 'G', content: 'y' })],
  [
    'gRPC, a registration',
    () =>
      asked('InstanceRequest', {
        namespace: 'public',
        groupName: 'DEFAULT_GROUP',
        serviceName: 'other',
        type: 'registerInstance',
        instance: instanceOf({ port: 84 }),
      }),
  ],
]

async function posted(
  url: string,
  fields: Record<string, string>,
): Promise<{ status: number; text: string }> {
  const answer = await fetch(url, { method: 'POST', body: new URLSearchParams(fields) })
  return { status: answer.status, text: await answer.text() }
}

async function asked(type: string, body: Json): Promise<{ status: number; text: string }> {
  const { body: answer, text } = await grpc!.ask(type, body)
  return { status: Number(answer['resultCode']), text }
}

/** Everything is answered from memory, every change is refused with the reason, and nothing is written. */
async function isHeld(): Promise<void> {
  for (const server of cluster.servers) {
    expect(await answersOf(server)).toEqual(['x', [80]])
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
  }
  for (const [door, change] of CHANGES) {
    const { status, text } = await change(cluster.servers[0]!)
    expect([door, status >= 500, text]).toEqual([door, true, expect.stringContaining(REASON)])
  }
  expect(await keysLeft()).toEqual(['k/store-empty'])
  for (const server of cluster.servers) {
    const fatal = server
      .output()
      .split('\n')
      .filter((line) => line.includes('"level":60') || line.includes('FATAL'))
    expect(fatal).toHaveLength(1)
    for (const way of ['data directory', 'waypost restore', 'waypost confirm-empty'])
      expect(fatal[0]).toContain(way)
  }
}

async function areChanging(): Promise<void> {
  for (const [index, server] of cluster.servers.entries())
    await expect
      .poll(async () => {
        const item = { dataId: `new-${index}`, group: 'G', content: 'x' }
        return (await http(server).nacos.post('/cs/configs', item)).text
      }, WAIT)
      .toBe('true')
  for (const server of cluster.servers)
    await expect.poll(async () => (await warningsOf(server)).codes, WAIT).toEqual([])
}

describeOnEtcd('an etcd that comes back empty', 240_000, () => {
  beforeAll(begin, ETCD_HOOK_MS)
  afterAll(end)

  test('with one member of three that has lost its data, nothing is missing', async () => {
    await isShared()
    const [, , third] = cluster.etcd.members
    await third!.lose()
    // etcd itself decides whether such a member may run.
    await third!.restart().catch(() => undefined)
    for (const server of cluster.servers) expect(await answersOf(server)).toEqual(['x', [80]])
    await areChanging()
    await third!.kill()
  })

  test('is not believed: all is answered from memory, and changes are refused on every door', async () => {
    await loseAll()
    await noticed()
    await isHeld()
  })

  test('a server that starts meanwhile begins nothing there, and names the ways out', async () => {
    await expect(cluster.join()).rejects.toThrow(/has seen data here, and misses them.*confirm-empty/s)
    const tool = await runWaypost(['user', 'add', 'ann', '--first', ...cluster.flags], {}, 30_000)
    expect(tool.code).not.toBe(0)
    const doctor = await runWaypost(['doctor', '--store', 'etcd', ...cluster.flags])
    expect([doctor.code, doctor.stdout + doctor.stderr]).toEqual([1, expect.stringContaining('misses them')])
    expect(await keysLeft()).toEqual(['k/store-empty'])
  })

  test('the command confirms it to all servers', async () => {
    const confirm = ['confirm-empty', ...cluster.flags]
    expect(await runWaypost(confirm)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('nothing') as string,
    })
    for (const server of cluster.servers)
      await expect.poll(async () => (await answersOf(server))[1], WAIT).toEqual([])
    await areChanging()
    const again = await runWaypost(confirm)
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('nothing is confirmed')])
    for (const server of cluster.servers) expect(server.output()).toMatch(/everything was loaded again/)
    await cluster.join()
  })
})

describeOnEtcd('a prefix that is deleted', 240_000, () => {
  beforeAll(begin, ETCD_HOOK_MS)
  afterAll(end)

  test('is not believed, also when the notice is deleted too', async () => {
    await isShared()
    await deleteAll()
    await noticed()
    await isHeld()
    await deleteAll()
    await expect.poll(keysLeft, WAIT).toEqual(['k/store-empty'])
  })

  test('a restored backup is taken once it is whole', async () => {
    const directory = temporaryDirectory('of-another-')
    const other = await startWaypost({ dataDir: `${directory}/data` })
    await http(other).nacos.post('/cs/configs', { dataId: 'a', group: 'G', content: 'restored' })
    await other.stop()
    const backup = await runWaypost([
      'backup',
      '--data-dir',
      `${directory}/data`,
      '--to',
      `${directory}/backup`,
    ])
    expect([backup.code, backup.stderr]).toEqual([0, ''])
    const restored = await runWaypost(
      ['restore', '--from', `${directory}/backup`, ...cluster.flags],
      {},
      60_000,
    )
    expect([restored.code, restored.stderr]).toEqual([0, ''])
    for (const server of cluster.servers)
      await expect.poll(() => answersOf(server), WAIT).toEqual(['restored', []])
    await areChanging()
    expect(await isThere('k/store-empty')).toBe(false)
    await cluster.join()
  })
})

describeOnEtcd('a key that every installation has', 240_000, () => {
  beforeAll(begin, ETCD_HOOK_MS)
  afterAll(end)

  const valueOf = async (key: string): Promise<string> =>
    Buffer.from((await etcd.range({ key: PREFIX + key })).kvs[0]?.value ?? []).toString()
  const doctor = () => runWaypost(['doctor', '--store', 'etcd', ...cluster.flags])

  test.each<[name: string, keyOf: () => string, isSame: boolean]>([
    ['the name of the installation', () => 'k/installation', true],
    ['the secret of the servers', () => 'k/peer-secret', true],
    ['the number of a server', () => `b/127.0.0.1:${cluster.servers[0]!.port}`, false],
  ])('%s is written again by the servers, and said', async (_, keyOf, isSame) => {
    await isShared()
    const key = keyOf()
    const before = await valueOf(key)
    await etcd.txn({ compare: [], success: [{ do: 'delete', key: PREFIX + key }] })
    await areChanging()
    await expect
      .poll(() => valueOf(key), WAIT)
      .toEqual(isSame ? before : expect.stringContaining('"process"'))
    const said = () => cluster.servers.map((server) => server.output()).join('')
    await expect.poll(said, WAIT).toContain(key.slice(2))
    expect(said()).toMatch(/written again/)
    for (const server of cluster.servers) expect(await answersOf(server)).toEqual(['x', [80]])
    await cluster.join()
  })

  test('the doctor names what is missing', async () => {
    for (const server of cluster.servers) process.kill(server.pid, 'SIGSTOP')
    try {
      const sound = await doctor()
      expect([sound.code, sound.stdout]).toEqual([0, expect.stringContaining('The store is sound')])
      const missing = ['k/peer-secret', 'k/installation', `b/127.0.0.1:${cluster.servers[0]!.port}`]
      const success = missing.map((key) => ({ do: 'delete', key: PREFIX + key }) as const)
      await etcd.txn({ compare: [], success })
      const found = await doctor()
      expect(found.code).toBe(1)
      for (const key of missing) expect(found.stdout).toContain(PREFIX + key)
      await etcd.txn({ compare: [], success: [{ do: 'delete', key: `${PREFIX}format` }] })
      const without = await doctor()
      expect([without.code, without.stdout + without.stderr]).toEqual([
        1,
        expect.stringContaining(`${PREFIX}format of etcd is missing`),
      ])
    } finally {
      for (const server of cluster.servers) process.kill(server.pid, 'SIGCONT')
    }
  })
})
