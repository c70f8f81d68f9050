import { afterEach, beforeEach, expect, test } from 'vitest'
import type { MemberFacts } from '../core/cluster/members/member-records.ts'
import { VERSIONS } from '../core/cluster/members/versions.test-support.ts'
import { HeardServers } from './cluster-view.ts'
import { PeerClient } from './peer-client.ts'
import { peerSecretOf } from './peer-secret.ts'
import { PeerServer } from './peer-server.ts'

const SECRET = peerSecretOf('secret')

/** A server with a clock of its own. */
interface Running {
  readonly heard: HeardServers
  readonly server: PeerServer
}

let client: PeerClient
let nowMs: number
let members: Map<string, MemberFacts>
let running: Map<string, Running>
beforeEach(() => {
  client = new PeerClient({ secrets: () => [SECRET] })
  nowMs = 0
  members = new Map()
  running = new Map()
})
afterEach(async () => {
  client.close()
  for (const { server } of running.values()) await server.close()
})

async function start(id: string, clockAheadMs = 0): Promise<HeardServers> {
  const heard = new HeardServers({
    client,
    self: id,
    peers: () => new Map([...members].filter(([each]) => each !== id)),
    isKnown: (each) => each.startsWith('s'),
    monotonicMs: () => nowMs + clockAheadMs,
  })
  const server = await PeerServer.open({
    host: '127.0.0.1',
    port: 0,
    process: id,
    secrets: () => [SECRET],
    report: () => {},
  })
  heard.answerOn(server)
  running.set(id, { heard, server })
  members.set(id, {
    ip: '127.0.0.1',
    port: 1,
    peerPort: server.port,
    site: '',
    version: '',
    process: id,
    auth: 'on',
    versions: VERSIONS,
  })
  return heard
}

async function kill(id: string): Promise<void> {
  await running.get(id)!.server.close()
}

test('a killed server was last there when it last answered anybody, on all servers', async () => {
  const [first, second] = [await start('s1'), await start('s2', 1e9)]
  await start('s3')
  nowMs = 1_000
  await first.ask()
  nowMs = 3_000
  await second.ask()
  await kill('s3')
  nowMs = 10_000
  expect([first.agoMs('s3'), first.replies('s3')]).toEqual([9_000, true])
  await first.ask()
  await second.ask()
  expect([first.agoMs('s3'), second.agoMs('s3')]).toEqual([7_000, 7_000])
  expect([first.replies('s3'), first.replies('s2'), first.agoMs('s2'), first.agoMs('s1')]).toEqual([
    false,
    true,
    0,
    0,
  ])
  // Passing it on does not make it later.
  for (nowMs = 11_000; nowMs <= 20_000; nowMs += 1_000) await Promise.all([first.ask(), second.ask()])
  nowMs = 20_000
  expect([first.agoMs('s3'), second.agoMs('s3')]).toEqual([17_000, 17_000])
})

test('a server that starts later learns the time of the last answer; a time that all have forgotten is gone', async () => {
  const first = await start('s1')
  await start('s2')
  nowMs = 1_000
  await first.ask()
  await kill('s2')
  members.delete('s2')
  nowMs = 5_000
  const late = await start('s3', -4_000)
  expect(late.agoMs('s2')).toBeUndefined()
  await late.ask()
  expect([late.agoMs('s2'), late.agoMs('s4')]).toEqual([4_000, undefined])
})
