/** The secret of the peer channel is replaced while servers run, and they ask each other all the time. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PeerClient } from '../../src/cluster/peer-client.ts'
import { STANDING } from '../../src/cluster/peer-question.ts'
import { peerSecretOf } from '../../src/cluster/peer-secret.ts'
import { PEER_SECRETS, type StoredSecrets } from '../../src/core/engine/remembered-values.ts'
import { VERSIONS } from '../../src/core/cluster/members/versions.test-support.ts'
import type { EtcdClient } from '@waypost/etcd-client/etcd-client'
import { fromJson } from '../../src/store/etcd/keys/values.ts'
import { clientsOf } from '../interface/client.ts'
import { clusterForTests } from '../support/cluster.ts'
import { clientOf } from '../support/etcd-client.ts'
import { describeOnEtcd, ETCD_HOOK_MS } from '../support/etcd.ts'
import { freePort, runWaypost } from '../support/waypost.ts'

const LIMIT_MS = 120_000
const LOOK_MS = 200

describeOnEtcd('a secret that is replaced', 2 * LIMIT_MS, () => {
  const cluster = clusterForTests({ servers: 1 })
  let etcd: EtcdClient
  let peerPort: number

  beforeAll(async () => {
    peerPort = await freePort()
    await cluster.join({ 'peer-port': peerPort })
    etcd = clientOf(cluster.etcd)
  }, ETCD_HOOK_MS)

  afterAll(() => etcd?.close())

  async function stored(): Promise<StoredSecrets> {
    const { kvs } = await etcd.range({ key: 'cluster-test/k/peer-secret' })
    return PEER_SECRETS.read(Buffer.from(kvs[0]!.value).toString())
  }

  /** Asks the second server as somebody does who knows this secret. */
  async function isAnswered(text: string): Promise<boolean> {
    const member = `cluster-test/p/127.0.0.1:${cluster.servers[1]!.port}`
    const { kvs } = await etcd.range({ key: member })
    const { process } = (fromJson(kvs[0]!.value) as { value: { process: string } }).value
    const facts = { ip: '127.0.0.1', port: 1, peerPort, site: '', version: '1', process, auth: 'off' }
    const secret = peerSecretOf(text)
    const client = new PeerClient({ secrets: () => [secret] })
    const answer = await client.ask({ ...facts, versions: VERSIONS }, STANDING, {})
    client.close()
    return answer !== undefined
  }

  async function missing(): Promise<string[]> {
    const asked = cluster.servers.map(async ({ url }) =>
      (await clientsOf(url).svc.get('/console/clients')).json(),
    )
    return (await Promise.all(asked)).flatMap(({ missingServers }) => missingServers as string[])
  }

  test('keeps all servers in touch, and the old one ends', async () => {
    const before = await stored()
    expect(await isAnswered(before.inUse)).toBe(true)
    const rotate = ['key', 'rotate-peers', ...cluster.flags]
    expect(await runWaypost(rotate)).toMatchObject({ code: 0, stderr: '' })
    expect(await runWaypost(rotate)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('nothing was changed') as string,
    })
    const untilMs = performance.now() + LIMIT_MS
    for (let now = await stored(); now.inUse === before.inUse || now.previous !== undefined;) {
      expect(performance.now()).toBeLessThan(untilMs)
      // A late answer is missing, too: a refused one is counted.
      await expect.poll(missing, { timeout: LIMIT_MS }).toEqual([])
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
      now = await stored()
    }
    for (const { url } of cluster.servers)
      expect(await (await fetch(`${url}/metrics`)).text()).not.toMatch(
        /waypost_peer_requests_total\{outcome="foreign"\} [1-9]/,
      )
    const after = await stored()
    expect(after.origin).toBe(before.origin)
    await expect.poll(() => isAnswered(before.inUse), { timeout: LIMIT_MS }).toBe(false)
    expect(await isAnswered(after.inUse)).toBe(true)
    await expect.poll(missing, { timeout: LIMIT_MS }).toEqual([])
    // A server that starts later has the new one.
    await cluster.join()
    await expect.poll(missing, { timeout: LIMIT_MS }).toEqual([])
  })
})
