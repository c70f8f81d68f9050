import { afterEach, beforeEach, expect, test } from 'vitest'
import type { MemberFacts } from '../core/cluster/members/member-records.ts'
import { VERSIONS } from '../core/cluster/members/versions.test-support.ts'
import { configKey } from '../core/config/state/config-item.ts'
import { address, ORDERS } from '../core/core.test-support.ts'
import { firstStampOf } from '../core/decisions/stamps.ts'
import type { TimelineEntry } from '../core/naming/timeline/timeline-entry.ts'
import { PeerClient } from './peer-client.ts'
import { peerSecretOf } from './peer-secret.ts'
import { PeerServer } from './peer-server.ts'
import type { ItemClient, OwnViews } from '../core/clients/client-views.ts'
import type { ConnectedClient } from '../core/clients/connected-client.ts'
import { PeerViews } from './peer-views.ts'

const KEY = configKey('public', 'G', 'a')
const SECRET = peerSecretOf('secret')

let client: PeerClient
let servers: PeerServer[]
let peers: Map<string, MemberFacts>
beforeEach(() => {
  dismissedBy = []
  client = new PeerClient({ secrets: () => [SECRET] })
  servers = []
  peers = new Map()
})
afterEach(async () => {
  client.close()
  for (const server of servers) await server.close()
})

function clientOf(ip: string, client: ItemClient['client']): ItemClient {
  return { ip, client, md5: 'm', seen: { md5: 'm', ip }, seenAgoMs: 5, via: ip === 's2' ? 'stream' : 'poll' }
}

/** The names of the servers that were asked to leave a lost service out. */
let dismissedBy: string[]

/** The views of a server of this name: one client of its own, and one client that all servers know. */
function viewsOf(name: string): OwnViews {
  const subscriber = { port: 1, agent: '', app: '', clusters: '', via: 'udp' as const, ...ORDERS }
  return {
    watchersOf: async () =>
      new Map([
        [name, 'm'],
        ['both', name],
      ]),
    clientsOf: async () => [clientOf(name, name === 's1' ? undefined : { port: 7, agent: name })],
    clientCounts: (keys) => keys.map((_, index) => Number(name.slice(1)) + index),
    watchedBy: async (ip) =>
      [name, 'both'].map((dataId) => ({ key: configKey('', ip, dataId), md5: '', echo: '' })),
    subscribers: () => [name, 'both'].map((address) => ({ ...subscriber, address, toldIp: address })),
    condition: async () => ({
      behind: [{ key: KEY, clientCount: 3, clients: [{ ip: name, client: undefined }] }],
      lost: [{ key: ORDERS, stamp: firstStampOf(7), atMs: 7, address: address(), cause: 'silence' }],
      subscriberCount: 2,
      lagMs: 0.5,
      faults: [{ code: 'store-unavailable', detail: name, forMs: 7 }],
    }),
    connectedClients: ({ most }) => ({
      server: name,
      count: 2,
      clients: ['a', 'b'].slice(0, most).map((id) => connectedClient(`${name} ${id}`)),
    }),
    dismiss: ({ id, how }) => id === `${name} a` && how === 'close',
    dismissLost: () => void dismissedBy.push(name),
    timeline: () => ({
      fromMs: Number(name.slice(1)),
      entries: [happened(name, 2), happened('both', 1, name)],
    }),
  }
}

function connectedClient(id: string): ConnectedClient {
  const says = {
    version: 'Java',
    appName: 'shop',
    module: 'naming',
    clientIp: '',
    username: 'ann',
    labels: { zone: 'a' },
  }
  const counts = { services: 1, instances: 2, subscriptions: 3 }
  return { id, ip: '10.0.0.1', port: 1, ...says, sinceMs: 4, heardAgoMs: 5, ...counts }
}

/** Only the server that was asked knows the caller, which is the second server. */
function happened(ip: string, atMs: number, at = ''): TimelineEntry {
  const actor = at === 's2' ? { user: null, ip: '10.0.0.9' } : undefined
  return {
    stamp: firstStampOf(5) + atMs,
    atMs,
    kind: 'disabled',
    cause: 'operator',
    address: address({ ip }),
    actor,
    text: '',
  }
}

async function addPeer(id: string, own = viewsOf(id)): Promise<void> {
  const server = await PeerServer.open({
    host: '127.0.0.1',
    port: 0,
    process: id,
    secrets: () => [SECRET],
    report: () => {},
  })
  servers.push(server)
  new PeerViews({ client, peers: () => peers, own }).answerOn(server)
  const { port: peerPort } = server
  peers.set(id, {
    ip: '127.0.0.1',
    port: 1,
    peerPort,
    site: '',
    version: '',
    process: id,
    auth: 'on',
    versions: VERSIONS,
  })
}

