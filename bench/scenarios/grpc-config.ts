import { setTimeout as sleep } from 'node:timers/promises'
import type { GrpcToldResult } from '../jobs.ts'
import { mostOpenFiles, processorMs, residentBytes } from '../process-usage.ts'
import {
  type Bench,
  type Clients,
  type Figures,
  loadOnce,
  type Scenario,
  startClients,
  watch,
} from '../scenario.ts'
import type { Target } from '../target.ts'

const LISTENED = 'listened-0'
const CONNECTIONS = 5_000
const MOST_CONNECTIONS = 19_500
/** Open files of a port of our server that are no connections of clients, and some more. */
const OTHER_FILES = 600

/** Connections over gRPC that listen to one item: what they cost, and how soon the last one has a change. */
export const grpcConfig: readonly Scenario[] = [
  {
    name: 'grpc-listen-5000',
    about:
      '5,000 connections over gRPC with their health checks, told of a change of an item, which they read',
    kinds: ['ours', 'floor', 'peer', 'other'],
    freshRounds: true,
    notQuick: true,
    measure: listenAndTell,
  },
  {
    name: 'grpc-idle-most',
    about:
      'idle connections over gRPC with their health checks: as many as open files allow, and at most 19,500',
    kinds: ['ours', 'floor', 'peer', 'other'],
    freshRounds: true,
    long: true,
    // Beside other work its clients are too slow with their health checks, and the server ends them.
    ownName: true,
    measure: async (target) => {
      const clients = startClients()
      try {
        const connections = mostConnections(target)
        return { connections, ...(await idle(target, clients, connections)) }
      } finally {
        await clients.stop()
      }
    },
  },
]

/** Our server gives each of its two ports half of its open files, and refuses further connections. */
function mostConnections({ pid }: Target): number {
  const files = mostOpenFiles(pid ?? process.pid)
  return Math.min(MOST_CONNECTIONS, Math.floor(files / 2) - OTHER_FILES)
}

async function listenAndTell(target: Target, { quick }: Bench): Promise<Figures> {
  const clients = startClients()
  try {
    const idleFigures = await idle(target, clients, CONNECTIONS)
    let told: Figures = {}
    for (let version = 1; version <= (quick ? 2 : 3); version++) {
      told = await tellAll(target, clients, { connections: CONNECTIONS, versions: [version] })
      await sleep(1_000)
    }
    // The first change runs cold code.
    return { ...told, ...idleFigures }
  } finally {
    await clients.stop()
  }
}

/** The connections that listen, and what is published. No version may come again. */
interface Telling {
  readonly connections: number
  readonly versions: readonly number[]
}

/** Publishes one version after the other, each when all connections have the one before. The last one has the times. */
export async function tellAll(
  target: Target,
  clients: Clients,
  { connections, versions }: Telling,
): Promise<Figures> {
  const { base } = target
  const spent = await watch(target)
  let last: Figures = {}
  for (const version of versions) {
    const job = { job: 'grpc-tell', base, dataId: LISTENED, version } as const
    const { publishMs, toldMs, haveMs, have } = (await clients.ask(job)) as GrpcToldResult
    if (have < connections) throw new Error(`${target.name} told ${have} of ${connections} connections.`)
    last = { 'publisher ms': publishMs, 'last told ms': toldMs, 'last has it ms': haveMs }
  }
  return { ...last, ...(await spent(connections * versions.length)) }
}

/** Opens connections that listen to the item that is published. */
export async function listenTo({ base }: Target, clients: Clients, connections: number): Promise<void> {
  await clients.ask({ job: 'grpc-listen', base, connections, dataId: LISTENED })
}

/** The cost of connections that listen to an item and ask for their health. */
async function idle(target: Target, clients: Clients, connections: number): Promise<Figures> {
  const { base, pid } = target
  const stream = { kind: 'publish', base: 'warm', count: 1 } as const
  // Some ordinary requests first, so that the cost of the first ones is not counted as memory of the connections.
  if (target.kind !== 'floor')
    await loadOnce({ job: 'closed-loop', base, stream, connections: 4, requests: 1 })
  const before = pid === undefined ? 0 : residentBytes(pid)
  await listenTo(target, clients, connections)
  await sleep(1_000)
  if (pid === undefined) return {}
  const [began, usedMs] = [performance.now(), processorMs(pid)]
  await clients.ask({ job: 'grpc-check', base, ms: 10_000 })
  const used = (processorMs(pid) - usedMs) / (performance.now() - began)
  return { 'KB a connection': (residentBytes(pid) - before) / connections / 1_024, 'idle %': used * 100 }
}
