import { expect, test } from 'vitest'
import { deleteConfig } from '../../src/core/config/delete-config.ts'
import { publishConfig } from '../../src/core/config/publish-config.ts'
import { deregisterInstance } from '../../src/core/naming/instance-commands.ts'
import { deleteService } from '../../src/core/naming/service-commands.ts'
import {
  commitAll,
  deepFrozen,
  deleted,
  instanceSaved,
  published,
  sampleInstance,
  sampleKey,
  sampleService,
  serviceKey,
  serviceSaved,
} from './samples.ts'
import { addressOf, serverOn, type ServerOnStore } from './server-on-store.ts'
import type { StoreBench } from './store-contract.ts'
import { NAMESPACE } from '../../src/core/namespaces/namespace.ts'
import { recordRemoved } from '../../src/core/records/record-kind.ts'

const DAY_MS = 86_400_000
const SHOP = serviceKey('shop')

/** One order of changes: revisions, stamps and what follows from them rise, over restarts and whatever the clock does. */
export function orderContract(bench: StoreBench): void {
  test('every commit has a later revision than those before it, over restarts too', async () => {
    let store = await bench.fresh()
    const revisions: number[] = []
    for (let round = 0; round < 3; round++) {
      revisions.push((await store.load()).revision)
      for (const name of ['a', 'b']) {
        revisions.push(await commitAll(store, published(sampleKey(`${name}-${round}`), { content: 'x' })))
      }
      revisions.push(await commitAll(store))
      revisions.push(await commitAll(store, recordRemoved(NAMESPACE, 'dev', 0)))
      const service = sampleService('shop', 1)
      revisions.push(
        await commitAll(store, serviceSaved(service), instanceSaved(service, sampleInstance(80))),
      )
      store = await bench.reopen(store)
    }
    const rising = revisions.every((revision, at) => at === 0 || revision > (revisions[at - 1] ?? 0))
    expect(rising, revisions.join(' ')).toBe(true)
  })

  test('a snapshot has the revision of the last commit, and no stamp of it is larger than the largest', async () => {
    let store = await bench.fresh()
    const change = published(sampleKey('a'), { content: 'x' })
    const revision = await commitAll(store, change)
    expect((await store.load()).revision).toBe(revision)
    store = await bench.reopen(store)
    expect((await store.load()).revision).toBeGreaterThanOrEqual(revision)
    expect((await store.load()).largestStamp).toBeGreaterThanOrEqual((change.item.historyId - 1) / 2)
  })

  test('a commit modifies no change, whether it is written or fails', async () => {
    const store = await bench.fresh()
    const one = published(sampleKey('a'), { content: 'one' })
    const two = published(sampleKey('a'), { content: 'two', previous: one.item })
    const changes = [one, two, deleted(two.item)].map(deepFrozen)
    const before = structuredClone(changes)
    await commitAll(store, ...changes)
    const bad = deepFrozen(published(sampleKey('bad'), { content: 'x', type: Number.NaN as never }))
    expect(await store.commit([[bad]])).toMatchObject({ kind: 'failed', group: 0 })
    expect(structuredClone(changes)).toEqual(before)
  })

  test('ids rise over restarts, also with a clock that went back by a day', async () => {
    let store = await bench.fresh()
    const ids: number[] = []
    for (const wallMs of [0, -DAY_MS, 1_000, -DAY_MS]) {
      const server = await serverOn(store, wallMs)
      for (const content of ['one', 'two']) ids.push(...(await publish(server, content)))
      await server.engine.execute(deleteConfig(sampleKey('a'), OPERATOR))
      await server.engine.close()
      store = await bench.reopen(store)
    }
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b))
    expect(ids.every((id) => Number.isSafeInteger(id))).toBe(true)
  })

  test.each(['reopen', 'crash'] as const)('lastRefTime rises strictly over a %s', async (how) => {
    let store = await bench.fresh()
    let last = 0
    for (const wallMs of [0, -DAY_MS, 5, 5]) {
      const server = await serverOn(store, wallMs)
      const rises = () => {
        expect(server.refMs(SHOP)).toBeGreaterThan(last)
        last = server.refMs(SHOP)
      }
      rises()
      await changeMuch(server, rises)
      if (how === 'reopen') await server.engine.close()
      store = await bench[how](store)
    }
  })

  test('the commit of a record that is written behind does not change the state', async () => {
    const server = await serverOn(await bench.fresh())
    for (let port = 1; port <= 50; port++) await server.register(SHOP, port)
    const entry = server.state.services.get(SHOP)
    const before = [entry?.version, entry?.lastRefMs, server.hosts(SHOP)]
    await server.flush()
    expect([entry?.version, entry?.lastRefMs, server.hosts(SHOP)]).toEqual(before)
  })

  test('hosts, items and names are in the same order after a restart', async () => {
    let store = await bench.fresh()
    const server = await serverOn(store)
    await fill(server)
    const before = ordersOf(server)
    await server.engine.close()
    store = await bench.reopen(store)
    const after = ordersOf(await serverOn(store))
    expect(after).toEqual(before)
    expect(before.hosts).toHaveLength(29)
  })
}

