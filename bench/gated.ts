import { join } from 'node:path'
import { launchOnEtcd } from './etcd.ts'
import { GATED, partsOfFigure } from './gate-figures.ts'
import type { NamedFigures } from './looks.ts'
import { begin, type Measured } from './operations.ts'
import { projectRoot } from './project.ts'
import { type Figures, figureOf, untilAtRest } from './scenario.ts'
import { alone } from './scenarios/callers-alone.ts'
import { LIST_SET, prepareReads, READ_BASE } from './scenarios/closed-loops.ts'
import { median } from './table.ts'
import { launchFloor, launchOurs, type Target } from './target.ts'

const MAIN = join(projectRoot, 'dist', 'main.js')
const ROUNDS = 4
const CALLERS = 64

/** The servers of a look. */
interface Servers {
  readonly ours: Target
  readonly floor: Target
  readonly onEtcd: Target
}

/** One measurement of these figures with new servers: of all figures, about two minutes. */
export async function measureGated(names: readonly string[]): Promise<NamedFigures> {
  const ours = await launchOurs('ours', MAIN)()
  let floor: Target | undefined
  let onEtcd: Target | undefined
  try {
    await prepareReads(ours)
    floor = await launchFloor(ours, { service: `${LIST_SET.base}-0`, dataId: `${READ_BASE}-0` })()
    onEtcd = await launchOnEtcd(MAIN)()
    await prepareReads(onEtcd)
    for (const target of [ours, floor, onEtcd]) await untilAtRest(target)
    const found: [string, number][] = []
    for (const operation of new Set(names.map((name) => partsOfFigure(name)[1])))
      found.push(...(await measureOperation(operation, names, { ours, floor, onEtcd })))
    return Object.fromEntries(found)
  } finally {
    await Promise.all([ours.stop(), floor?.stop(), onEtcd?.stop()])
  }
}

/**
 * The figures of one operation. A machine is faster at one time than at another. So processor time is compared within a round, and
 * the median of the rounds counts. Other load only adds to the bytes, so the least of them is the most exact.
 */
async function measureOperation(
  operation: string,
  names: readonly string[],
  servers: Servers,
): Promise<[string, number][]> {
  const [costs, onEtcdCosts, leftBytes] = Object.keys(GATED).map((measure) => `${measure}.${operation}`)
  const isWanted = (name: string | undefined): name is string => name !== undefined && names.includes(name)
  const ours = await begin(operation, servers.ours)
  const floor = isWanted(costs) ? await begin(operation, servers.floor) : undefined
  const onEtcd = isWanted(onEtcdCosts) ? await begin(operation, servers.onEtcd) : undefined
  const rounds: Record<string, number[]> = {}
  const note = (name: string | undefined, value: number): void => {
    if (isWanted(name)) (rounds[name] ??= []).push(value)
  }
  try {
    // Round -1 warms up.
    for (let round = -1; round < ROUNDS; round++) {
      const figures = await ours.round(round)
      const us = costOf(figures)
      const floorUs = floor === undefined ? NaN : await floorCost(operation, floor, round)
      const onEtcdUs = onEtcd === undefined ? NaN : costOf(await onEtcd.round(round))
      if (round < 0) continue
      note(costs, us / floorUs)
      note(onEtcdCosts, onEtcdUs / us)
      if (isWanted(leftBytes)) note(leftBytes, figureOf(figures, 'left B'))
    }
  } finally {
    await Promise.all([ours.end(), floor?.end(), onEtcd?.end()])
  }
  return Object.entries(rounds).map(([name, values]) => [
    name,
    name === leftBytes ? Math.min(...values) : median(values),
  ])
}

/** Processor µs of the floor. The floor of a publish is a plain request and a publish in plain SQLite. */
async function floorCost(operation: string, floor: Measured, round: number): Promise<number> {
  const us = costOf(await floor.round(round))
  return operation === 'publish' ? us + costOf(await alone('plain-sqlite', { seconds: 1 }, CALLERS)) : us
}

function costOf(figures: Figures): number {
  return figureOf(figures, 'cpu µs')
}
