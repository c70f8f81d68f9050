import { setTimeout as sleep } from 'node:timers/promises'
import { processorMs, residentBytes } from '../process-usage.ts'
import { type Bench, type Figures, loadOnce, type Scenario } from '../scenario.ts'
import { medians } from '../table.ts'
import { directoryFor, type Target } from '../target.ts'

const IDLE_MS = 3_000
/** A single start differs from the next one by a tenth. */
const STARTS = 7

/** The memory of a new server, and its time to the first answer. */
export const startAndIdle: readonly Scenario[] = [
  {
    name: 'idle',
    about: 'a fresh server without data: start to first answer, memory and processor use when idle',
    kinds: ['ours', 'floor', 'peer'],
    freshRounds: true,
    measure: async (target) => {
      await sleep(1_000)
      const before = processorMs(target.pid!)
      await sleep(IDLE_MS)
      const idle = ((processorMs(target.pid!) - before) / IDLE_MS) * 100
      return { 'start ms': target.startMs, 'rss MB': residentBytes(target.pid!) / 1e6, 'idle %': idle }
    },
  },
  restart('start-10k', { configs: 10_000, publishes: 10_000, instances: 10_000 }),
  { ...restart('start-100k', { configs: 100_000, publishes: 1_000_000, instances: 0 }), long: true },
]

interface Amounts {
  readonly configs: number
  readonly publishes: number
  readonly instances: number
}

function restart(name: string, amounts: Amounts): Scenario {
  const { configs, publishes, instances } = amounts
  const numbers = [configs, publishes, instances].map((count) => count.toLocaleString('en'))
  return {
    name,
    about: `start to first answer with ${numbers[0]} items, ${numbers[1]} history records, ${numbers[2]} instances`,
    kinds: ['ours', 'peer'],
    rounds: 1,
    notQuick: true,
    measure: (target, bench) => fillAndRestart(target, bench, amounts),
  }
}

/** Fills a server on its own directory, stops it, and starts it several times there: the medians. */
async function fillAndRestart(like: Target, { launches }: Bench, amounts: Amounts): Promise<Figures> {
  const launch = launches[like.name]!
  const data = directoryFor()
  try {
    const first = await launch({ dataDir: data.path })
    const { base } = first
    const publish = { kind: 'publish', base: 'filled', count: amounts.configs } as const
    await loadOnce({
      job: 'closed-loop',
      base,
      stream: publish,
      connections: 64,
      requests: amounts.publishes,
    })
    const set = { base: 'filled', count: amounts.instances, perService: 10 }
    const register = { kind: 'register', set, version: 0 } as const
    await loadOnce({
      job: 'closed-loop',
      base,
      stream: register,
      connections: 64,
      requests: amounts.instances,
    })
    await sleep(1_500)
    await first.stop()
    const starts: Figures[] = []
    while (starts.length < STARTS) {
      const again = await launch({ dataDir: data.path })
      starts.push({ 'start ms': again.startMs, 'rss MB': residentBytes(again.pid!) / 1e6 })
      await again.stop()
    }
    return medians(starts)
  } finally {
    data.remove()
  }
}
