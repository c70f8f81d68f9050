/** Keys under the prefix of an installation that are not its own: nothing deletes them, and no server ends. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/store/etcd/client/clock.ts'
import { connectTo } from '../../src/store/etcd/client/connection.ts'
import { EtcdClient } from '../../src/store/etcd/client/etcd-client.ts'
import { prefixEnd } from '../../src/store/etcd/client/range-end.ts'
import { nestedPrefixes } from '../../src/store/etcd/format/nested-prefixes.ts'
import { Keys } from '../../src/store/etcd/keys/keys.ts'
import { ETCD_HOOK_MS, type Etcd, etcdTools, startEtcd } from '../support/etcd.ts'
import { runWaypost, startWaypost } from '../support/waypost.ts'
import { startStoreServer, type StoreServer } from './store-server.ts'

const note = etcdTools.skip ? ` (${etcdTools.reason})` : ''

let etcd: Etcd
let raw: EtcdClient
let prefixes = 0
const servers: StoreServer[] = []

const newPrefix = (): string => `foreign-${prefixes++}`

async function start(prefix: string, port: number): Promise<StoreServer> {
  const server = await startStoreServer({ endpoints: etcd.endpoints, prefix }, port)
  servers.push(server)
  return server
}

async function put(key: string, text: string): Promise<void> {
  await raw.txn({ compare: [], success: [{ do: 'put', key, value: Buffer.from(text) }] })
}

async function remove(prefix: string): Promise<void> {
  await raw.txn({ compare: [], success: [{ do: 'delete', key: prefix, end: prefixEnd(prefix) }] })
}

describe.skipIf(etcdTools.skip)(`keys that are not of this installation${note}`, { timeout: 180_000 }, () => {
  beforeAll(async () => {
    etcd = await startEtcd()
    const { endpoints } = etcd
    const limits = { callMs: 20_000, attemptMs: 5_000 }
    const open = connectTo(systemClock)
    raw = new EtcdClient({ endpoints, clock: systemClock, random: Math.random, open, limits })
  }, ETCD_HOOK_MS)
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.stop()))
    raw?.close()
    await etcd?.stop()
  })

  test.each(['/a', '/c', '/dev', '/r/user', '/some/where/else'])(
    'a first start below an installation, or above one, is refused with its name (%s)',
    async (inner) => {
      const prefix = newPrefix()
      await start(prefix, 1)
      await expect(start(`${prefix}${inner}`, 2)).rejects.toThrow(
        new RegExp(`uses the prefix ${prefix}/ of this etcd, which is above .*${prefix}-`),
      )
      const outer = newPrefix()
      await start(`${outer}${inner}`, 1)
      await expect(start(outer, 2)).rejects.toThrow(`uses the prefix ${outer}${inner}/ of this etcd, which is below`)
      expect((await raw.range({ key: `${outer}/format` })).count).toBe(0)
      // A prefix that only begins alike is another one.
      await start(`${outer}${inner}-2`, 3)
    },
  )

  test('a key of others that is called format is no installation', async () => {
    const prefix = newPrefix()
    await put(`${prefix}/other/format`, 'json')
    await start(prefix, 1)
  })

  test.each(['a', 'c', 'x', 'dev', 'r/user', '0'])(
    'an installation that exists already says that another one is below it, at %s',
    async (folder) => {
      const prefix = newPrefix()
      await start(prefix, 1)
      await put(`${prefix}/${folder}/format`, '4')
      const all = await nestedPrefixes(raw, new Keys(`${prefix}/`))
      expect(all).toEqual(folder === 'r/user' ? [] : [`${prefix}/${folder}/`])
      const places = [`--etcd-endpoints=${etcd.endpoints.join(',')}`, `--etcd-prefix=${prefix}`]
      const { stdout } = await runWaypost(['doctor', '--store', 'etcd', ...places])
      expect(stdout).toContain(`prefix ${prefix}/${folder}/`)
      expect(stdout).toContain('prefix-nested: another installation is below this one')
    },
  )

  test('a server warns of it in /readyz, and serves', async () => {
    const prefix = newPrefix()
    await start(prefix, 1)
    await start(`${newPrefix()}`, 1)
    await put(`${prefix}/q/format`, '4')
    const settings = { store: 'etcd', 'etcd-endpoints': etcd.endpoints.join(','), 'etcd-prefix': prefix }
    const server = await startWaypost({ settings })
    const answer = async (): Promise<unknown> => (await fetch(`${server.url}/readyz`)).json()
    await expect.poll(answer, { timeout: 30_000 }).toMatchObject({
      ready: true,
      warnings: [{ code: 'prefix-nested', detail: expect.stringContaining(`${prefix}/q/`) as string }],
    })
    await server.stop()
    await remove(`${prefix}/`)
  })
})
