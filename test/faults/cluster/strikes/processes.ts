import { isLong } from '../../fault-run.ts'
import { REMOVE_MS } from '../load/beating.ts'
import { compact, leaderOf } from '../network/etcd-control.ts'
import { CUT, OPEN } from '../network/gate.ts'
import type { StruckServer } from '../network/struck-cluster.ts'
import { startMovingClient } from './connections.ts'
import {
  holds,
  judgeOfSteady,
  LEASE_MS,
  metricOf,
  pause,
  readinessOf,
  registerSilent,
  type Scene,
  seconds,
  SLACK,
  type Strike,
} from './scene.ts'

/** A sweep, and the time until the list is asked for. */
const SWEEP_MS = 3_000
const FREEZE_MS = isLong ? 40_000 : 14_000

/** Strikes against processes: servers and members of etcd that are killed or frozen. */
export const PROCESS_STRIKES: readonly Strike[] = [
  {
    name: 'nothing: an instance that is silent leaves in time',
    form: 'night',
    struck: () => [],
    isHiddenFromOthers: true,
    async run({ cluster: { servers }, note }) {
      const listed = await registerSilent(servers[1]!, 'silent-1')
      const gone = async (): Promise<boolean> => (await listed(servers[0]!)) === 0
      const tookMs = await holds('silent instances leave', gone, (REMOVE_MS + SWEEP_MS) * SLACK)
      note(`silent instances were gone after ${seconds(tookMs)}`)
    },
  },
  ...[0, 1, 2].map((index) => killed(index)),
  {
    name: 'kill -9 of the leader of etcd',
    form: 'night',
    struck: () => [],
    async run(scene) {
      const leader = await leaderOf(scene.cluster.etcd)
      const fromMs = performance.now()
      await leader.kill()
      await writesAgain(scene, fromMs)
      await pause(3_000)
      await leader.restart()
    },
  },
  {
    name: 'SIGSTOP of the leader of etcd for 15 s',
    form: 'long',
    struck: () => [],
    async run(scene) {
      const leader = await leaderOf(scene.cluster.etcd)
      const fromMs = performance.now()
      leader.pause()
      try {
        await writesAgain(scene, fromMs)
        await pause(15_000)
      } finally {
        leader.resume()
      }
    },
  },
  {
    name: 'kill -9 of two of three members of etcd',
    form: 'night',
    struck: () => [0, 1, 2],
    staysReady: true,
    async run({ cluster: { etcd, servers }, note }) {
      const [one, two] = etcd.members
      await Promise.all([one!.kill(), two!.kill()])
      const isNamed = async (server: StruckServer): Promise<boolean> => {
        const { status, text } = await readinessOf(server)
        return status === 200 && text.includes('store-unavailable')
      }
      for (const server of servers)
        await holds(`/readyz of ${server.name} names the outage`, () => isNamed(server))
      await pause(LEASE_MS + 4_000)
      for (const server of servers)
        await holds(`/readyz of ${server.name} stays 200`, () => isNamed(server), 5_000)
      await Promise.all([one!.restart(), two!.restart()])
      note('/readyz stayed 200 and named the outage')
    },
  },
  {
    name: `SIGSTOP for ${FREEZE_MS / 1_000} s of the server that judges`,
    form: 'change',
    struck: (scene) => [judgeOfSteady(scene.cluster).index],
    isHiddenFromOthers: true,
    run: async (scene) => frozen(scene, judgeOfSteady(scene.cluster)),
  },
  {
    name: `SIGSTOP for ${FREEZE_MS / 1_000} s of a server that does not judge`,
    form: 'long',
    struck: (scene) => [bystander(scene).index],
    isHiddenFromOthers: true,
    run: async (scene) => frozen(scene, bystander(scene)),
  },
  {
    name: `SIGSTOP for ${FREEZE_MS / 1_000} s of all servers`,
    form: 'long',
    struck: () => [0, 1, 2],
    async run({ cluster: { servers }, note }) {
      for (const server of servers) server.freeze()
      try {
        await pause(FREEZE_MS)
      } finally {
        for (const server of servers) server.thaw()
      }
      const areReady = async (): Promise<boolean> => {
        const all = await Promise.all(servers.map(readinessOf))
        return all.every(({ status }) => status === 200)
      }
      note(`ready again ${seconds(await holds('all are ready again', areReady))} after SIGCONT`)
    },
  },
  {
    name: 'a server stopped with SIGTERM, and started again',
    form: 'night',
    struck: () => [1],
    isHiddenFromOthers: true,
    async run({ cluster: { servers }, note }) {
      const fromMs = performance.now()
      await servers[1]!.stop()
      await servers[1]!.restart()
      note(`started again ${seconds(performance.now() - fromMs)} after SIGTERM`)
    },
  },
  {
    name: 'etcd compacted while a server is away',
    form: 'night',
    struck: () => [2],
    isHiddenFromOthers: true,
    async run({ cluster: { etcd, servers } }) {
      const away = servers[2]!
      const before = (await metricOf(away, 'waypost_store_reloads_total'))!
      away.toEtcd(CUT)
      away.breakEtcd()
      await pause(4_000)
      await compact(etcd)
      away.breakEtcd()
      away.toEtcd(OPEN)
      const isReloaded = async (): Promise<boolean> => {
        return ((await metricOf(away, 'waypost_store_reloads_total')) ?? 0) > before
      }
      await holds('the server has loaded everything again', isReloaded)
    },
  },
  {
    name: 'kill -9 of all servers at once',
    form: 'long',
    struck: () => [0, 1, 2],
    async run({ cluster: { servers } }) {
      await Promise.all(servers.map(async (server) => server.kill()))
      await Promise.all(servers.map(async (server) => server.restart()))
    },
  },
  {
    name: 'kill -9 of all servers and all members of etcd at once',
    form: 'night',
    struck: () => [0, 1, 2],
    async run({ cluster: { servers, etcd } }) {
      await Promise.all([...servers, ...etcd.members].map(async (each) => each.kill()))
      await Promise.all(etcd.members.map(async (member) => member.restart()))
      await Promise.all(servers.map(async (server) => server.restart()))
    },
  },
]

