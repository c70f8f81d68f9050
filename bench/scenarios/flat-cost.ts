import type { Bench, Figures, Scenario } from '../scenario.ts'
import { loadOnce } from '../scenario.ts'
import type { Target } from '../target.ts'
import { measureLoop, registerSet } from './closed-loops.ts'

/** What an operation costs while there is little and while there is much: nothing may grow but what answers more. */
export const flatCost: readonly Scenario[] = [100, 10_000, 100_000].map((count) => ({
  name: `flat-${count}`,
  about: `processor µs of each operation with ${count.toLocaleString('en')} services of one instance and as many items`,
  kinds: ['ours'],
  rounds: 1,
  notQuick: count > 10_000,
  measure: (target, bench) => costsAt(target, bench, count),
}))

async function costsAt(target: Target, { quick }: Bench, count: number): Promise<Figures> {
  const set = { base: 'flat', count, perService: 1 }
  await loadOnce({
    job: 'closed-loop',
    base: target.base,
    stream: { kind: 'publish', base: 'flat', count },
    connections: 64,
    requests: count,
  })
  const figures: Record<string, number> = {}
  for (const script of ['list', 'read', 'beat', 'register', 'publish'] as const) {
    // Without beats they would expire while others are measured.
    if (script === 'list' || script === 'beat') await registerSet(target, set)
    // The first list after a change makes the answer; what is asked for here is what all later ones cost.
    if (script === 'list') await listAll(target, count)
    const seconds = quick ? 1 : 4
    const measured = await measureLoop(target, {
      script,
      connections: 64,
      seconds,
      ...set,
      first: 50_000_000,
    })
    figures[`${script} µs`] = measured['cpu µs']!
  }
  return figures
}

async function listAll({ base }: Target, services: number): Promise<void> {
  const stream = { kind: 'list', base: 'flat', services } as const
  await loadOnce({ job: 'closed-loop', base, stream, connections: 16, requests: services })
}
