import { readFileSync } from 'node:fs'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PeerClient } from '../../src/cluster/peer-client.ts'
import { STANDING } from '../../src/cluster/peer-question.ts'
import { type PeerSecret, peerSecretOf } from '../../src/cluster/peer-secret.ts'
import { askingTls } from '../../src/cluster/peer-tls.ts'
import { PEER_SECRETS } from '../../src/core/engine/remembered-values.ts'
import type { MemberFacts } from '../../src/core/cluster/members/member-records.ts'
import { systemClock } from '@waypost/etcd-client/clock'
import { connectTo } from '@waypost/etcd-client/connection'
import { EtcdClient } from '@waypost/etcd-client/etcd-client'
import { fromJson } from '../../src/store/etcd/keys/values.ts'
import { type Cluster, startCluster } from '../support/cluster.ts'
import { ETCD_HOOK_MS, etcdTools } from '../support/etcd.ts'
import { freePort } from '../support/waypost.ts'
import { asText, foundBy, SEED, secondsOf } from './found.ts'
import { type PeerConversation, peerConversation, type PeerCorpus } from './peer-conversations.ts'
import { Random } from './random.ts'
import { ResponseReader } from './responses.ts'
import { faultsOf } from './unharmed.ts'

/** Strangers and broken members speak to the peer port of a server. */
const SECONDS = secondsOf(10)

const note = etcdTools.skip ? ` (${etcdTools.reason})` : ''
const LANES = 16
/** A connection that is silent for so long is given up. */
const SILENCE_MS = 200
/** A member that asks beside the conversations waits a second for an answer; on a busy machine it may ask again. */
const MOST_UNANSWERED = 0.1
const GROWTH_BYTES = 200 * 1024 * 1024