const OPERATOR = { ip: '10.1.2.3', user: null }

/** Publishes the item `a`; answers the ids that this made. */
async function publish(server: ServerOnStore, content: string, name = 'a'): Promise<number[]> {
  const key = sampleKey(name)
  const isNew = server.state.config(key) === undefined
  const request = {
    content: Buffer.from(content),
    md5: content,
    type: undefined,
    notes: {},
    casMd5: undefined,
  }
  await server.engine.execute(publishConfig({ key, ...request, operator: OPERATOR }))
  const item = server.state.config(key)
  return [...(isNew ? [item?.origin.id ?? 0] : []), item?.historyId ?? 0]
}

/** Thousands of changes of a service within a millisecond, of which the last are not written; it leaves and comes back. */
async function changeMuch({ engine, register, flush }: ServerOnStore, rises: () => void): Promise<void> {
  for (let port = 1; port <= 500; port++) await register(SHOP, port)
  rises()
  await flush()
  const leave = async (port: number) =>
    engine.execute(deregisterInstance({ serviceKey: SHOP, address: addressOf(port), ephemeral: true }))
  await Promise.all(Array.from({ length: 500 }, (_, at) => leave(at + 1)))
  rises()
  await engine.execute(deleteService(SHOP))
  await register(SHOP, 9_999)
  rises()
  await leave(9_999)
  rises()
  for (let change = 1; change <= 8_000; change++) void register(SHOP, 1, { app: `v${change}` })
  rises()
}

async function fill(server: ServerOnStore): Promise<void> {
  const kinds = [true, true, false] as const
  for (let at = 0; at < 30; at++) {
    const port = (at * 7) % 30
    await server.register(SHOP, port, { ephemeral: kinds[at % 3] ?? true, cluster: at % 4 === 0 ? 'z' : 'a' })
    await server.register(serviceKey(`other-${port}`), 1)
    await publish(server, `content ${port}`, `item-${port}`)
    if (at % 10 === 0) await server.flush()
  }
  const [gone, back] = server.hosts(SHOP)
  if (gone === undefined || back === undefined) throw new Error('no hosts')
  for (const address of [gone, back])
    await server.engine.execute(deregisterInstance({ serviceKey: SHOP, address, ephemeral: undefined }))
  await server.register(SHOP, back.port, { cluster: back.cluster })
  await server.engine.execute(deleteConfig(sampleKey('item-7'), OPERATOR))
  await publish(server, 'again', 'item-7')
  await publish(server, 'changed', 'item-14')
}

function ordersOf({ state, hosts }: ServerOnStore) {
  return {
    hosts: hosts(SHOP),
    items: [...state.configs.inNamespace('public')].map(({ key }) => key.dataId),
    services: state.services.names('public', undefined),
    namespaces: state.services.namespaces(),
    clusters: state.services.get(SHOP)?.clusterSizes.names(),
  }
}
