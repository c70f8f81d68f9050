/** Values in etcd that no server has written: each costs itself, and is named. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/store/etcd/client/clock.ts'
import { connectTo } from '../../src/store/etcd/client/connection.ts'
import { EtcdClient } from '../../src/store/etcd/client/etcd-client.ts'
import { ETCD_HOOK_MS, type Etcd, etcdTools, startEtcd } from '../support/etcd.ts'
import { runWaypost } from '../support/waypost.ts'
import { publish, register, startStoreServer, type StoreServer } from './store-server.ts'

const note = etcdTools.skip ? ` (${etcdTools.reason})` : ''
const WAIT = { timeout: 30_000 }
/** The service that tests register at has this key. */
const SERVICE = 's/public/DEFAULT_GROUP@@orders'

let etcd: Etcd
let raw: EtcdClient
let prefixes = 0
const servers: StoreServer[] = []

async function start(prefix: string, port: number): Promise<StoreServer> {
  const server = await startStoreServer({ endpoints: etcd.endpoints, prefix }, port)
  servers.push(server)
  return server
}

async function put(key: string, value: string | Uint8Array): Promise<void> {
  await raw.txn({ compare: [], success: [{ do: 'put', key, value: Buffer.from(value) }] })
}

async function remove(key: string): Promise<void> {
  await raw.txn({ compare: [], success: [{ do: 'delete', key }] })
}

async function valueOf(key: string): Promise<Buffer> {
  return Buffer.from((await raw.range({ key })).kvs[0]!.value)
}

/** A running server with an item and an instance. */
async function newStore(): Promise<{ prefix: string; server: StoreServer }> {
  const prefix = `left-out-${prefixes++}`
  const server = await start(prefix, 1)
  await server.engine.execute(publish('sound'))
  await server.engine.execute(register(80))
  return { prefix, server }
}

const namesIn = ({ damaged }: StoreServer): string[] => damaged.map(({ key }) => key)

/** The server has the next change of another server. */
async function follows(server: StoreServer, other: StoreServer): Promise<void> {
  await other.engine.execute(register(1_000 + prefixes++))
  await expect.poll(() => server.ports().length, WAIT).toBe(other.ports().length)
}

describe.skipIf(etcdTools.skip)(`a value that no server has written${note}`, { timeout: 120_000 }, () => {
  beforeAll(async () => {
    etcd = await startEtcd()
    const { endpoints } = etcd
    const limits = { callMs: 20_000, attemptMs: 5_000 }
    const open = connectTo(systemClock)
    raw = new EtcdClient({ endpoints, clock: systemClock, random: Math.random, open, limits })
  }, ETCD_HOOK_MS)
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.stop()))
  })
  afterAll(async () => {
    raw?.close()
    await etcd?.stop()
  })

  test.each([
    [`i/public/DEFAULT_GROUP@@orders/10.1.1.1/80/DEFAULT`, '{"record":{}}'],
    [`i/public/DEFAULT_GROUP@@orders/10.1.1.2/abc/DEFAULT`, '{"record":{}}'],
    [`i/public/DEFAULT_GROUP@@ghost/10.1.1.1/80/DEFAULT`, 'an instance'],
    [SERVICE, '{"service":{}}'],
    ['s/public/DEFAULT_GROUP@@another', '{"service":{}}'],
    ['c/public/G/a', '{"facts":{}}\nx'],
    ['c/public/G/a', '{"facts":{}'],
    ['c/public/G/new', '{"facts":{}}\nx'],
    ['c/two/parts', 'x'],
    ['g/x/0', 'null'],
    ['g/x/0', '{"a":1}'],
    ['h/x/0', 'abc'],
    ['b/x', '1'],
    ['b/evil', '{"number":1,"process":"x","stamp":9007199254740991}'],
    ['p/x', '{}'],
    ['e', 'x'],
    ['r/namespace/x', 'hello'],
    ['r/user/x', '{"value":{},"stamp":1}'],
    ['r/user/x', '{"value":{"passwordHash":"x"},"stamp":9007199254740991}'],
    ['r/b/x', '{"value":{},"stamp":1}'],
    ['c/public/G/%0061', 'x'],
    ['a/0000000000000000/done/x', '{}'],
    ['v/abc', 'x'],
  ])('%s = %s ends no server, and is named by running servers, new ones and the doctor', async (name, text) => {
    const { prefix, server } = await newStore()
    const key = `${prefix}/${name}`
    const isInstance = text === 'an instance'
    const kept = `${prefix}/i/public/DEFAULT_GROUP@@orders/10.0.0.1/80/DEFAULT`
    await put(key, isInstance ? await valueOf(kept) : text)
    const isFollowed = !/^[hav]\//.test(name)
    if (isFollowed) await expect.poll(() => namesIn(server), WAIT).toContain(key)
    const later = await start(prefix, 2)
    if (isFollowed && !name.startsWith('g/')) expect(namesIn(later)).toContain(key)
    await follows(server, later)
    expect(await server.store.compare({ each: true })).toEqual([])
    const counts = { config: server.state.configs.size, service: server.state.services.size, instance: server.state.instancesInAll }
    expect(await server.store.compare({ counts })).toEqual([])
    const places = [`--etcd-endpoints=${etcd.endpoints.join(',')}`, `--etcd-prefix=${prefix}`]
    const doctor = await runWaypost(['doctor', '--store', 'etcd', ...places])
    expect([doctor.code, doctor.stdout]).toEqual([1, expect.stringContaining(isInstance ? '@@ghost' : key)])
    // Without the key all is as before.
    await remove(key)
    await expect.poll(() => server.store.damaged, WAIT).toEqual([])
    expect([server.failures, later.failures]).toEqual([[], []])
    await server.engine.execute(publish('another one'))
    await expect.poll(() => later.contentOf(), WAIT).toBe('another one')
  })
})
