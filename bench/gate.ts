import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadLine } from './machine.ts'
import { projectRoot } from './project.ts'
import type { Bench, Figures } from './scenario.ts'
import { closedLoops, LIST_SET, prepareReads, READ_BASE } from './scenarios/closed-loops.ts'
import { launchFloor, launchOurs, type Target } from './target.ts'
import { hasWrk } from './wrk.ts'

/** Processor time of ours for a request, as a multiple of the floor's, by scenario. */
type Ratios = Record<string, number>

const GATED = ['list', 'read', 'beat']
const ROUNDS = 5
const ALLOWED = 1.25
/** A regression is there each time that one looks; what else the machine was doing is not. */
const MOST_LOOKS = 4
const keptFile = join(projectRoot, 'bench', 'gate.json')

/**
 * Compares the processor time of ours with that of the node:http floor, in short rounds that alternate, and fails where
 * a ratio is more than a quarter above the one that is kept. Ratios of processor time hold on a busy machine too. With
 * `--keep` it keeps what it finds. Resolves with the exit code.
 */
export async function gate(args: readonly string[]): Promise<number> {
  if (!hasWrk())
    throw new Error('The gate needs wrk: install it from your package manager (apt-get install wrk).')
  const kept = JSON.parse(readFileSync(keptFile, 'utf8')) as { ratios: Ratios }
  const limits = Object.fromEntries(GATED.map((name) => [name, (kept.ratios[name] ?? Infinity) * ALLOWED]))
  const found = await lookUntilWithin(limits)
  console.log(`Processor time for a request, ours to the node:http floor (${loadLine()}):`)
  let failed = 0
  for (const [name, ratio] of Object.entries(found)) {
    const limit = limits[name] ?? Infinity
    if (ratio > limit) failed++
    const verdict = ratio > limit ? 'FAILED' : 'ok    '
    console.log(
      `${verdict}  ${name}: ${ratio.toFixed(2)}, at most ${limit.toFixed(2)} (kept ${kept.ratios[name]?.toFixed(2)})`,
    )
  }
  if (args.includes('--keep')) {
    const rounded = Object.fromEntries(
      Object.entries(found).map(([name, ratio]) => [name, Number(ratio.toFixed(2))]),
    )
    writeFileSync(keptFile, `${JSON.stringify({ ...kept, ratios: rounded }, null, 2)}\n`)
    return 0
  }
  return failed > 0 ? 1 : 0
}

/** The lowest ratio of each scenario, over as many looks as it takes to be within the limits, four at the most. */
async function lookUntilWithin(limits: Ratios): Promise<Ratios> {
  const lowest = await measureRatios()
  for (let look = 2; look <= MOST_LOOKS; look++) {
    if (GATED.every((name) => lowest[name]! <= limits[name]!)) break
    console.log(`Above a limit: look ${look} of ${MOST_LOOKS}`)
    const again = await measureRatios()
    for (const name of GATED) lowest[name] = Math.min(lowest[name]!, again[name]!)
  }
  return lowest
}

/** What each scenario costs of ours, as a multiple of what it costs of the floor. */
async function measureRatios(): Promise<Ratios> {
  const bench: Bench = {
    quick: true,
    rounds: ROUNDS,
    seconds: 1,
    launches: {},
    dist: join(projectRoot, 'dist'),
  }
  const ours = await launchOurs('ours', join(projectRoot, 'dist', 'main.js'))()
  let floor: Target | undefined
  try {
    await prepareReads(ours)
    floor = await launchFloor(ours, { service: `${LIST_SET.base}-0`, dataId: `${READ_BASE}-0` })()
    const found: Ratios = {}
    for (const name of GATED) found[name] = await measureRatio(name, bench, { ours, floor })
    return found
  } finally {
    await Promise.all([ours.stop(), floor?.stop()])
  }
}

async function measureRatio(
  name: string,
  bench: Bench,
  { ours, floor }: { ours: Target; floor: Target },
): Promise<number> {
  const scenario = closedLoops.find((each) => each.name === name)!
  const cost = async (target: Target, round: number): Promise<number> => {
    const figures: Figures = await scenario.measure(target, bench, round)
    return figures['cpu µs']!
  }
  // What else a machine does can only add to a cost: the least of several rounds is nearest to the truth.
  const least = { ours: Infinity, floor: Infinity }
  // Round -1 warms up.
  for (let round = -1; round < ROUNDS; round++) {
    const costs = { ours: await cost(ours, round), floor: await cost(floor, round) }
    if (round < 0) continue
    least.ours = Math.min(least.ours, costs.ours)
    least.floor = Math.min(least.floor, costs.floor)
  }
  return least.ours / least.floor
}
