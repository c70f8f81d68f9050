import { setTimeout as sleep } from 'node:timers/promises'
import { closedLoop } from '../loads.ts'
import { metric } from '../metrics.ts'
import { type Bench, type Figures, type Scenario, startClients, watch } from '../scenario.ts'
import { directoryFor, type Target } from '../target.ts'

const POLL_MS = 10
const MOST_WAIT_MS = 30_000
/** How long after the load the crash comes. By then all registrations must be on disk. */
const CRASH_AFTER_MS = 1_000

/** How long acknowledged registrations take until they are on disk. */
export const writtenBehind: readonly Scenario[] = [
  {
    name: 'behind',
    about:
      'a burst of 100,000 registrations on 64 connections: until all are on disk; a crash 1 s after the last answer',
    kinds: ['ours'],
    rounds: 1,
    measure: burstAndCrash,
  },
]

async function burstAndCrash(like: Target, { quick, launches }: Bench): Promise<Figures> {
  const launch = launches[like.name]!
  const count = quick ? 50_000 : 100_000
  const data = directoryFor()
  try {
    const first = await launch({ dataDir: data.path })
    const figures = await burst(first, count).finally(() => first.stop('SIGKILL'))
    const second = await launch({ dataDir: data.path })
    const known = await metric(second, 'waypost_instances').finally(() => second.stop())
    return { ...figures, 'lost in the crash': count - known }
  } finally {
    data.remove()
  }
}

async function burst(target: Target, count: number): Promise<Figures> {
  const set = { base: 'behind', count, perService: 10, lasting: true }
  const clients = startClients()
  try {
    const spent = await watch(target)
    const { answered, failed, elapsedMs } = await clients.load({
      job: 'closed-loop',
      base: target.base,
      stream: { kind: 'register', set, version: 0 },
      connections: 64,
      requests: count,
    })
    const ended = performance.now()
    const { behind, onDiskMs } = await untilOnDisk(target, ended)
    // The complete cost, including the writes after the load.
    const costs = await spent(answered)
    await sleep(Math.max(0, ended + CRASH_AFTER_MS - performance.now()))
    const rate = (answered / elapsedMs) * 1_000
    return { 'rate /s': rate, failed, 'behind at the end': behind, 'on disk ms': onDiskMs, ...costs }
  } finally {
    await clients.stop()
  }
}

/** Polls the server until it has nothing left to write. */
async function untilOnDisk(target: Target, ended: number): Promise<{ behind: number; onDiskMs: number }> {
  const behind = await metric(target, 'waypost_store_rows_behind')
  for (let left = behind; left > 0; left = await metric(target, 'waypost_store_rows_behind')) {
    if (performance.now() - ended > MOST_WAIT_MS)
      throw new Error(`${left} records are not on disk ${MOST_WAIT_MS} ms after the load.`)
    await sleep(POLL_MS)
  }
  // The rows of a running commit are not counted any more. A publish is answered after that commit and its own.
  const stream = { kind: 'publish', base: 'behind', count: 1 } as const
  await closedLoop({ job: 'closed-loop', base: target.base, stream, connections: 1, requests: 1 })
  return { behind, onDiskMs: performance.now() - ended }
}
