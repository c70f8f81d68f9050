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

const BEAT_SECONDS = 5

/** Instances that beat every five seconds, and what a consumer feels of it. */
export const manyInstances: readonly Scenario[] = [
  {
    name: 'beats-100k',
    about:
      '100,000 instances in 5,000 services, 20,000 beats/s in open loop on 64 connections, 100 lists/s meanwhile',
    kinds: ['ours', 'peer', 'other'],
    rounds: 1,
    measure: (target, bench) => beatWhileListing(target, bench, 100_000),
  },
  {
    name: 'instances-1m',
    about: '1,000,000 instances in 50,000 services registered, every list asked once',
    kinds: ['ours', 'peer', 'other'],
    long: true,
    rounds: 1,
    measure: registerMillion,
  },
]

async function beatWhileListing(target: Target, { quick, seconds }: Bench, count: number): Promise<Figures> {
  const { base } = target
  const set = { base: 'many', count, perService: 20 }
  const register = { kind: 'register', set, version: 0 } as const
  await loadOnce({ job: 'closed-loop', base, stream: register, connections: 64, requests: count })
  const length = quick ? Math.max(6, seconds) : 4 * BEAT_SECONDS
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

async function registerMillion(target: Target): Promise<Figures> {
  const { base } = target
  const set = { base: 'million', count: 1_000_000, perService: 20 }
  const spent = await watch(target)
  const register = { kind: 'register', set, version: 0 } as const
  const made = await loadOnce({
    job: 'closed-loop',
    base,
    stream: register,
    connections: 64,
    requests: set.count,
  })
  const services = set.count / set.perService
  const list = { kind: 'list', base: set.base, services } as const
  const listed = await loadOnce({
    job: 'closed-loop',
    base,
    stream: list,
    connections: 16,
    requests: services,
  })
  return {
    'register s': made.elapsedMs / 1_000,
    'lists s': listed.elapsedMs / 1_000,
    ...(await spent(set.count + services)),
  }
}
