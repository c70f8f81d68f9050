/** Three servers under load are upgraded one after the other, from the package of before there were versions (docs/cluster.md). */
import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectTo } from '../../../src/store/etcd/client/connection.ts'
import { EtcdClient } from '../../../src/store/etcd/client/etcd-client.ts'
import { systemClock } from '../../../src/store/etcd/client/clock.ts'
import { ETCD_HOOK_MS, etcdTools } from '../../support/etcd.ts'
import { olderPackage } from '../../support/older-package.ts'
import { MAIN, runWaypost } from '../../support/waypost.ts'
import { isLong, report, seed } from '../fault-run.ts'
import { equalPictures, haveOneOrder } from './check/equal-servers.ts'
import { type ClusterLoad, startClusterLoad } from './load/load.ts'
import { startStruckCluster, type StruckCluster, type StruckServer } from './network/struck-cluster.ts'
import { missingConnected } from './strikes/connected-verdict.ts'
import { holds, isWhole, metricOf } from './strikes/scene.ts'
import { missingInstances } from './strikes/verdict.ts'

/** /proc and addresses of loopback such as 127.0.1.1 are needed. */
const isLinux = process.platform === 'linux'
const note = etcdTools.skip ? ` (${etcdTools.reason})` : isLinux ? '' : ' (only on Linux)'
const PREFIX = 'faults/'
/** How long the servers run under load in each state. */
const RUN_MS = isLong ? 20_000 : 3_000
const STEP_LIMIT_MS = 240_000
const MOST_SHOWN = 10

let older: string
let cluster: StruckCluster
let load: ClusterLoad
let etcd: EtcdClient

/** The value of a key of etcd; undefined: there is no such key. */
async function valueOf(key: string): Promise<string | undefined> {
  const { kvs } = await etcd.range({ key: `${PREFIX}${key}` })
  return kvs[0] && Buffer.from(kvs[0].value).toString()
}

/** Stops a server in order and starts it as another build (by default this one) while the others serve. */
async function replace(server: StruckServer, main = MAIN): Promise<void> {
  await server.stop()
  // Its lease would last for 10 s: the others need not wait for that.
  expect(await valueOf(`p/${server.memberId}`)).toBe(undefined)
  const others = cluster.servers.filter((each) => each !== server)
  await holds('the others know that it has left', async () => {
    const counts = await Promise.all(others.map((each) => metricOf(each, 'waypost_members')))
    return counts.every((count) => count === others.length)
  })
  await sleep(RUN_MS)
  await server.restart(main)
  await holds('all servers are whole again', () => isWhole(cluster))
  await sleep(RUN_MS)
}

/** Whether a server answers on its peer port without TLS: with a refusal, for the question is not signed. */
function answersPlain({ peerPort }: StruckServer): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = request(
      { host: '127.0.0.1', port: peerPort, path: '/standing', method: 'POST', agent: false },
      () => resolve(true),
    )
    asked.on('error', () => resolve(false))
    asked.end()
  })
}

/** Replaces the secret by which the servers know each other, which needs a later layout. */
function rotatePeers() {
  const { endpoints } = cluster.etcd
  const place = [`--etcd-endpoints=${endpoints.join(',')}`, '--etcd-prefix=faults']
  return runWaypost(['key', 'rotate-peers', ...place])
}

/** Fails unless clients that try the next server have noticed nothing so far. */
function nobodyHasNoticed(): void {
  const { lists, connected } = load.recording
  expect(load.unserved.slice(0, MOST_SHOWN)).toEqual([])
  expect(missingInstances(lists, load.steady).slice(0, MOST_SHOWN)).toEqual([])
  expect(missingConnected(connected, load.connected).slice(0, MOST_SHOWN)).toEqual([])
}

describe.skipIf(etcdTools.skip || !isLinux)(`a rolling upgrade${note}`, () => {
  beforeAll(async () => {
    older = olderPackage()
    cluster = await startStruckCluster(older)
    const { endpoints } = cluster.etcd
    etcd = new EtcdClient({
      endpoints,
      clock: systemClock,
      random: Math.random,
      open: connectTo(systemClock),
    })
    await holds('all servers are ready', () => isWhole(cluster))
    const urls = cluster.servers.map(({ url }) => url)
    const grpcPorts = cluster.servers.map(({ grpcPort }) => grpcPort)
    load = await startClusterLoad({ urls, grpcPorts, triesNext: true }, seed)
    await holds('all connected instances are registered', () =>
      load.connected.every(({ sinceMs }) => sinceMs !== undefined),
    )
    await sleep(RUN_MS)
  }, ETCD_HOOK_MS)

  afterAll(async () => {
    await load?.stop()
    etcd?.close()
    await cluster?.stop()
  }, STEP_LIMIT_MS)

  for (const index of [0, 1, 2])
    test(`server ${index + 1} is upgraded, and nobody notices`, { timeout: STEP_LIMIT_MS }, async () => {
      const server = cluster.servers[index]!
      expect(await valueOf(`p/${server.memberId}`)).not.toContain('versions')
      await replace(server)
      expect(await valueOf(`p/${server.memberId}`)).toContain('"layouts":{"from":1,')
      // The older servers that are left ask without TLS.
      await expect.poll(() => answersPlain(server)).toBe(index < 2)
      nobodyHasNoticed()
      await equalPictures({ cluster, load })
    })

  test('servers that all speak TLS refuse questions without it', async () => {
    for (const server of cluster.servers) await expect.poll(() => answersPlain(server)).toBe(false)
  })

  test('until something new is written, a server can be downgraded', { timeout: STEP_LIMIT_MS }, async () => {
    expect(await valueOf('format')).toBe('1')
    await replace(cluster.servers[0]!, older)
    await expect.poll(() => answersPlain(cluster.servers[1]!)).toBe(true)
    expect(await rotatePeers()).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('not every server') as string,
    })
    expect(await valueOf('format')).toBe('1')
    await replace(cluster.servers[0]!)
    nobodyHasNoticed()
  })

  test('all writes have one order, and all servers show the same', { timeout: STEP_LIMIT_MS }, async () => {
    const records = await haveOneOrder(load, await equalPictures({ cluster, load }))
    const { operations, lists } = load.recording
    report(
      `rolling upgrade: ${operations.length} operations, ${records} history records, ${lists.length} lists of ` +
        `${load.steady.length} beating instances, nothing unserved`,
    )
  })

  test(
    'the older version is refused from the first later layout on',
    { timeout: STEP_LIMIT_MS },
    async () => {
      const [server] = cluster.servers
      await load.pause()
      // The first later layout belongs to a secret which is replaced.
      expect(await rotatePeers()).toMatchObject({ code: 0, stderr: '' })
      expect(await valueOf('format')).toBe('2')
      await Promise.all(cluster.servers.map((each) => each.stop()))
      await expect(server!.restart(older)).rejects.toThrow(/has the format 2 .*knows formats up to 1/)
      await server!.restart(MAIN)
      await server!.stop()
      const put = { do: 'put', key: `${PREFIX}format`, value: Buffer.from('9') } as const
      await etcd.txn({ compare: [], success: [put] })
      await expect(server!.restart(MAIN)).rejects.toThrow(/has the layout 9 .*knows layout 1 to 3\./)
    },
  )
})
