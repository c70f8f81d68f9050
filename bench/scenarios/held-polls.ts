import { setTimeout as sleep } from 'node:timers/promises'
import type { WakeResult } from '../jobs.ts'
import { processorMs, residentBytes } from '../process-usage.ts'
import { type Bench, type Figures, loadOnce, type Scenario, startClients, watch } from '../scenario.ts'
import type { Target } from '../target.ts'

const DATA_ID = 'held'
const IDLE_MS = 2_000

/** Many polls of one item: how soon the last of them hears of a change, and what they cost while they wait. */
export const heldPolls: readonly Scenario[] = [4_000, 10_000].map((polls) => ({
  name: `polls-${polls}`,
  about: `${polls.toLocaleString('en')} held polls of one item, answered after its change`,
  kinds: ['ours', 'floor', 'peer', 'other'],
  freshRounds: true,
  notQuick: polls > 4_000,
  measure: (target, bench) => holdAndWake(target, bench, polls),
}))

async function holdAndWake(target: Target, { quick }: Bench, polls: number): Promise<Figures> {
  const { base, pid } = target
  const stream = { kind: 'publish', base: DATA_ID, count: 1 } as const
  // Some ordinary work first, so that what a first request costs is not counted as the polls' memory.
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
    await sleep(IDLE_MS)
    const idle = pid === undefined ? 0 : (processorMs(pid) - idleBefore) / IDLE_MS
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
