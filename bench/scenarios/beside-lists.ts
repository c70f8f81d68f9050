import { setTimeout as sleep } from 'node:timers/promises'
import { requestPaths } from '../paths.ts'
import { type Figures, loadOnce, type Scenario, untilAtRest, watch } from '../scenario.ts'
import type { Target } from '../target.ts'
import { runWrk, type WrkFigures } from '../wrk.ts'
import { registerSet } from './closed-loops.ts'

const SET = { base: 'beside', count: 1_000, perService: 10, lasting: true }
const LISTS = { perSecond: 2_000, connections: 16 }
/** So few that a load changes each of them several times: then the first contents of the next load are changes, too. */
const ITEMS = 100
/** The lists begin this much before the publisher, and end after it. */
const LEAD_MS = 500

/** The latency and the cost of a publisher who is alone, while others read. */
export const besideLists: Scenario = {
  name: 'beside-lists',
  about: 'new contents of 1.5 KB on one connection, closed loop, beside 2,000 lists a second in open loop',
  kinds: ['ours', 'peer', 'other'],
  warmUp: true,
  notQuick: true,
  prepare: prepareLists,
  measure: async (target, { seconds }) => {
    const quiet = await watched(target, () => list(target, seconds))
    const { result, figures } = await watched(target, () => publishBesideLists(target, seconds))
    const { requests, p50Ms, p99Ms } = result
    const { 'cpu µs': us = NaN, 'loop p99 ms': loopMs = NaN } = figures
    const { 'cpu µs': listsUs = NaN } = quiet.figures
    return {
      'rate /s': requests / result.seconds,
      'p50 ms': p50Ms,
      'p99 ms': p99Ms,
      // Without the time that the lists take alone.
      'cpu µs': (us - listsUs) / requests,
      'loop p99 ms': loopMs,
    }
  },
}

/** Registers the instances of the lists. */
export async function prepareLists(target: Target): Promise<void> {
  await registerSet(target, SET)
}

/** One publisher on one connection beside the lists, which `prepareLists` must have prepared. */
export async function publishBesideLists(target: Target, seconds: number): Promise<WrkFigures> {
  const url = requestPaths(target.base).configs
  const loop = { script: 'publish', url, base: 'lone', count: ITEMS, connections: 1, seconds } as const
  const [published] = await Promise.all([sleep(LEAD_MS).then(() => runWrk(loop)), list(target, seconds)])
  return published
}

async function list({ base }: Target, seconds: number): Promise<void> {
  const stream = { kind: 'list', base: SET.base, services: SET.count / SET.perService } as const
  await loadOnce({ job: 'open-loop', base, stream, ...LISTS, seconds: seconds + (2 * LEAD_MS) / 1_000 })
}

/** A load with the figures of the server; `cpu µs` is that of the whole load. */
async function watched<T>(target: Target, load: () => Promise<T>): Promise<{ result: T; figures: Figures }> {
  const spent = await watch(target)
  const result = await load()
  await untilAtRest(target)
  return { result, figures: await spent(1) }
}
