import { launchCluster } from '../etcd.ts'
import { processorMs, residentBytes } from '../process-usage.ts'
import { type Bench, type Figures, loadOnce, type Scenario } from '../scenario.ts'
import { firstAnswer, type Target } from '../target.ts'

const COUNT = 10_000
const CONNECTIONS = 64

/** A server of three that starts again has everything in etcd. */
export const clusterRestart: Scenario = {
  name: 'cluster-restart',
  about:
    'start of a server to the first answer and until it is ready, with 10,000 items and 10,000 instances on etcd',
  kinds: ['ours'],
  rounds: 1,
  notQuick: true,
  long: true,
  measure: restartOne,
}

async function restartOne(like: Target, bench: Bench): Promise<Figures> {
  const { servers, settings, stop } = await launchCluster(like, bench)
  let again: Target | undefined
  try {
    await fill(servers[0]!)
    await servers.at(-1)!.stop()
    const began = performance.now()
    again = await bench.launches[like.name]!({ settings })
    await firstAnswer(new URL('/readyz', again.base).href)
    const readyMs = performance.now() - began
    const pid = again.pid!
    return {
      'start ms': again.startMs,
      'ready ms': readyMs,
      'cpu ms': processorMs(pid),
      'rss MB': residentBytes(pid) / 1e6,
    }
  } finally {
    await again?.stop()
    await stop()
  }
}

async function fill({ base }: Target): Promise<void> {
  const load = { job: 'closed-loop', base, connections: CONNECTIONS, requests: COUNT } as const
  await loadOnce({ ...load, stream: { kind: 'publish', base: 'filled', count: COUNT } })
  const set = { base: 'filled', count: COUNT, perService: 10 }
  await loadOnce({ ...load, stream: { kind: 'register', set, version: 0 } })
}
