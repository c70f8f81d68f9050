import { expect, test } from 'vitest'
import { deleteConfig, publishConfig } from '../../src/core/config/commands/publish-config.ts'
import { deregisterInstance } from '../../src/core/naming/commands/instance-commands.ts'
import { deleteService } from '../../src/core/naming/commands/service-commands.ts'
import { sampleKey, serviceKey } from './samples.ts'
import { addressOf, type ServerOnStore } from './server-on-store.ts'
import type { StateStore, StoreBench } from './contract-store.ts'

const DAY_MS = 86_400_000
const SHOP = serviceKey('shop')

/** One order of changes: revisions, stamps and what follows from them rise, over restarts and whatever the clock does. */
export function orderContract(bench: StoreBench<StateStore>): void {
  test('ids rise over restarts, also with a clock that went back by a day', async () => {
    let store = await bench.fresh()
    const ids: number[] = []
    for (const wallMs of [0, -DAY_MS, 1_000, -DAY_MS]) {
      const server = await store.serve(wallMs)
      for (const content of ['one', 'two']) ids.push(...(await publish(server, content)))
      await server.engine.execute(deleteConfig(sampleKey('a'), OPERATOR))
      await server.engine.close()
      store = await bench.reopen(store)
    }
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b))
    expect(ids.every((id) => Number.isSafeInteger(id))).toBe(true)
  })

  test.each(['reopen', 'crash'] as const)(
    'lastRefTime rises with every change, and does not go back over a %s',
    async (how) => {
      let store = await bench.fresh()
      let last = 0
      for (const wallMs of [0, -DAY_MS, 5, 5]) {
        const server = await store.serve(wallMs)
        const rises = () => {
          expect(server.refMs(SHOP)).toBeGreaterThan(last)
          last = server.refMs(SHOP)
        }
        if (bench.writesBehind) rises()
        else expect(server.refMs(SHOP)).toBeGreaterThanOrEqual(last)
        await changeMuch(server, rises, bench.often)
        if (how === 'reopen') await server.engine.close()
        store = await bench[how](store)
      }
    },
  )

  test('hosts, items and names are in the same order after a restart', async () => {
    let store = await bench.fresh()
    const server = await store.serve()
    await fill(server)
    const before = ordersOf(server)
    await server.engine.close()
    store = await bench.reopen(store)
    const after = ordersOf(await store.serve())
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

/**
 * Many changes of a service within a millisecond; it leaves and comes back. What a server writes behind is not written of the
 * last ones.
 */
async function changeMuch(
  { engine, register, flush }: ServerOnStore,
  rises: () => void,
  often: number,
): Promise<void> {
  const ports = Array.from({ length: Math.min(often, 500) }, (_, at) => at + 1)
  for (const port of ports) await register(SHOP, port)
  rises()
  await flush()
  const leave = async (port: number) =>
    engine.execute(deregisterInstance({ serviceKey: SHOP, address: addressOf(port), ephemeral: true }))
  await Promise.all(ports.map(leave))
  rises()
  await engine.execute(deleteService(SHOP))
  await register(SHOP, 9_999)
  rises()
  await leave(9_999)
  rises()
  const changes = Array.from({ length: often }, async (_, change) => register(SHOP, 1, { app: `v${change}` }))
  await Promise.all(changes)
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
