import { afterAll, beforeAll } from 'vitest'
import { type Etcd, ETCD_HOOK_MS, startEtcd } from './etcd.ts'
import { freePort, startWaypost, type Waypost, type WaypostOptions } from './waypost.ts'

/** Several servers on one etcd. */
export interface Cluster {
  readonly etcd: Etcd
  readonly servers: readonly Waypost[]
  /** The flags of a tool that works on their store. */
  readonly flags: readonly string[]
  /** Starts one more server; `other`: settings that differ from those of the cluster; by default on a free port. */
  join(other?: WaypostOptions['settings'], port?: number): Promise<Waypost>
  /** Stops the servers, then etcd. */
  stop(): Promise<void>
}

/** How a cluster is started. */
export interface ClusterOptions {
  readonly servers?: number
  readonly settings?: WaypostOptions['settings']
  readonly env?: WaypostOptions['env']
  readonly etcdMembers?: 1 | 3
}

/** Starts etcd and servers on it, and waits until all answer. */
export async function startCluster({
  servers: count = 3,
  settings = {},
  env = {},
  etcdMembers = 1,
}: ClusterOptions = {}): Promise<Cluster> {
  const etcd = await startEtcd({ members: etcdMembers })
  const place = { 'etcd-endpoints': etcd.endpoints.join(','), 'etcd-prefix': 'cluster-test' }
  const servers: Waypost[] = []
  const join: Cluster['join'] = async (other = {}, port) => {
    const peerPort = await freePort()
    const all = { store: 'etcd', ...place, 'peer-port': peerPort, ...settings, ...other }
    const server = await startWaypost({ settings: all, env, ...(port === undefined ? {} : { port }) })
    servers.push(server)
    return server
  }
  const stop = async (): Promise<void> => {
    await Promise.all(servers.map((server) => server.kill()))
    await etcd.stop()
  }
  try {
    await Promise.all(Array.from({ length: count }, () => join()))
  } catch (error) {
    await stop()
    throw error
  }
  const flags = Object.entries(place).map(([name, value]) => `--${name}=${value}`)
  return { etcd, servers, flags, join, stop }
}

/** Starts a cluster for the tests of the calling file or suite; the fields are filled when they run. */
export function clusterForTests(options?: ClusterOptions): Cluster {
  const cluster = {} as Cluster
  beforeAll(async () => void Object.assign(cluster, await startCluster(options)), ETCD_HOOK_MS)
  afterAll(() => cluster.stop?.())
  return cluster
}
