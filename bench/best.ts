import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BestBuild } from './best-build.ts'
import { buildCommit, hasCommit } from './built-commit.ts'
import { aboveLimit, lowestOfLooks, type NamedFigures } from './looks.ts'
import { loadLine } from './machine.ts'
import { begin } from './operations.ts'
import { projectRoot } from './project.ts'
import { figureOf, untilAtRest } from './scenario.ts'
import { prepareReads } from './scenarios/closed-loops.ts'
import { median } from './table.ts'
import { launchOurs, type Target } from './target.ts'
import { hasWrk } from './wrk.ts'

const OPERATIONS = ['list', 'read', 'beat', 'register', 'publish', 'batch', 'push', 'listen']
/** Today's processor time, divided by that of the best build. */
const LIMIT = 1.05
const MOST_LOOKS = 2
/** Servers of each build in a look: V8 compiles one less well than another. */
const STARTS = 3
const ROUNDS = 2

/**
 * Compares the processor time of today's build with that of the commit in best.json. Fails if an operation takes more than 5 % more
 * in two of two looks. Resolves with the exit code.
 */
export async function compareWithBest(): Promise<number> {
  if (!hasWrk())
    throw new Error('The comparison needs wrk: install it from your package manager (apt-get install wrk).')
  const { commit } = JSON.parse(readFileSync(join(projectRoot, 'bench', 'best.json'), 'utf8')) as BestBuild
  if (!hasCommit(commit)) return reportMissing(commit)
  const best = buildCommit(commit)
  try {
    const mains = [join(projectRoot, 'dist', 'main.js'), best.mainFile] as const
    const look = (names: readonly string[]): Promise<NamedFigures> => lookAt(names, mains)
    const found = await lowestOfLooks(OPERATIONS, { mostLooks: MOST_LOOKS, look, limitOf: () => LIMIT })
    const above = aboveLimit(found, () => LIMIT)
    console.log(`Processor time of a request, today's to that of ${commit} (${loadLine()}):`)
    for (const [name, ratio] of Object.entries(found))
      console.log(
        `${above.includes(name) ? 'FAILED' : 'ok    '}  ${name}: ${ratio.toFixed(3)}, at most ${LIMIT}`,
      )
    return above.length === 0 ? 0 : 1
  } finally {
    best.remove()
  }
}

/** It is a failure where a part of a run depends on it. */
function reportMissing(commit: string): number {
  console.log(
    `This clone does not have the commit of bench/best.json. This gets it: git fetch origin ${commit}`,
  )
  return process.env['CI'] === 'true' ? 1 : 0
}

/** Today's processor time for each operation, divided by that of the other build: the median of rounds of several servers. */
async function lookAt(names: readonly string[], mains: readonly [string, string]): Promise<NamedFigures> {
  const ratios: Record<string, number[]> = {}
  for (let start = 0; start < STARTS; start++) {
    const targets: Target[] = []
    try {
      for (const main of mains) targets.push(await launchOurs('ours', main)())
      for (const target of targets) await prepareReads(target)
      for (const target of targets) await untilAtRest(target)
      for (const name of names) (ratios[name] ??= []).push(...(await ratiosOf(name, targets)))
    } finally {
      await Promise.all(targets.map((target) => target.stop()))
    }
  }
  return Object.fromEntries(Object.entries(ratios).map(([name, values]) => [name, median(values)]))
}

/** The servers take turns, and begin a round in turn. */
async function ratiosOf(name: string, targets: readonly Target[]): Promise<number[]> {
  const operations = []
  const ratios: number[] = []
  try {
    for (const target of targets) operations.push(await begin(name, target))
    // Round -1 warms up.
    for (let round = -1; round < ROUNDS; round++) {
      const costs = [0, 0]
      for (const at of round % 2 === 0 ? [0, 1] : [1, 0])
        costs[at] = figureOf(await operations[at]!.round(round), 'cpu µs')
      if (round >= 0) ratios.push(costs[0]! / costs[1]!)
    }
  } finally {
    await Promise.all(operations.map((operation) => operation.end()))
  }
  return ratios
}