describe.skipIf(etcdTools.skip)(`the peer port${note}`, () => {
  let cluster: Cluster
  let etcd: EtcdClient
  let secret: PeerSecret
  let member: MemberFacts

  beforeAll(async () => {
    cluster = await startCluster({ servers: 0 })
    const peerPort = await freePort()
    const server = await cluster.join({ 'peer-port': peerPort, 'log-level': 'warn' })
    const { endpoints } = cluster.etcd
    const open = connectTo(systemClock)
    etcd = new EtcdClient({ endpoints, clock: systemClock, random: Math.random, open })
    const valueOf = async (key: string): Promise<Uint8Array> =>
      (await etcd.range({ key: `cluster-test/${key}` })).kvs[0]!.value
    secret = peerSecretOf(PEER_SECRETS.read(Buffer.from(await valueOf('k/peer-secret')).toString()).inUse)
    const value = fromJson(await valueOf(`p/127.0.0.1:${server.port}`)) as { value: MemberFacts }
    member = value.value
  }, ETCD_HOOK_MS)

  afterAll(async () => {
    etcd?.close()
    await cluster?.stop()
  })

  test(
    `bears conversations with strangers and broken members (seed ${SEED})`,
    async () => {
      const [server] = cluster.servers
      const corpus = { secret: secret.text, process: member.process, hello: await helloOf(member, secret) }
      const before = residentBytes(server!.pid)
      const asking = askBeside(member, secret)
      const { statuses, faults, played } = await play(corpus, member.peerPort)
      const { asked, unanswered } = await asking.stop()
      const grown = residentBytes(server!.pid) - before
      const shown = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`)
      console.log(
        `${played} conversations, answers ${shown.join(', ')}; a member beside them asked ${asked} times, ` +
          `${unanswered} unanswered; memory +${(grown / 2 ** 20).toFixed(0)} MiB, seed ${SEED}`,
      )
      expect(faults).toEqual([])
      expect(statuses.get(200)).toBeGreaterThan(played / 20)
      expect(unanswered).toBeLessThanOrEqual(asked * MOST_UNANSWERED)
      expect(grown).toBeLessThan(GROWTH_BYTES)
      expect(await faultsOf(server!)).toBeUndefined()
      expect(server!.output()).not.toMatch(/"level":(50|60)/)
    },
    SECONDS * 1_000 + 60_000,
  )
})

interface Fault {
  readonly seed: number
  readonly what: string
  readonly input: string
}

interface Played {
  readonly played: number
  readonly statuses: ReadonlyMap<number, number>
  readonly faults: readonly Fault[]
}

async function play(corpus: PeerCorpus, port: number): Promise<Played> {
  const untilMs = performance.now() + SECONDS * 1_000
  // A question of a member has a signature of this cluster: what is found there becomes a test of its own.
  const found = foundBy<PeerConversation>('strangers')
  const statuses = new Map<number, number>()
  const faults: Fault[] = []
  let played = 0
  const lane = async (): Promise<void> => {
    while ((found.length > 0 || performance.now() < untilMs) && faults.length < 10) {
      const seed = SEED + played++
      const conversation = found.shift() ?? peerConversation(corpus, new Random(seed))
      const what = await converse(conversation, { port, secret: peerSecretOf(corpus.secret), statuses })
      if (what !== undefined) faults.push({ seed, what, input: asText(conversation) })
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  return { played, statuses, faults }
}

interface Talk {
  readonly port: number
  readonly secret: PeerSecret
  readonly statuses: Map<number, number>
}

/** Plays one conversation. Returns what is wrong with the answers, or undefined. */
function converse(
  { isSecure, speaker, pieces }: PeerConversation,
  { port, secret, statuses }: Talk,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const reader = new ResponseReader()
    let complaint: string | undefined
    const place = { host: '127.0.0.1', port } as const
    const socket: Socket = isSecure ? connectTls({ ...place, ...askingTls(() => [secret]) }) : connect(place)
    socket.setNoDelay()
    socket.setTimeout(SILENCE_MS, () => socket.destroy())
    socket.on('error', ({ code }: NodeJS.ErrnoException) => {
      if (code === 'ECONNREFUSED') complaint ??= 'the server does not answer any more'
    })
    if (!isSecure)
      // To somebody who has begun a handshake: an alert, or the next step. A later chunk may begin within a record.
      socket.once('data', ([type]: Buffer) => {
        if (type !== 0x15 && type !== 0x16) complaint ??= 'it answers without TLS'
      })
    socket.on('data', (chunk: Buffer) => {
      if (!isSecure) return
      try {
        for (const { status, body } of reader.push(chunk)) {
          statuses.set(status, (statuses.get(status) ?? 0) + 1)
          if (![200, 400, 403, 413].includes(status)) complaint ??= `${status}: ${body.slice(0, 200)}`
          if (status === 200 && speaker === 'stranger')
            complaint ??= `a stranger was told ${body.slice(0, 200)}`
        }
      } catch (error) {
        complaint ??= (error as Error).message
      }
    })
    socket.on('close', () => resolve(complaint))
    void send(socket, pieces)
  })
}

async function send(socket: Socket, pieces: readonly Buffer[]): Promise<void> {
  for (const piece of pieces) {
    if (socket.destroyed) return
    socket.write(piece)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** Another member asks all the time. */
function askBeside(member: MemberFacts, secret: PeerSecret) {
  let isOver = false
  const asking = (async () => {
    const counts = { asked: 0, unanswered: 0 }
    for (; !isOver; counts.asked++) {
      const client = new PeerClient({ secrets: () => [secret] })
      if ((await client.ask(member, STANDING, {})) === undefined) counts.unanswered++
      client.close()
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    return counts
  })()
  return {
    stop: async () => {
      isOver = true
      return asking
    },
  }
}

/** The first bytes that a member sends. */
async function helloOf(member: MemberFacts, secret: PeerSecret): Promise<Buffer> {
  const seen: Buffer[] = []
  const listener = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', (bytes) => (seen.push(bytes), void socket.destroy()))
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const client = new PeerClient({ secrets: () => [secret] })
  await client.ask({ ...member, peerPort: (listener.address() as AddressInfo).port }, STANDING, {})
  client.close()
  listener.close()
  return seen[0]!
}

function residentBytes(pid: number): number {
  const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kib) * 1024
}
