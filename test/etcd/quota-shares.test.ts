/** The part of etcd's quota that each kind of keys takes (src/store/etcd/space/quota-shares.ts). */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { address, registration } from '../../src/core/core.test-support.ts'
import { deregisterInstance } from '../../src/core/naming/commands/instance-commands.ts'
import { configKey } from '../../src/core/config/state/config-item.ts'
import { describeOnEtcd, ETCD_HOOK_MS, startEtcd, type Etcd } from '../support/etcd.ts'
import { publish, register, startStoreServer, type StoreServer } from './store-server.ts'

const MIB = 1024 * 1024
const QUOTA = 1024 * MIB

let etcd: Etcd
let one: StoreServer
let two: StoreServer

async function sharesAt({ store, client }: StoreServer) {
  const [member] = await client.status()
  if (member === undefined || 'error' in member) throw new Error('etcd does not answer')
  return { member, shares: await store.quotaShares({ ...member, quotaBytes: QUOTA }) }
}

describeOnEtcd('the parts of the quota', 90_000, () => {
  beforeAll(async () => {
    etcd = await startEtcd()
    const place = { endpoints: etcd.endpoints, prefix: 'shares' }
    one = await startStoreServer(place, 1)
    for (let n = 0; n < 40; n++)
      await one.engine.execute(
        publish(`${n}`.padEnd(50_000, 'x'), { key: configKey('public', 'G', `item-${n}`), md5: `${n}` }),
      )
    await one.engine.execute(
      publish('y'.repeat(3 * MIB), { key: configKey('public', 'G', 'large'), md5: 'large' }),
    )
    for (let port = 1; port <= 50; port++) await one.engine.execute(register(port))
    two = await startStoreServer(place, 2)
  }, ETCD_HOOK_MS)
  afterAll(async () => {
    await Promise.all([one, two].map((server) => server?.stop()))
    await etcd?.stop()
  })

  test('are what was written, and together what the file has', async () => {
    const { member, shares } = await sharesAt(one)
    const bytes = (kind: keyof typeof shares): number => shares[kind] * QUOTA
    expect(bytes('configs') / (40 * 50_000)).toBeGreaterThan(0.9)
    expect(bytes('configs') / (40 * 50_000)).toBeLessThan(1.1)
    expect(bytes('history') / (40 * 50_000)).toBeGreaterThan(0.9)
    expect(bytes('history') / (40 * 50_000)).toBeLessThan(1.1)
    expect(bytes('large-contents') / (3 * MIB)).toBeGreaterThan(0.7)
    expect(bytes('large-contents') / (3 * MIB)).toBeLessThan(1.1)
    expect(bytes('instances')).toBeGreaterThan(50 * 100)
    const sum = Object.values(shares).reduce((all, each) => all + each, 0) * QUOTA
    expect(sum / member.sizeBytes).toBeGreaterThan(0.95)
    expect(sum / member.sizeBytes).toBeLessThan(1.2)
  })

  test('are the same on a server that has followed and on one that has loaded', async () => {
    const [a, b] = [(await sharesAt(one)).shares, (await sharesAt(two)).shares]
    for (const kind of ['configs', 'services', 'instances', 'history'] as const) expect(b[kind]).toBe(a[kind])
  })

  test('shrink with what is removed', async () => {
    const before = (await sharesAt(one)).shares.instances
    for (let port = 1; port <= 25; port++)
      await one.engine.execute(
        deregisterInstance({ ...registration(), address: address({ port }), ephemeral: true }),
      )
    const after = (await sharesAt(one)).shares.instances
    expect(after / before).toBeGreaterThan(0.4)
    expect(after / before).toBeLessThan(0.6)
  })
})
