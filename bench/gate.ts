import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import {
  GATED_FIGURES,
  type KeptFigures,
  keptNumber,
  limitOf,
  MEASURES,
  MOST_LOOKS,
  partsOfFigure,
  withNumber,
} from './gate-figures.ts'
import { measureGated } from './gated.ts'
import { aboveLimit, lowestOfLooks, type NamedFigures } from './looks.ts'
import { loadLine } from './machine.ts'
import { projectRoot } from './project.ts'
import { hasWrk } from './wrk.ts'

const keptFile = join(projectRoot, 'bench', 'gate.json')

/**
 * Compares the processor time and the memory of our requests with gate.json, and fails if one exceeds its limit. Processor time
 * is a multiple of the floor's, in short alternating rounds, so it is comparable on a busy machine too. With `--keep
 * costs.publish,costs.batch` it stores these measured figures; a higher one needs a reason with `--why`. Resolves with the exit code.
 */
export async function gate(args: readonly string[]): Promise<number> {
  if (!hasWrk())
    throw new Error('The gate needs wrk: install it from your package manager (apt-get install wrk).')
  const options = { keep: { type: 'string' }, why: { type: 'string' } } as const
  const { keep, why } = parseArgs({ args: [...args], options }).values
  const kept = JSON.parse(readFileSync(keptFile, 'utf8')) as KeptFigures
  if (keep !== undefined) return await keepFigures(kept, keep.split(','), why)
  const limit = (name: string): number => limitOf(kept, name)
  const found = await lowestOfLooks(GATED_FIGURES, {
    mostLooks: MOST_LOOKS,
    look: measureGated,
    limitOf: limit,
  })
  const above = aboveLimit(found, limit)
  printFigures(found, (name) => {
    const { digits } = MEASURES[partsOfFigure(name)[0]]
    const verdict = above.includes(name) ? 'FAILED' : 'ok    '
    const number = keptNumber(kept, name).toFixed(digits)
    return `${verdict}  ${name}: ${found[name]!.toFixed(digits)}, at most ${limit(name).toFixed(digits)} (kept ${number})`
  })
  return above.length === 0 ? 0 : 1
}

async function keepFigures(
  kept: KeptFigures,
  names: readonly string[],
  why: string | undefined,
): Promise<number> {
  const unknown = names.filter((name) => !GATED_FIGURES.includes(name))
  if (unknown.length > 0)
    throw new Error(`The gate has no figure ${unknown.join(', ')}: it has ${GATED_FIGURES.join(', ')}.`)
  const found = await measureGated(names)
  const textOf = (name: string): string => found[name]!.toFixed(MEASURES[partsOfFigure(name)[0]].digits)
  printFigures(found, (name) => `${name}: ${textOf(name)} (kept ${keptNumber(kept, name)})`)
  const written = names.reduce(
    (figures, name) => withNumber(figures, { name, text: textOf(name) }, why),
    kept,
  )
  writeFileSync(keptFile, `${JSON.stringify(written, null, 2)}\n`)
  return 0
}

function printFigures(found: NamedFigures, lineOf: (name: string) => string): void {
  console.log(`The gate (${loadLine()}):`)
  for (const [measure, { about }] of Object.entries(MEASURES)) {
    const names = GATED_FIGURES.filter((name) => name in found && partsOfFigure(name)[0] === measure)
    console.log([`${about}:`, ...names.map(lineOf)].join('\n'))
  }
}