test('the clients of all servers are collected, each once, with the members that did not reply', async () => {
  for (const id of ['s2', 's3']) await addPeer(id)
  const views = new PeerViews({ client, peers: () => peers, own: viewsOf('s1') })
  const names = ['s1', 'both', 's2', 's3'].sort()

  const watchers = await views.watchersOf(KEY)
  expect([...watchers.value.keys()].sort()).toEqual(names)
  expect(watchers.value.get('both')).toBe('s1')
  expect((await views.clientsOf(KEY)).value).toEqual(
    (await Promise.all(['s1', 's2', 's3'].map((id) => viewsOf(id).clientsOf(KEY)))).flat(),
  )
  expect((await views.watchedBy('ip')).value.map(({ key }) => key.dataId).sort()).toEqual(names)
  expect((await views.subscribers(ORDERS)).value.map(({ address }) => address).sort()).toEqual(names)
  expect(watchers.missing).toEqual([])

  const { own, others } = (await views.conditions()).value
  expect(own).toEqual(await viewsOf('s1').condition())
  expect(others.toSorted((a, b) => a.server.localeCompare(b.server))).toEqual(
    await Promise.all(
      ['s2', 's3'].map(async (server) => ({ server, ...(await viewsOf(server).condition()) })),
    ),
  )

  const timeline = await views.timeline(ORDERS)
  expect(timeline.value.fromMs).toBe(1)
  expect(timeline.value.entries.map((entry) => entry.address.ip)).toEqual(['s1', 's2', 's3', 'both'])
  expect(timeline.value.entries[3]).toEqual(happened('both', 1, 's2'))

  await servers[1]!.close()
  const { value, missing } = await views.subscribers(ORDERS)
  expect([value.length, missing]).toEqual([3, ['s3']])
})

test.each([
  ['a few seconds apart is listed once', { s1: [10_000], s2: [12_000], s3: [9_000] }, [12_000]],
  ['again much later is listed again', { s1: [30_000, 10_000], s2: [29_000, 11_000] }, [30_000, 11_000]],
])('a change without a stamp that servers note %s', async (_, noted: Record<string, number[]>, listed) => {
  const timelineOf = (name: string) => ({
    fromMs: 1,
    entries: noted[name]!.map((atMs) => ({ ...happened('a', atMs), stamp: 0 })),
  })
  const viewsWith = (name: string) => ({ ...viewsOf(name), timeline: () => timelineOf(name) })
  const [own, ...others] = Object.keys(noted)
  for (const id of others) await addPeer(id, viewsWith(id))
  const views = new PeerViews({ client, peers: () => peers, own: viewsWith(own!) })
  const { entries } = (await views.timeline(ORDERS)).value
  expect(entries.map(({ atMs }) => atMs)).toEqual(listed)
})

test('connected clients are listed by server, and sent away by the server that has them', async () => {
  for (const id of ['s2', 's3']) await addPeer(id)
  const views = new PeerViews({ client, peers: () => peers, own: viewsOf('s1') })
  const search = { text: '', most: 1 }
  const { own, others } = (await views.connectedClients(search)).value
  expect([own, ...others.toSorted((a, b) => a.server.localeCompare(b.server))]).toEqual(
    ['s1', 's2', 's3'].map((id) => viewsOf(id).connectedClients(search)),
  )
  for (const id of ['s1 a', 's3 a'])
    expect(await views.dismiss({ id, how: 'close' })).toEqual({ value: true, missing: [] })
  expect(await views.dismiss({ id: 's3 a', how: 'move' })).toEqual({ value: false, missing: [] })
  await servers[1]!.close()
  expect(await views.dismiss({ id: 's3 a', how: 'close' })).toEqual({ value: false, missing: ['s3'] })
})

test('all servers leave out a service that somebody has seen', async () => {
  for (const id of ['s2', 's3']) await addPeer(id)
  const views = new PeerViews({ client, peers: () => peers, own: viewsOf('s1') })
  expect((await views.dismissLost(ORDERS)).missing).toEqual([])
  expect(dismissedBy.sort()).toEqual(['s1', 's2', 's3'])
})

test('the clients of many items are counted with one question to each server', async () => {
  for (const id of ['s2', 's3']) await addPeer(id)
  const views = new PeerViews({ client, peers: () => peers, own: viewsOf('s1') })
  const keys = Array.from({ length: 50 }, (_, index) => configKey('public', 'G', `item ${index}`))
  const expected = keys.map((_, index) => 1 + 2 + 3 + 3 * index)
  expect(await views.clientCounts(keys)).toEqual({ value: expected, missing: [] })
  expect(client.counts.asked).toBe(2)
  expect(await views.clientCounts([])).toEqual({ value: [], missing: [] })
  expect(client.counts.asked).toBe(2)
})

test('a server without others answers from its own views', async () => {
  const views = new PeerViews({ client, peers: () => peers, own: viewsOf('s1') })
  expect(await views.watchersOf(KEY)).toEqual({ value: await viewsOf('s1').watchersOf(KEY), missing: [] })
})
