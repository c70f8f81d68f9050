import { leaderOf } from '../network/etcd-control.ts'
import { CUT } from '../network/gate.ts'
import type { StruckCluster } from '../network/struck-cluster.ts'
import { holds, isWhole, LEASE_MS, pause } from '../strikes/scene.ts'

/** Something that is done to the servers or to etcd below real libraries. Everything is mended when it ends. */
export interface LibraryStrike {
  readonly title: string
  /** `meanwhile` is called while the damage is there; not where no server can write. */
  readonly run: (cluster: StruckCluster, meanwhile: () => Promise<void>) => Promise<void>
}

/** Longer than a lease, so that the others take a server for lost. */
const LOST_MS = LEASE_MS + 4_000
const SHORT_MS = 5_000

/** One after the other. */
export const LIBRARY_STRIKES: readonly LibraryStrike[] = [
  killed(0),
  killed(1),
  killed(2),
  {
    title: 'all servers stopped in order and started again, one after the other',
    async run(cluster, meanwhile) {
      for (const server of cluster.servers) {
        await server.stop()
        await meanwhile()
        await server.restart()
        await holds('all servers are whole again', () => isWhole(cluster))
      }
    },
  },
  frozen(0),
  frozen(1),
  frozen(2),
  {
    title: 'a server cut off from etcd',
    async run({ servers }, meanwhile) {
      servers[2]!.toEtcd(CUT)
      await meanwhile()
      await pause(LOST_MS)
      servers[2]!.heal()
    },
  },
  {
    title: 'kill -9 of the leader of etcd',
    async run({ etcd }, meanwhile) {
      const leader = await leaderOf(etcd)
      await leader.kill()
      await meanwhile()
      await pause(SHORT_MS)
      await leader.restart()
    },
  },
  {
    title: 'a server cut off from the others',
    async run({ servers }, meanwhile) {
      servers[0]!.toPeers(CUT)
      servers[0]!.fromPeers(CUT)
      await meanwhile()
      await pause(LOST_MS)
      servers[0]!.heal()
    },
  },
  {
    title: 'kill -9 of all servers',
    async run({ servers }) {
      await Promise.all(servers.map((server) => server.kill()))
      await pause(SHORT_MS)
      await Promise.all(servers.map((server) => server.restart()))
    },
  },
]

/** Each server has other clients of gRPC, so each is struck. */
function killed(index: number): LibraryStrike {
  return {
    title: `kill -9 of server ${index + 1}`,
    async run({ servers }, meanwhile) {
      await servers[index]!.kill()
      await meanwhile()
      await pause(LOST_MS)
      await servers[index]!.restart()
    },
  }
}

function frozen(index: number): LibraryStrike {
  return {
    title: `SIGSTOP of server ${index + 1}`,
    async run({ servers }, meanwhile) {
      servers[index]!.freeze()
      try {
        await meanwhile()
        await pause(LOST_MS)
      } finally {
        servers[index]!.thaw()
      }
    },
  }
}
