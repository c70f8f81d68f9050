import { afterEach, expect, test } from 'vitest'
import { describeOnEtcd, ETCD_HOOK_MS, startEtcd, type Etcd } from '../support/etcd.ts'

describeOnEtcd('etcd for tests', ETCD_HOOK_MS, () => {
  let etcd: Etcd | undefined
  afterEach(() => etcd?.stop())

  test('three members elect a leader, and survive the loss of one', async () => {
    etcd = await startEtcd({ members: 3 })
    expect(etcd.endpoints).toHaveLength(3)
    expect(await versionOf(etcd.endpoints[0]!)).toMatch(/^3\.6\.\d+$/)
    await etcd.members[0]!.kill()
    await expect(versionOf(etcd.endpoints[0]!)).rejects.toThrow(/fetch failed|timeout/)
    await etcd.members[0]!.restart()
    expect(await versionOf(etcd.endpoints[0]!)).toMatch(/^3\.6\./)
  })

  test('a paused member answers again after it was resumed', async () => {
    etcd = await startEtcd()
    etcd.members[0]!.pause()
    await expect(versionOf(etcd.endpoints[0]!)).rejects.toThrow(/fetch failed|timeout/)
    etcd.members[0]!.resume()
    expect(await versionOf(etcd.endpoints[0]!)).toMatch(/^3\.6\./)
  })
})

async function versionOf(endpoint: string): Promise<string> {
  const answer = await fetch(`${endpoint}/version`, { signal: AbortSignal.timeout(2_000) })
  return ((await answer.json()) as { etcdserver: string }).etcdserver
}
