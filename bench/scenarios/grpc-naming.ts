import {
  type Bench,
  type Figures,
  latencies,
  loadOnce,
  type Scenario,
  startClients,
  untilAtRest,
  watch,
  withoutFailures,
  withRest,
} from '../scenario.ts'
import type { Target } from '../target.ts'
import { registerSet } from './closed-loops.ts'

const SUBSCRIBERS = 2_000
const CONNECTIONS = 64
/** By then each subscriber has had the last change: r-nacos gathers changes for a second. */
const SETTLE_MS = 1_500

/** Service discovery over gRPC. */
export const grpcNaming: readonly Scenario[] = [
  {
    name: 'grpc-push-2000',
    about: 'a service of 10 instances, 2,000 subscribers over gRPC: from a change until each has it',
    kinds: ['ours', 'floor', 'peer', 'other'],
    freshRounds: true,
    notQuick: true,
    measure: pushToConnections,
  },
  {
    name: 'grpc-query',
    about: 'queries of services of 10 instances over gRPC, 64 connections',
    kinds: ['ours', 'floor', 'peer', 'other'],
    warmUp: true,
    prepare: async (target) => {
      if (target.kind !== 'floor') await registerSet(target, SET)
    },
    measure: (target, { seconds }) => grpcLoop(target, 'query', 2_000 * seconds),
  },
  {
    name: 'grpc-batch',
    about: 'batches of 50 instances over gRPC that replace the one before, 64 connections',
    kinds: ['ours', 'floor', 'peer', 'other'],
    warmUp: true,
    measure: (target, { seconds }) => grpcLoop(target, 'batch', 300 * seconds),
  },
]

const SET = { base: 'asked', count: 1_000, perService: 10, lasting: true }

/** How many clients a measurement has, and how long nothing happens after each change. */
export interface Subscribing {
  readonly subscribers: number
  readonly settleMs: number
}

/** Subscribers of one service; `push` takes the number of changes. After `end` the server has forgotten them. */
export interface Subscribed {
  push(changes: number): Promise<Figures>
  end(): Promise<void>
}

/** Opens connections that subscribe to a service. A change is made before: it runs cold code. */
export async function subscribeTo(
  target: Target,
  { subscribers, settleMs }: Subscribing,
): Promise<Subscribed> {
  const { base } = target
  const set = { base: 'streamed', count: 10, perService: 10, lasting: true }
  if (target.kind !== 'floor') await registerSet(target, set)
  const clients = startClients()
  const end = async (): Promise<void> => {
    await clients.stop()
    await untilAtRest(target)
  }
  let first = 1
  const push = async (changes: number): Promise<Figures> => {
    const spent = await watch(target)
    const pushed = await clients.load({ job: 'grpc-push', base, set, first, changes, settleMs })
    const result = withoutFailures(`push of ${target.name}`, pushed)
    first += changes
    const figures = { ...latencies(result, 'push '), ...(await spent(result.answered)) }
    return await withRest(target, result.answered, figures)
  }
  try {
    await clients.ask({ job: 'grpc-subscribe', base, set, subscribers })
    await push(1)
  } catch (error) {
    await clients.stop()
    throw error
  }
  return { push, end }
}

async function pushToConnections(target: Target, { quick }: Bench): Promise<Figures> {
  const subscribed = await subscribeTo(target, { subscribers: SUBSCRIBERS, settleMs: SETTLE_MS })
  return await subscribed.push(quick ? 3 : 10).finally(() => subscribed.end())
}

/** Requests over gRPC in a closed loop. */
export async function grpcLoop(
  target: Target,
  request: 'query' | 'batch',
  requests: number,
): Promise<Figures> {
  const { base } = target
  const spent = await watch(target)
  const loaded = await loadOnce({
    job: 'grpc-loop',
    base,
    request,
    name: request === 'query' ? SET.base : 'batched',
    services: SET.count / SET.perService,
    connections: CONNECTIONS,
    requests,
  })
  const result = withoutFailures(`${request} of ${target.name}`, loaded)
  const rate = (result.answered * 1_000) / result.elapsedMs
  const figures = { 'rate /s': rate, ...latencies(result), ...(await spent(result.answered)) }
  return await withRest(target, result.answered, figures)
}
