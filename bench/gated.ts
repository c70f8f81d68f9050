import { join } from 'node:path'
import { projectRoot } from './project.ts'
import type { Bench, Figures } from './scenario.ts'
import { closedLoops, LIST_SET, measureLoop, prepareReads, READ_BASE } from './scenarios/closed-loops.ts'
import { requestOf } from './scenarios/flat-cost.ts'
import { launchOnEtcd } from './etcd.ts'
import { median } from './table.ts'
import { launchFloor, launchOurs, type Target } from './target.ts'

/** The operations of the gate, and the figures that it checks. */
export const GATED = {
  costs: ['list', 'read', 'beat'],
  // Reads and beats of a server that shares its store ask nobody.
  onEtcd: ['list', 'read', 'beat'],
  // Plain reads and a beat, two that store their input, one with a form that stores nothing, one whose answer is built again.
  leftBytes: ['list', 'read', 'beat', 'register', 'publish', 'listener', 'show=all'],
} as const

/**
 * By operation: processor time as a multiple of the floor's; processor time of a server on etcd as a multiple of a server with a
 * directory; and the bytes per request in the old generation.
 */
export interface Measured {
  readonly costs: Record<string, number>
  readonly onEtcd: Record<string, number>
  readonly leftBytes: Record<string, number>
}

const MAIN = join(projectRoot, 'dist', 'main.js')
const ROUNDS = 5
const BENCH: Bench = {
  quick: true,
  rounds: ROUNDS,
  seconds: 1,
  launches: {},
}

/** One measurement of all operations, about a minute, with new servers. */
export async function measureGated(): Promise<Measured> {
  const ours = await launchOurs('ours', MAIN)()
  let floor: Target | undefined
  let onEtcd: Target | undefined
  try {
    await prepareReads(ours)
    floor = await launchFloor(ours, { service: `${LIST_SET.base}-0`, dataId: `${READ_BASE}-0` })()
    onEtcd = await launchOnEtcd(MAIN)()
    await prepareReads(onEtcd)
    const measured: Measured = { costs: {}, onEtcd: {}, leftBytes: {} }
    for (const name of GATED.leftBytes) await measureInto(measured, name, { ours, floor, onEtcd })
    return measured
  } finally {
    await Promise.all([ours.stop(), floor?.stop(), onEtcd?.stop()])
  }
}

/**
 * A machine is faster at one time than at another. So processor time is compared within a round, and the median of the rounds
 * counts. Other load only adds to the bytes, so the least of them is the most exact.
 */
async function measureInto(
  { costs, onEtcd: costsOnEtcd, leftBytes }: Measured,
  name: string,
  { ours, floor, onEtcd }: { ours: Target; floor: Target; onEtcd: Target },
): Promise<void> {
  const hasFloor = (GATED.costs as readonly string[]).includes(name)
  const toFloor: number[] = []
  const toDirectory: number[] = []
  let leastLeft = Infinity
  // Round -1 warms up.
  for (let round = -1; round < ROUNDS; round++) {
    const ofOurs = await figuresOf(name, ours, round)
    const ofFloor = hasFloor ? await figuresOf(name, floor, round) : {}
    const ofOnEtcd = hasFloor ? await figuresOf(name, onEtcd, round) : {}
    if (round < 0) continue
    leastLeft = Math.min(leastLeft, ofOurs['left B']!)
    toFloor.push(ofOurs['cpu µs']! / ofFloor['cpu µs']!)
    toDirectory.push(ofOnEtcd['cpu µs']! / ofOurs['cpu µs']!)
  }
  leftBytes[name] = leastLeft
  if (!hasFloor) return
  costs[name] = median(toFloor)
  costsOnEtcd[name] = median(toDirectory)
}

function figuresOf(name: string, target: Target, round: number): Promise<Figures> {
  const scenario = closedLoops.find((each) => each.name === name)
  if (scenario !== undefined) return scenario.measure(target, BENCH, round)
  const item = { base: READ_BASE, count: 1, connections: 64, seconds: BENCH.seconds }
  return measureLoop(target, { ...item, ...requestOf(name, target) })
}
