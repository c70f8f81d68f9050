import {
  type Bench,
  type Figures,
  latencies,
  lengthOf,
  loadOnce,
  type Scenario,
  startClients,
  watch,
} from '../scenario.ts'
import type { Target } from '../target.ts'

const BEAT_SECONDS = 5

/** Instances that beat every five seconds, and the latency of a consumer beside them. */
export const manyInstances: readonly Scenario[] = [
  {
    name: 'beats-100k',
    about:
      '100,000 instances in 5,000 services, 20,000 beats/s in open loop on 64 connections, 100 lists/s meanwhile',
    kinds: ['ours', 'peer', 'other'],
    rounds: 1,
    measure: (target, bench) => beatWhileListing(target, bench, 100_000),
  },
]

async function beatWhileListing(target: Target, bench: Bench, count: number): Promise<Figures> {
  const { base } = target
  const set = { base: 'many', count, perService: 20 }
  const register = { kind: 'register', set, version: 0 } as const
  await loadOnce({ job: 'closed-loop', base, stream: register, connections: 64, requests: count })
  const length = lengthOf(bench, { quick: 6, full: 4 * BEAT_SECONDS })
  const perSecond = count / BEAT_SECONDS
  const [beaters, listers] = [startClients(), startClients()]
  try {
    const spent = await watch(target)
    const [beats, lists] = await Promise.all([
      beaters.load({
        job: 'open-loop',
        base,
        stream: { kind: 'beat', set },
        connections: 64,
        perSecond,
        seconds: length,
      }),
      listers.load({
        job: 'open-loop',
        base,
        stream: { kind: 'list', base: set.base, services: count / set.perService },
        connections: 8,
        perSecond: 100,
        seconds: length,
      }),
    ])
    return {
      'beats /s': (beats.answered / beats.elapsedMs) * 1_000,
      failed: beats.failed + lists.failed,
      ...latencies(beats, 'beat '),
      ...latencies(lists, 'list '),
      ...(await spent(beats.answered + lists.answered)),
    }
  } finally {
    await Promise.all([beaters.stop(), listers.stop()])
  }
}
