/** Servers of different versions on one store: what each understands, and when something new may be written (docs/decisions/0053). */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Command } from '../../src/core/decisions/decision.ts'
import { synced } from '../../src/core/decisions/decision.ts'
import { defineRecordKind, recordSaved } from '../../src/core/records/record-kind.ts'
import type { VersionRange } from '../../src/core/cluster/members/versions.ts'
import { toJson } from '../../src/store/etcd/keys/values.ts'
import { ETCD_HOOK_MS, etcdTools, startEtcd, type Etcd } from '../support/etcd.ts'
import { publish, startStoreServer, type StoreServer, type StoreServerOptions } from './store-server.ts'

const note = etcdTools.skip ? ` (${etcdTools.reason})` : ''
/** A kind of records that came with layout 2. */
const NEW_KIND = defineRecordKind<string>('new-in-layout-2', (json) => String(json), { layout: 2 })

function saveNew(id = 'a'): Command<void> {
  return {
    subject: `new ${id}`,
    decide: (_view, { stamp }) => synced([recordSaved(NEW_KIND, { id, value: id, stamp })], undefined),
  }
}

const OLD: VersionRange = { from: 1, to: 1 }
const BOTH: VersionRange = { from: 1, to: 2 }
const NEW: VersionRange = { from: 2, to: 2 }

let etcd: Etcd
let prefix = ''
let prefixes = 0
const servers: StoreServer[] = []

/** A server that has loaded the store. */
async function load(port: number, options: StoreServerOptions): Promise<StoreServer> {
  const server = await startStoreServer({ endpoints: etcd.endpoints, prefix }, port, options)
  servers.push(server)
  return server
}

async function join(port: number, options: StoreServerOptions): Promise<StoreServer> {
  const server = await load(port, options)
  await server.membership.join(server.facts)
  return server
}

async function layoutIn({ client }: StoreServer): Promise<string> {
  const { kvs } = await client.range({ key: `${prefix}/format` })
  return Buffer.from(kvs[0]!.value).toString()
}

async function stopsWith({ failures }: StoreServer, text: RegExp): Promise<void> {
  await expect.poll(() => String(failures[0]), { timeout: 30_000 }).toMatch(text)
}

describe.skipIf(etcdTools.skip)(`servers of different versions${note}`, { timeout: 90_000 }, () => {
  beforeAll(async () => (etcd = await startEtcd()), ETCD_HOOK_MS)
  afterAll(() => etcd?.stop())
  beforeEach(() => (prefix = `versions-${prefixes++}`))
  afterEach(async () => void (await Promise.all(servers.splice(0).map((server) => server.stop()))))

  test('begin with the oldest layout, and write a later one only when all members understand it', async () => {
    const old = await join(1, { layouts: OLD })
    const upgraded = await join(2, { layouts: BOTH })
    await expect(Promise.resolve(upgraded.engine.execute(saveNew()))).rejects.toMatchObject({
      code: 'cluster-not-upgraded',
      message: expect.stringMatching(/needs layout 2 .*127\.0\.0\.1:1 \(Waypost 1, layout 1\)/) as string,
    })
    expect([await layoutIn(upgraded), upgraded.store.layout]).toEqual(['1', 1])
    await old.membership.leave()
    await upgraded.engine.execute(saveNew())
    expect([await layoutIn(upgraded), upgraded.store.layout]).toEqual(['2', 2])
  })

  test('treat a member that names no versions as one of version 1', async () => {
    const upgraded = await join(1, { layouts: BOTH })
    const { versions: _, ...facts } = { ...upgraded.facts, port: 2 }
    const value = toJson({ value: facts, stamp: 0 })
    const put = { do: 'put', key: `${prefix}/p/127.0.0.1:2`, value } as const
    await upgraded.client.txn({ compare: [], success: [put] })
    await expect(Promise.resolve(upgraded.engine.execute(saveNew()))).rejects.toThrow('127.0.0.1:2')
  })

  test('that are older are refused from then on, and one that had loaded before stops', async () => {
    const upgraded = await join(1, { layouts: BOTH })
    const loaded = await load(2, { layouts: OLD })
    await upgraded.engine.execute(saveNew())
    await expect(load(3, { layouts: OLD })).rejects.toThrow(/has the layout 2 .*knows layout 1\./)
    await expect(loaded.membership.join(loaded.facts)).rejects.toThrow(/has the layout 2 .*knows layout 1\./)
    await stopsWith(loaded, /UnknownLayout.*has the layout 2/)
  })

  test('can be downgraded until the layout is raised, and writes of the new ones are read by the old', async () => {
    const upgraded = await join(1, { layouts: BOTH })
    await upgraded.engine.execute(publish('by the new one'))
    await upgraded.membership.leave()
    const old = await join(2, { layouts: OLD })
    expect(old.contentOf()).toBe('by the new one')
  })

  test('raise the layout once, if several do so at once, and all know it then', async () => {
    const all = [await join(1, { layouts: BOTH }), await join(2, { layouts: BOTH })]
    await Promise.all(all.map(async ({ engine }, n) => engine.execute(saveNew(`${n}`))))
    const third = await join(3, { layouts: NEW })
    for (const { store } of [...all, third]) expect(store.layout).toBe(2)
  })

  test('never have both a member that does not know the layout, and that layout', async () => {
    const upgraded = await join(1, { layouts: BOTH })
    const loaded = await load(2, { layouts: OLD })
    const [raised, joined] = await Promise.allSettled([
      Promise.resolve(upgraded.engine.execute(saveNew())),
      loaded.membership.join(loaded.facts),
    ])
    expect([raised.status, joined.status].sort()).toEqual(['fulfilled', 'rejected'])
    expect(await layoutIn(upgraded)).toBe(raised.status === 'fulfilled' ? '2' : '1')
  })

  test('learn of a layout that another one has raised', async () => {
    const one = await join(1, { layouts: BOTH })
    const two = await join(2, { layouts: BOTH })
    await one.engine.execute(saveNew())
    await expect.poll(() => two.store.layout, { timeout: 30_000 }).toBe(2)
  })

  test('that have no version of their messages in common are refused with both', async () => {
    await join(1, { messages: OLD })
    const later = await load(2, { messages: NEW })
    await expect(later.membership.join(later.facts)).rejects.toThrow(
      /127\.0\.0\.1:2 .*understands version 2 of the messages.*127\.0\.0\.1:1, which is running, .*version 1 /,
    )
    await join(3, { messages: BOTH })
  })

  test('that write a later layout only are refused by older data, with what to do', async () => {
    await join(1, { layouts: OLD })
    await expect(load(2, { layouts: NEW })).rejects.toThrow(
      /has the layout 1 .*knows layout 2\. Start a version between/,
    )
  })
})
