import {
  type Bench,
  type Figures,
  latencies,
  loadOnce,
  type Scenario,
  startClients,
  watch,
} from '../scenario.ts'
import type { Target } from '../target.ts'
import { registerSet } from './closed-loops.ts'

const SUBSCRIBERS = 2_000
const CONNECTIONS = 64

/** Service discovery over gRPC. */
export const grpcNaming: readonly Scenario[] = [
  {
    name: 'grpc-push-2000',
    about: 'a service of 10 instances, 2,000 subscribers over gRPC: from a change until each has it',
    kinds: ['ours', 'peer', 'other'],
    freshRounds: true,
    notQuick: true,
    measure: pushToConnections,
  },
  {
    name: 'grpc-query',
    about: 'queries of services of 10 instances over gRPC, 64 connections',
    kinds: ['ours', 'peer', 'other'],
    warmUp: true,
    prepare: (target) => registerSet(target, SET),
    measure: (target, bench) => loop(target, bench, 'query'),
  },
  {
    name: 'grpc-batch',
    about: 'batches of 50 instances over gRPC that replace the one before, 64 connections',
    kinds: ['ours', 'peer', 'other'],
    warmUp: true,
    measure: (target, bench) => loop(target, bench, 'batch'),
  },
]

const SET = { base: 'asked', count: 1_000, perService: 10, lasting: true }

async function pushToConnections(target: Target, { quick }: Bench): Promise<Figures> {
  const { base } = target
  const set = { base: 'streamed', count: 10, perService: 10, lasting: true }
  await registerSet(target, set)
  const clients = startClients()
  try {
    await clients.ask({ job: 'grpc-subscribe', base, set, subscribers: SUBSCRIBERS })
    // The first change runs cold code.
    await clients.load({ job: 'grpc-push', base, set, first: 1, changes: 1 })
    const spent = await watch(target)
    const result = await clients.load({ job: 'grpc-push', base, set, first: 2, changes: quick ? 3 : 10 })
    return { ...latencies(result, 'push '), failed: result.failed, ...(await spent(result.answered)) }
  } finally {
    await clients.stop()
  }
}

async function loop(target: Target, { seconds }: Bench, request: 'query' | 'batch'): Promise<Figures> {
  const { base } = target
  const perSecond = request === 'query' ? 2_000 : 300
  const spent = await watch(target)
  const result = await loadOnce({
    job: 'grpc-loop',
    base,
    request,
    name: request === 'query' ? SET.base : 'batched',
    services: SET.count / SET.perService,
    connections: CONNECTIONS,
    requests: perSecond * seconds,
  })
  const rate = (result.answered * 1_000) / result.elapsedMs
  return { 'rate /s': rate, ...latencies(result), ...(await spent(result.answered)) }
}
