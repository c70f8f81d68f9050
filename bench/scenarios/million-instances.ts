import type { InstanceSet } from '../request-text.ts'
import { type Bench, type Figures, loadOnce, type Scenario, watch } from '../scenario.ts'
import type { Target } from '../target.ts'
import { measureLoop, registerSet } from './closed-loops.ts'

const SMALL: InstanceSet = { base: 'thousand', count: 1_000, perService: 20, lasting: true }
const LARGE: InstanceSet = { base: 'million', count: 1_000_000, perService: 20, lasting: true }

/** The most instances that one process should have. */
export const millionInstances: Scenario = {
  name: 'instances-1m',
  about:
    '1,000,000 instances in 50,000 services registered, every list asked once; what operations cost with them and with 1,000',
  kinds: ['ours', 'peer', 'other'],
  long: true,
  rounds: 1,
  measure: registerMillion,
}

async function registerMillion(target: Target, { seconds }: Bench): Promise<Figures> {
  const { base } = target
  await registerSet(target, SMALL)
  const few = await costsOf(target, SMALL, seconds)
  const spent = await watch(target)
  const stream = { kind: 'register', set: LARGE, version: 0 } as const
  const made = await loadOnce({ job: 'closed-loop', base, stream, connections: 64, requests: LARGE.count })
  const services = LARGE.count / LARGE.perService
  const list = { kind: 'list', base: LARGE.base, services } as const
  const listed = await loadOnce({
    job: 'closed-loop',
    base,
    stream: list,
    connections: 16,
    requests: services,
  })
  const load = await spent(LARGE.count + services)
  const many = await costsOf(target, LARGE, seconds)
  return {
    'register s': made.elapsedMs / 1_000,
    'lists s': listed.elapsedMs / 1_000,
    ...load,
    ...Object.fromEntries(
      Object.entries(many).flatMap(([script, us]) => [
        [`${script} µs`, us],
        [`${script}: to 1,000`, us / few[script]!],
      ]),
    ),
  }
}

/** How many of a set beat in the measurement. Each has beaten before, because a first beat costs more. */
const MOST_BEATING = 100_000

/** Processor µs of a list, a beat and a registration. Registrations are last, because they invalidate lists. */
async function costsOf(target: Target, set: InstanceSet, seconds: number): Promise<Record<string, number>> {
  const costs: Record<string, number> = {}
  const beating = { ...set, count: Math.min(set.count, MOST_BEATING) }
  const beats = { kind: 'beat', set: beating } as const
  const { base } = target
  await loadOnce({ job: 'closed-loop', base, stream: beats, connections: 32, requests: beating.count })
  // Lists count by services, beats and registrations by instances.
  const counts = { list: set.count / set.perService, beat: beating.count, register: set.count }
  for (const script of ['list', 'beat', 'register'] as const) {
    const loop = { ...set, script, count: counts[script], connections: 64, seconds, first: set.count }
    const { 'cpu µs': us } = await measureLoop(target, loop)
    costs[script] = us ?? 0
  }
  return costs
}
