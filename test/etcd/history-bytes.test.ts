/** The bytes of history on etcd (src/store/etcd/history/history-cut.ts). */
import { expect, test } from 'vitest'
import { deleteConfig } from '../../src/core/config/commands/publish-config.ts'
import { configKey } from '../../src/core/config/state/config-item.ts'
import { HistorySize } from '../../src/store/etcd/history/history-size.ts'
import { Keys } from '../../src/store/etcd/keys/keys.ts'
import { randomFrom } from '../faults/random.ts'
import { describeOnEtcd } from '../support/etcd.ts'
import { publish, type StoreServer } from './store-server.ts'
import { etcdForThisFile } from './etcd-of-file.ts'

const here = etcdForThisFile()
const KIB = 1024
const BY = { ip: '10.0.0.9', user: null }
const SEED = 27

async function startServer(port: number, limits: { maxBytes?: number; maxBytesOfItem?: number }) {
  const history = { maxBytes: Infinity, maxBytesOfItem: Infinity, ...limits }
  const server = await here.start(here.prefix, port, { history: () => history })
  await expect.poll(() => server.store.historyBytes).toBeDefined()
  return server
}

const keyOf = (dataId: string) => configKey('public', 'G', dataId)
let contents = 0

function put(server: StoreServer, dataId: string, kib: number) {
  const md5 = `${contents++}`
  return server.engine.execute(publish(md5.padEnd(kib * KIB, 'x'), { key: keyOf(dataId), md5 }))
}

async function recordsOf(server: StoreServer, dataId: string): Promise<number> {
  return (await server.store.reads('test').history([keyOf(dataId)], { pageNo: 1, pageSize: 100 })).totalCount
}

/** The bytes that are there, counted again. */
async function counted(server: StoreServer): Promise<number | undefined> {
  const size = new HistorySize(server.client, new Keys(`${here.prefix}/`))
  await size.begin((await server.client.range({ key: here.prefix })).revision)
  return size.total
}

describeOnEtcd('the bytes of history on etcd', 90_000, () => {
  test('the history of an item is cut with its publish, and its newest record stays', async () => {
    const server = await startServer(1, { maxBytesOfItem: 45 * KIB })
    for (let i = 0; i < 10; i++) await put(server, 'a', 10)
    expect(await recordsOf(server, 'a')).toBe(4)
    for (let i = 0; i < 3; i++) await put(server, 'a', 400)
    expect(await recordsOf(server, 'a')).toBe(1)
    const [entry] = (await server.store.reads('test').history([keyOf('a')], { pageNo: 1, pageSize: 1 }))
      .entries
    expect((await server.store.reads('test').historyRecord(entry!.id))?.content.length).toBe(400 * KIB)
    await expect.poll(() => server.store.historyBytes).toBe(await counted(server))
  })

  test('of all items the oldest records go first, and the newest of each stays', async () => {
    const server = await startServer(1, { maxBytes: 70 * KIB })
    for (const dataId of ['a', 'b', 'c']) await put(server, dataId, 10)
    for (let i = 0; i < 12; i++) await put(server, 'a', 10)
    expect([await recordsOf(server, 'b'), await recordsOf(server, 'c')]).toEqual([1, 1])
    expect(await recordsOf(server, 'a')).toBe(4)
    for (let i = 0; i < 2; i++) await put(server, 'b', 10)
    expect([await recordsOf(server, 'a'), await recordsOf(server, 'b')]).toEqual([3, 2])
    expect(await counted(server)).toBeLessThanOrEqual(70 * KIB)
  })

  test('with two servers, cleaning and restarts, each knows the bytes that are there', async () => {
    const random = randomFrom(SEED)
    const limits = { maxBytes: 150 * KIB, maxBytesOfItem: 50 * KIB }
    let both = [await startServer(1, limits), await startServer(2, limits)]
    for (let round = 0; round < 4; round++) {
      for (let i = 0; i < 40; i++) {
        const server = both[Math.floor(random() * 2)]!
        const dataId = `i${Math.floor(random() * 6)}`
        const roll = random()
        if (roll < 0.15) await server.engine.execute(deleteConfig(keyOf(dataId), BY))
        else if (roll < 0.25)
          await Promise.all(both.map((one, at) => put(one, `i${at}`, Math.floor(random() * 20))))
        else if (roll < 0.3) await server.store.cleanHistory({ beforeMs: Infinity, keep: 2, most: 3 })
        else await put(server, dataId, Math.floor(random() * 20))
      }
      const bytes = await counted(both[0]!)
      expect(bytes, `seed ${SEED}`).toBeLessThanOrEqual(150 * KIB)
      for (const { store } of both) await expect.poll(() => store.historyBytes).toBe(bytes)
      await both[1]!.stop()
      here.servers.splice(here.servers.indexOf(both[1]!), 1)
      both = [both[0]!, await startServer(2, limits)]
      expect(both[1]!.store.historyBytes).toBe(bytes)
    }
    for (let i = 0; i < 6; i++)
      if (both[0]!.state.config(keyOf(`i${i}`)) !== undefined)
        expect(await recordsOf(both[0]!, `i${i}`)).toBeGreaterThan(0)
  })
})
