import { setTimeout as sleep } from 'node:timers/promises'
import type { WakeResult } from '../jobs.ts'
import { processorMs, residentBytes } from '../process-usage.ts'
import { type Bench, type Figures, loadOnce, type Scenario, startClients, watch } from '../scenario.ts'
import type { Target } from '../target.ts'

const DATA_ID = 'held'

interface Crowd {
  readonly polls: number
  /** How long processor use is measured while they are held. */
  readonly idleMs: number
}

/** The largest is near the limit of 20,000 open files of a process, of the server without gRPC and of the clients. */
const CROWDS: readonly Crowd[] = [
  { polls: 4_000, idleMs: 2_000 },
  { polls: 10_000, idleMs: 2_000 },
  { polls: 15_000, idleMs: 10_000 },
]

/** Many polls of one item: how soon the last one is answered after a change, and their cost while they are held. */
export const heldPolls: readonly Scenario[] = CROWDS.map(({ polls, idleMs }) => ({
  name: `polls-${polls}`,
  about: `${polls.toLocaleString('en')} held polls of one item, answered after its change`,
  kinds: ['ours', 'floor', 'peer', 'other'],
  freshRounds: true,
  // A second port would have half of the open files.
  settings: { 'grpc-port': '0' },
  notQuick: polls > 4_000,
  measure: (target, bench) => holdAndWake(target, bench, { polls, idleMs }),
}))

async function holdAndWake(target: Target, { quick }: Bench, { polls, idleMs }: Crowd): Promise<Figures> {
  const { base, pid } = target
  const stream = { kind: 'publish', base: DATA_ID, count: 1 } as const
  // Some ordinary requests first, so that the cost of the first ones is not counted as memory of the polls.
  if (target.kind !== 'floor')
    await loadOnce({ job: 'closed-loop', base, stream, connections: 4, requests: 1 })
  const clients = startClients()
  try {
    const item = { base, dataId: `${DATA_ID}-0` }
    const before = pid === undefined ? 0 : residentBytes(pid)
    await clients.ask({ job: 'hold', ...item, polls, version: 0 })
    await sleep(1_000)
    const after = pid === undefined ? 0 : residentBytes(pid)
    const idleBefore = pid === undefined ? 0 : processorMs(pid)
    await sleep(idleMs)
    const idle = pid === undefined ? 0 : (processorMs(pid) - idleBefore) / idleMs
    const wakes: Figures[] = []
    for (let version = 1; version <= (quick ? 2 : 3); version++) {
      const spent = await watch(target)
      const woken = (await clients.ask({ job: 'wake', ...item, version })) as WakeResult
      if (woken.answered < polls)
        throw new Error(`${target.name} answered ${woken.answered} of ${polls} polls.`)
      wakes.push({
        'publisher ms': woken.publishMs,
        'first ms': woken.firstMs,
        'last ms': woken.lastMs,
        ...(await spent(polls)),
      })
      await clients.ask({ job: 'hold', ...item, polls, version })
      await sleep(1_000)
    }
    // The first wake-up runs cold code.
    return { ...wakes.at(-1), 'KB a poll': (after - before) / polls / 1_024, 'idle %': idle * 100 }
  } finally {
    await clients.stop()
  }
}
