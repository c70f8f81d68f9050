/** Servers of different versions on one store: what each understands, and what it refuses (docs/decisions/0053 and 0066). */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { VersionRange } from '../../src/core/cluster/members/versions.ts'
import type { EtcdClient } from '@waypost/etcd-client/etcd-client'
import { LAYOUTS } from '../../src/store/etcd/format/layout.ts'
import { toJson } from '../../src/store/etcd/keys/values.ts'
import { clusterForTests } from '../support/cluster.ts'
import { clientOf } from '../support/etcd-client.ts'
import { describeOnEtcd } from '../support/etcd.ts'
import type { Waypost } from '../support/waypost.ts'
import { publish, startStoreServer, type StoreServer, type StoreServerOptions } from './store-server.ts'

/** The layout of this version and a made-up next one, as the version that brings that would know them. */
const BOTH: VersionRange = { from: LAYOUTS.to, to: LAYOUTS.to + 1 }
const NEXT: VersionRange = { from: BOTH.to, to: BOTH.to }
const BEFORE: VersionRange = { from: 1, to: 3 }
const WAY_OUT = /development build from before Waypost 0\.1\.0 .*`waypost export`/

const cluster = clusterForTests({ servers: 3 })
let raw: EtcdClient
let prefix = ''
let prefixes = 0
const servers: StoreServer[] = []

/** A server that has loaded the store. */
async function load(port: number, options: StoreServerOptions = {}): Promise<StoreServer> {
  const server = await startStoreServer({ endpoints: cluster.etcd.endpoints, prefix }, port, options)
  servers.push(server)
  return server
}

async function join(port: number, options: StoreServerOptions = {}): Promise<StoreServer> {
  const server = await load(port, options)
  await server.membership.join(server.facts)
  return server
}

async function write(key: string, value: Buffer): Promise<void> {
  await raw.txn({ compare: [], success: [{ do: 'put', key, value }] })
}

const writeLayout = (text: string | number) => write(`${prefix}/format`, Buffer.from(String(text)))

async function layoutIn(): Promise<string> {
  const { kvs } = await raw.range({ key: `${prefix}/format` })
  return Buffer.from(kvs[0]!.value).toString()
}

/** Another server that understands this, as its key among the members says. */
async function writeMember({ facts }: StoreServer, versions: object): Promise<void> {
  const value = { ...facts, port: 9, version: '9.9.9', versions: { ...facts.versions, ...versions } }
  const put = { do: 'put', key: `${prefix}/p/127.0.0.1:9`, value: toJson({ value, stamp: 0 }) } as const
  const { id: lease } = await raw.lease(600)
  await raw.txn({ compare: [], success: [{ ...put, lease }] })
}

async function stopsWith({ failures }: StoreServer, text: RegExp): Promise<void> {
  await expect.poll(() => String(failures[0]), { timeout: 30_000 }).toMatch(text)
}

function runs({ pid }: Waypost): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describeOnEtcd('servers of different versions', 90_000, () => {
  beforeAll(() => void (raw = clientOf(cluster.etcd)))
  afterAll(() => raw?.close())
  beforeEach(() => (prefix = `versions-${prefixes++}`))
  afterEach(async () => void (await Promise.all(servers.splice(0).map((server) => server.stop()))))

  test('begin with the oldest layout, and read each other', async () => {
    const upgraded = await join(1, { layouts: BOTH })
    await upgraded.engine.execute(publish('by the new one'))
    expect([await layoutIn(), upgraded.store.layout]).toEqual([String(BOTH.from), BOTH.from])
    const older = await join(2)
    expect(older.contentOf()).toBe('by the new one')
  })

  test('that do not know a layout are refused once it is in use, and stop if they had loaded before', async () => {
    const upgraded = await join(1, { layouts: BOTH })
    const [member, loaded] = [await join(2), await load(3)]
    await writeLayout(BOTH.to)
    const refusal = /has the layout 5 .*knows layout 4\. Use the version that wrote it, or a later one/
    await stopsWith(member, refusal)
    await expect(loaded.membership.join(loaded.facts)).rejects.toThrow(refusal)
    await stopsWith(loaded, refusal)
    await expect(load(4)).rejects.toThrow(refusal)
    await expect.poll(() => upgraded.store.layout, { timeout: 30_000 }).toBe(BOTH.to)
    await member.membership.leave()
    await join(5, { layouts: NEXT })
    expect(upgraded.failures).toEqual([])
  })

  test('that write a later layout only are refused by older data, with what to do', async () => {
    await join(1)
    await expect(load(2, { layouts: NEXT })).rejects.toThrow(
      /has the layout 4 .*knows layout 5\. Start a version between/,
    )
  })

  test.each([1, 2, 3])(
    'are refused by the layout %i of development builds, with the way out',
    async (layout) => {
      await writeLayout(layout)
      await expect(load(1)).rejects.toThrow(WAY_OUT)
      expect(await layoutIn()).toBe(String(layout))
    },
  )

  test.each([
    [
      'older messages',
      { messages: { from: 3, to: 3 } },
      /layout 4 of the store and version 3 .*stop it first/,
    ],
    [
      'development builds',
      { layouts: BEFORE, messages: BEFORE },
      /layout 1 to 3 .*development build .*stop it/,
    ],
    [
      'the next messages only',
      { messages: { from: 5, to: 5 } },
      /version 5 .*Upgrade by way of a version that/,
    ],
    ['the next layout only', { layouts: NEXT }, /layout 5 of the store .*Upgrade by way of a version that/],
  ])('are refused by a server of %s, with what to do', async (_, versions, remedy) => {
    const server = await load(1)
    await writeMember(server, versions)
    const joining = server.membership.join(server.facts)
    await expect(joining).rejects.toThrow(
      /^Server 127\.0\.0\.1:1 .*127\.0\.0\.1:9, which is running, \(Waypost 9\.9\.9\)/,
    )
    await expect(joining).rejects.toThrow(remedy)
  })

  test('join each other where they have messages in common', async () => {
    const server = await load(1)
    await writeMember(server, { messages: { from: 4, to: 5 } })
    await server.membership.join(server.facts)
  })

  test('end in order when the layout rises, and do not start again', async () => {
    prefix = 'cluster-test'
    expect(await layoutIn()).toBe(String(LAYOUTS.to))
    await writeLayout(BOTH.to)
    for (const server of cluster.servers) {
      await expect
        .poll(server.output, { timeout: 30_000 })
        .toMatch(/has the layout 5 .*knows layout 4\. Use the/)
      await expect.poll(() => runs(server), { timeout: 30_000 }).toBe(false)
      expect(await server.stop()).toBe(1)
    }
    await expect(cluster.servers[0]!.restart()).rejects.toThrow(
      /ended with 1.*has the layout 5 .*knows layout 4\./s,
    )
  })
})
