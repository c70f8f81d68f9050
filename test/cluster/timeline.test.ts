/** The timeline of a service is collected from all servers, and names one that does not reply. */
import { expect, test } from 'vitest'
import { describeOnEtcd } from '../support/etcd.ts'
import { clusterForTests } from '../support/cluster.ts'
import type { Waypost } from '../support/waypost.ts'

const INSTANCE = { serviceName: 's', ip: '10.0.0.1', port: '80', ephemeral: 'false' }

interface Timeline {
  readonly fromMs: number
  readonly entries: readonly { readonly kind: string; readonly fromIp: string | null }[]
  readonly missingServers: readonly string[]
}

describeOnEtcd('a timeline on two servers', 60_000, () => {
  const cluster = clusterForTests({ servers: 2 })

  const timeline = async ({ url }: Waypost): Promise<Timeline> => {
    const answer = await fetch(`${url}/svc/v1/console/timeline?serviceName=s`)
    return (await answer.json()) as Timeline
  }
  const kinds = async (server: Waypost): Promise<(string | null)[][]> =>
    (await timeline(server)).entries.map(({ kind, fromIp }) => [kind, fromIp])

  test('has each change once, with who asked for it at another server', async () => {
    const [one, two] = cluster.servers as [Waypost, Waypost]
    const send = (method: string, form: Record<string, string>) =>
      fetch(`${one.url}/svc/v1/ns/instance`, { method, body: new URLSearchParams(form) })
    await send('POST', INSTANCE)
    await send('PUT', { ...INSTANCE, enabled: 'false' })
    const expected = [
      ['disabled', '127.0.0.1'],
      ['registered', null],
    ]
    for (const server of [one, two]) await expect.poll(() => kinds(server)).toEqual(expected)
    await expect.poll(async () => (await timeline(two)).missingServers).toEqual([])

    // One that has started since knows it from the others.
    const three = await cluster.join()
    await expect.poll(() => kinds(three)).toEqual(expected)
    const { fromMs } = await timeline(three)
    expect(fromMs).toBe(Math.min(...(await Promise.all([one, two].map(timeline))).map((each) => each.fromMs)))

    await one.kill()
    await expect.poll(async () => (await timeline(two)).missingServers).toHaveLength(1)
    await expect
      .poll(() => kinds(two))
      .toEqual([
        ['disabled', null],
        ['registered', null],
      ])
  })
})