function killed(index: number): Strike {
  return {
    name: `kill -9 of server ${index + 1}`,
    form: index === 0 ? 'change' : 'long',
    struck: () => [index],
    isHiddenFromOthers: true,
    async run({ cluster: { servers }, note }) {
      const listed = await registerSilent(servers[index]!, `silent-of-${index}`)
      await servers[index]!.kill()
      const other = servers[(index + 1) % servers.length]!
      const limitMs = (2 * REMOVE_MS + LEASE_MS + SWEEP_MS) * SLACK
      const tookMs = await holds('silent instances leave', async () => (await listed(other)) === 0, limitMs)
      note(`silent instances were gone after ${seconds(tookMs)}`)
      const fromMs = performance.now()
      await servers[index]!.restart()
      note(`started again in ${seconds(performance.now() - fromMs)}`)
    },
  }
}

function bystander({ cluster }: Scene): StruckServer {
  const judge = judgeOfSteady(cluster)
  return cluster.servers.find((server) => server !== judge)!
}

/** Waits until every server has written something that was asked for after the strike. */
async function writesAgain({ load, note }: Scene, struckMs: number): Promise<void> {
  const isWritten = (): boolean =>
    [0, 1, 2].every((server) => {
      return load.recording.operations.some(
        (each) =>
          each.server === server &&
          each.kind === 'publish' &&
          each.outcome === 'ok' &&
          each.begunMs > struckMs + 100,
      )
    })
  const tookMs = await holds('every server writes again', isWritten, 5_000 * SLACK)
  note(`every server wrote again after ${seconds(tookMs)}`)
}

async function frozen({ cluster, note }: Scene, server: StruckServer): Promise<void> {
  const other = cluster.servers.find((each) => each !== server)!
  const client = await startMovingClient(server)
  server.freeze()
  try {
    await client.move(other)
    await pause(FREEZE_MS)
  } finally {
    server.thaw()
  }
  await client.stays(other)
  const tookMs = await holds('it is ready again', async () => (await readinessOf(server)).status === 200)
  note(`ready again ${seconds(tookMs)} after SIGCONT`)
}
