/** Several servers on etcd that judge silent instances together, and ask each other over the peer channel. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { PeerClient } from '../../src/cluster/peer-client.ts'
import { peerSecretOf } from '../../src/cluster/peer-secret.ts'
import { PeerServer } from '../../src/cluster/peer-server.ts'
import { SharedNamingCare } from '../../src/cluster/shared-naming-care.ts'
import { address, ORDERS, registration } from '../../src/core/core.test-support.ts'
import { type Command, synced } from '../../src/core/decisions/decision.ts'
import { beat } from '../../src/core/naming/liveness/beat.ts'
import { HealthClock } from '../../src/core/naming/liveness/health-clock.ts'
import { Liveness } from '../../src/core/naming/liveness/liveness.ts'
import { registerInstance } from '../../src/core/naming/commands/register-instance.ts'
import { SWEEP_MS } from '../../src/jobs/naming-care.ts'
import { describeOnEtcd } from '../support/etcd.ts'
import { etcdForThisFile } from './etcd-of-file.ts'

const SECRET = peerSecretOf('the secret of the test')
const ALIVE = 80
const DEAD = 81
const BEAT_MS = 300
const TIMES = { 'preserved.heart.beat.timeout': '2000', 'preserved.ip.delete.timeout': '4000' }

type Judging = Awaited<ReturnType<typeof startJudging>>

const here = etcdForThisFile()
let servers: Judging[] = []
let beating: NodeJS.Timeout | undefined

const monotonicMs = (): number => performance.now()

/** Starts a server with the peer channel and the care for instances. */
async function startJudging(port: number) {
  const clock = new HealthClock(monotonicMs(), SWEEP_MS)
  const liveness = new Liveness()
  const process = `judging ${here.prefix} ${port}`
  const report = (error: unknown): void => void failures.push(error)
  const failures: unknown[] = []
  const peers = await PeerServer.open({
    host: '127.0.0.1',
    port: 0,
    process,
    secrets: () => [SECRET],
    report,
  })
  const options = { liveness, healthMs: () => clock.at(monotonicMs()), peerPort: peers.port, process }
  const server = await here.start(here.prefix, port, options)
  const client = new PeerClient({ secrets: () => [SECRET] })
  const { state, engine, id, membership } = server
  const care = new SharedNamingCare({
    state,
    liveness,
    isAlive: () => true,
    engine,
    clock,
    monotonicMs,
    loop: { now: monotonicMs, soon: (run) => void setImmediate(run) },
    self: id,
    isMember: () => monotonicMs() < membership.leaseUntilMs(),
    client,
    log: { warn: () => {} },
    report,
    emptyServiceExpiryMs: 60_000,
    expiredMetadataTimeMs: 60_000,
  })
  care.answerOn(peers)
  await membership.join({ ...server.facts, process })
  const sweeping = setInterval(() => care.sweep(), SWEEP_MS)
  return {
    ...server,
    care,
    peers,
    failures,
    /** A beat that comes to this server. */
    beat: (where: number) => {
      const now = { wallMs: 0, healthMs: clock.at(monotonicMs()), stamp: 0 }
      const result = beat({ state, liveness }, { serviceKey: ORDERS, ...address({ port: where }) }, now)
      if (result.kind === 'renewed') engine.applyBehind(result.healed)
    },
    /** Leaves, but answers nobody before that any more. */
    stop: async () => {
      clearInterval(sweeping)
      client.close()
      await peers.close()
      await server.stop()
    },
  }
}

/** An instance beats at a random server. */
function startBeating(): void {
  beating = setInterval(() => servers[Math.floor(Math.random() * servers.length)]?.beat(ALIVE), BEAT_MS)
}

const register = (port: number) =>
  registerInstance(registration({ address: address({ port }), metadata: TIMES }))

/** The changes of an instance on any server, apart from its registration. */
function changesOf(port: number): string[] {
  return servers
    .flatMap(({ seen }) => seen)
    .filter((change) => 'address' in change && change.address.port === port)
    .map(({ kind }) => kind)
}

const healthOf = (port: number) =>
  servers.map(({ state }) => state.instance(ORDERS, address({ port }))?.healthy ?? 'gone')

describeOnEtcd('servers on etcd that judge together', 120_000, () => {
  beforeEach(async () => {
    for (const port of [1, 2, 3]) servers.push(await startJudging(port))
    await expect
      .poll(() => servers.map((server) => server.members().length), { timeout: 30_000 })
      .toEqual([3, 3, 3])
    for (const port of [ALIVE, DEAD]) await servers[0]!.engine.execute(register(port))
    startBeating()
  })
  afterEach(async () => {
    clearInterval(beating)
    const stopping = servers
    servers = []
    await Promise.all(stopping.map((server) => server.stop()))
    expect(stopping.flatMap(({ failures }) => failures)).toEqual([])
  })

  test('remove what is dead, and keep what beats at any of them', async () => {
    await expect.poll(() => healthOf(DEAD), { timeout: 60_000 }).toEqual(['gone', 'gone', 'gone'])
    const removed = servers[1]!.seen.filter(({ kind }) => kind === 'instance-removed')
    expect(removed).toMatchObject([{ address: { port: DEAD }, reason: 'expired' }])
    expect(healthOf(ALIVE)).toEqual([true, true, true])
    expect(changesOf(ALIVE)).toEqual([])
    const figures = servers.map(({ care }) => care.figures())
    expect(figures.reduce((sum, { questions }) => sum + questions, 0)).toBeGreaterThan(0)
    expect(figures.map(({ restored }) => restored)).toEqual([0, 0, 0])
  })

  test('wait for a member that does not answer until it is a member no more', async () => {
    const judge = servers.find(({ care }) => care.judges(ORDERS))!
    const silent = servers.find((server) => server !== judge)!
    await silent.peers.close()
    await expect.poll(() => judge.care.figures().unanswered, { timeout: 30_000 }).toBeGreaterThan(8)
    expect(healthOf(DEAD)).toEqual([true, true, true])
    servers = servers.filter((server) => server !== silent)
    await silent.stop()
    await expect.poll(() => healthOf(DEAD), { timeout: 60_000 }).toEqual(['gone', 'gone'])
    expect([changesOf(ALIVE), healthOf(ALIVE)]).toEqual([[], [true, true]])
  })

  test('bring back what was removed although one of them has received a beat', async () => {
    const [one] = servers
    one!.beat(ALIVE)
    const { serial } = one!.state.instance(ORDERS, address({ port: ALIVE }))!.record
    const about = { serviceKey: ORDERS, address: address({ port: ALIVE }), serial }
    const misjudge: Command<void> = {
      subject: 'planted',
      decide: (_view, { stamp }) =>
        synced([{ kind: 'instance-removed', ...about, reason: 'expired', stamp }], undefined),
    }
    await one!.engine.execute(misjudge)
    await expect.poll(() => healthOf(ALIVE), { timeout: 30_000 }).toEqual([true, true, true])
    await expect
      .poll(() => servers.reduce((sum, { care }) => sum + care.figures().restored, 0), { timeout: 30_000 })
      .toBeGreaterThan(0)
  })
})
