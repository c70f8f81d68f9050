import { setTimeout as sleep } from 'node:timers/promises'
import type { GrpcToldResult } from '../jobs.ts'
import { processorMs, residentBytes } from '../process-usage.ts'
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

const DATA_ID = 'listened'
const CONNECTIONS = 5_000
const MANY_CONNECTIONS = 19_500

/** Connections over gRPC that listen to one item: what they cost, and how soon the last one has a change. */
export const grpcConfig: readonly Scenario[] = [
  {
    name: 'grpc-listen-5000',
    about:
      '5,000 connections over gRPC with their health checks, told of a change of an item, which they read',
    kinds: ['ours', 'peer', 'other'],
    freshRounds: true,
    notQuick: true,
    measure: listenAndTell,
  },
  {
    name: 'grpc-idle-19500',
    about: '19,500 idle connections over gRPC with their health checks (as many as 20,000 open files allow)',
    kinds: ['ours', 'peer', 'other'],
    freshRounds: true,
    long: true,
    measure: async (target) => {
      const clients = startClients()
      try {
        return await idle(target, clients, MANY_CONNECTIONS)
      } finally {
        await clients.stop()
      }
    },
  },
]

async function listenAndTell(target: Target, { quick }: Bench): Promise<Figures> {
  const { base } = target
  const clients = startClients()
  try {
    const idleFigures = await idle(target, clients, CONNECTIONS)
    let told: Figures = {}
    for (let version = 1; version <= (quick ? 2 : 3); version++) {
      const spent = await watch(target)
      const job = { job: 'grpc-tell', base, dataId: `${DATA_ID}-0`, version } as const
      const { publishMs, toldMs, haveMs, have } = (await clients.ask(job)) as GrpcToldResult
      if (have < CONNECTIONS) throw new Error(`${target.name} told ${have} of ${CONNECTIONS} connections.`)
      const last = { 'publisher ms': publishMs, 'last told ms': toldMs, 'last has it ms': haveMs }
      told = { ...last, ...(await spent(CONNECTIONS)) }
      await sleep(1_000)
    }
    // The first change runs cold code.
    return { ...told, ...idleFigures }
  } finally {
    await clients.stop()
  }
}

/** The cost of connections that listen to an item and ask for their health. */
async function idle({ base, pid }: Target, clients: Clients, connections: number): Promise<Figures> {
  const stream = { kind: 'publish', base: 'warm', count: 1 } as const
  // Some ordinary requests first, so that the cost of the first ones is not counted as memory of the connections.
  await loadOnce({ job: 'closed-loop', base, stream, connections: 4, requests: 1 })
  const before = pid === undefined ? 0 : residentBytes(pid)
  await clients.ask({ job: 'grpc-listen', base, connections, dataId: `${DATA_ID}-0` })
  await sleep(1_000)
  if (pid === undefined) return {}
  const [began, usedMs] = [performance.now(), processorMs(pid)]
  await clients.ask({ job: 'grpc-check', base, ms: 10_000 })
  const used = (processorMs(pid) - usedMs) / (performance.now() - began)
  return { 'KB a connection': (residentBytes(pid) - before) / connections / 1_024, 'idle %': used * 100 }
}
