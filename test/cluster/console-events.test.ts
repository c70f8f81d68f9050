/** A stream of events goes on on another server: positions are the revisions of etcd. */
import { afterAll, expect, test } from 'vitest'
import { describeOnEtcd } from '../support/etcd.ts'
import { clusterForTests } from '../support/cluster.ts'
import { EventReader, type ReadEvent } from '../support/event-reader.ts'
import type { Waypost } from '../support/waypost.ts'

const cluster = clusterForTests()
const readers: EventReader[] = []

async function follow(server: Waypost, id = ''): Promise<EventReader> {
  const reader = await EventReader.open(server.url, id === '' ? {} : { 'last-event-id': id })
  readers.push(reader)
  return reader
}

const publish = (server: Waypost, dataId: string) =>
  fetch(`${server.url}/svc/v1/cs/configs`, {
    method: 'POST',
    body: new URLSearchParams({ dataId, group: 'G', content: 'x' }),
  })

const about =
  (dataId: string) =>
  ({ data }: ReadEvent): boolean =>
    data.kind === 'config' && data.dataId === dataId

describeOnEtcd('three servers with open pages', 90_000, () => {
  afterAll(() => readers.forEach((reader) => reader.close()))

  test('a stream tells what others change on any server, at the same position', async () => {
    const streams = await Promise.all(cluster.servers.map((server) => follow(server)))
    await publish(cluster.servers[0]!, 'seen')
    const found = await Promise.all(streams.map((stream) => stream.find(about('seen'))))
    expect(new Set(found.map(({ data }) => data.revision)).size).toBe(1)
  })

  test('one that is cut continues on another server without a loss, also when its server is killed', async () => {
    const [one, two] = cluster.servers
    // Somebody follows there, so that changes are remembered.
    await follow(two!)
    const cut = await follow(one!)
    await publish(two!, 'first')
    const { id } = await cut.find(about('first'))
    await one!.kill()
    await publish(two!, 'missed')
    const back = await follow(two!, id)
    await back.find(about('missed'))
    expect(back.events[0]?.type).toBe('begun')
    await back.find(({ data }) => data.kind === 'server')
  })

  test('the overview is that of all servers, and names one that does not reply', async () => {
    const [, two, three] = cluster.servers
    const overview = async (server: Waypost) =>
      (await (await fetch(`${server.url}/svc/v1/console/overview`)).json()) as {
        members: { alive: boolean }[]
        faults: object[]
        missingServers: string[]
      }
    await expect.poll(() => overview(two!)).toMatchObject({ faults: [], missingServers: [] })
    await three!.kill()
    await expect.poll(async () => (await overview(two!)).missingServers).toHaveLength(1)
    await expect
      .poll(async () => (await overview(two!)).members.filter(({ alive }) => alive).length, {
        timeout: 30_000,
      })
      .toBe(1)
  })

  test('one of another installation starts again', async () => {
    const reader = await follow(cluster.servers[1]!, 'other-1')
    expect((await reader.find(() => true)).type).toBe('reset')
  })
})
