import { type Figures, startClients, untilAtRest, withRest } from './scenario.ts'
import { closedLoops, measureLoop, READ_BASE } from './scenarios/closed-loops.ts'
import { requestOf } from './scenarios/flat-cost.ts'
import { listenTo, tellAll } from './scenarios/grpc-config.ts'
import { grpcLoop, subscribeTo } from './scenarios/grpc-naming.ts'
import type { Target } from './target.ts'

/** An operation of one server that is measured round after round. */
export interface Measured {
  /** `number` is at least -1, and never the same again. */
  round(number: number): Promise<Figures>
  /** Resolves when the server has finished its work on the clients that leave. */
  end(): Promise<void>
}

const BATCHES = 600
const SUBSCRIBING = { subscribers: 2_000, settleMs: 100 }
const CHANGES = 3
const LISTENERS = 500
const PUBLISHES = 6

/** Operations with clients of gRPC; the others are closed loops. */
const OVER_GRPC: Readonly<Record<string, (target: Target) => Promise<Measured>>> = {
  batch: (target) =>
    Promise.resolve({ round: () => grpcLoop(target, 'batch', BATCHES), end: () => Promise.resolve() }),
  push: async (target) => {
    const subscribed = await subscribeTo(target, SUBSCRIBING)
    return { round: () => subscribed.push(CHANGES), end: () => subscribed.end() }
  },
  listen,
}

/** Prepares an operation of a server: a closed loop, a request of the table of flat cost, `batch`, `push` or `listen`. */
export async function begin(name: string, target: Target): Promise<Measured> {
  const overGrpc = OVER_GRPC[name]
  if (overGrpc !== undefined) return await overGrpc(target)
  return { round: (number) => loopOf(name, target, number), end: () => Promise.resolve() }
}

function loopOf(name: string, target: Target, round: number): Promise<Figures> {
  const scenario = closedLoops.find((each) => each.name === name)
  const bench = { quick: true, rounds: 1, seconds: 1, launches: {} }
  if (scenario !== undefined) return scenario.measure(target, bench, round)
  const item = { base: READ_BASE, count: 1, connections: 64, seconds: bench.seconds }
  return measureLoop(target, { ...item, ...requestOf(name, target) })
}

async function listen(target: Target): Promise<Measured> {
  const clients = startClients()
  try {
    await listenTo(target, clients, LISTENERS)
  } catch (error) {
    await clients.stop()
    throw error
  }
  const round = async (number: number): Promise<Figures> => {
    const versions = Array.from({ length: PUBLISHES }, (_unused, index) => (number + 2) * PUBLISHES + index)
    const told = await tellAll(target, clients, { connections: LISTENERS, versions })
    return await withRest(target, LISTENERS * PUBLISHES, told)
  }
  const end = async (): Promise<void> => {
    await clients.stop()
    await untilAtRest(target)
  }
  return { round, end }
}
