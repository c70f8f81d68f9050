import { spawn } from 'node:child_process'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { childOf } from './child.ts'
import { projectRoot } from './project.ts'
import type { Bench } from './scenario.ts'
import { directoryFor, firstAnswer, type Launch, launchOurs, type Target } from './target.ts'

/** Running members of etcd. */
export interface EtcdMembers {
  readonly endpoints: readonly string[]
  readonly pids: readonly number[]
  stop(): Promise<void>
}

/** Starts members of etcd on new data; `fsync`: each change is synced to the disk, as in production. */
async function launchEtcd({ members, fsync }: { members: 1 | 3; fsync: boolean }): Promise<EtcdMembers> {
  const script = pathToFileURL(join(projectRoot, 'scripts', 'etcd.js')).href
  const { builtEtcd } = (await import(script)) as { builtEtcd: () => Promise<string> }
  const file = await builtEtcd()
  const data = directoryFor()
  const places = await Promise.all(
    Array.from({ length: members }, async (_, index) => ({
      name: `etcd-${index}`,
      client: await freeUrl(),
      peer: await freeUrl(),
    })),
  )
  const cluster = places.map(({ name, peer }) => `${name}=${peer}`).join(',')
  const children = places.map(({ name, client, peer }) => {
    const flags = {
      name,
      'data-dir': join(data.path, name),
      'listen-client-urls': client,
      'advertise-client-urls': client,
      'listen-peer-urls': peer,
      'initial-advertise-peer-urls': peer,
      'initial-cluster': cluster,
      'log-level': 'fatal',
      ...(fsync ? {} : { 'unsafe-no-fsync': 'true' }),
    }
    const args = Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`)
    return childOf(spawn(file, args, { stdio: ['ignore', 'ignore', 'ignore'] }))
  })
  await Promise.all(places.map(({ client }) => firstAnswer(`${client}/health`)))
  return {
    endpoints: places.map(({ client }) => client),
    pids: children.map(({ pid }) => pid),
    stop: async () => {
      await Promise.all(children.map((child) => child.stop()))
      data.remove()
    },
  }
}

/** Our server as the only one on an etcd of its own. */
export function launchOnEtcd(mainFile: string): Launch {
  const launch = launchOurs('on-etcd', mainFile)
  return async (options = {}) => {
    const etcd = await launchEtcd({ members: 1, fsync: false })
    const settings = { ...options.settings, store: 'etcd', 'etcd-endpoints': etcd.endpoints.join(',') }
    const target = await launch({ ...options, settings })
    return {
      ...target,
      kind: 'on-etcd',
      stop: (signal) => target.stop(signal).then(() => etcd.stop()),
    }
  }
}

/** How many servers a cluster has. */
export const SERVERS = 3

/** Three servers on three members of etcd that sync each change, everything on this machine. */
export interface Cluster {
  readonly servers: readonly Target[]
  readonly pids: readonly number[]
  /** The common options of all servers. */
  readonly settings: Readonly<Record<string, string>>
  stop(): Promise<void>
}

/** Starts a cluster on new data. */
export async function launchCluster(like: Target, { launches }: Bench): Promise<Cluster> {
  const launch = launches[like.name]!
  const etcd = await launchEtcd({ members: 3, fsync: true })
  const settings = { store: 'etcd', 'etcd-endpoints': etcd.endpoints.join(',') }
  const servers: Target[] = []
  const stop = async (): Promise<void> => {
    await Promise.all(servers.map((server) => server.stop()))
    await etcd.stop()
  }
  try {
    for (let number = 0; number < SERVERS; number++) servers.push(await launch({ settings }))
  } catch (error) {
    await stop()
    throw error
  }
  return { servers, settings, pids: [...servers.map(({ pid }) => pid!), ...etcd.pids], stop }
}

async function freeUrl(): Promise<string> {
  const probe = createServer()
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve))
  const { port } = probe.address() as AddressInfo
  await new Promise((resolve) => probe.close(resolve))
  return `http://127.0.0.1:${port}`
}
