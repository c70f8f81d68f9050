import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { GATED, type Measured, measureGated } from './gated.ts'
import { loadLine } from './machine.ts'
import { projectRoot } from './project.ts'
import { hasWrk } from './wrk.ts'

/** The contents of gate.json: figures, and how much they may be exceeded. */
const MEASURES = {
  costs: {
    about: 'Processor time for a request, ours to the node:http floor',
    digits: 2,
    limitOf: (kept: number) => kept * 1.25,
  },
  onEtcd: {
    about: 'Processor time for a request on etcd, to that with a directory',
    digits: 2,
    // It keeps 0.9 of the rate.
    limitOf: (kept: number) => kept / 0.9,
  },
  leftBytes: {
    about: 'Bytes that a request leaves to the collections of the whole heap',
    digits: 0,
    limitOf: (kept: number) => Math.max(kept * 1.25, 64),
  },
} as const

const MEASURE_NAMES = Object.keys(MEASURES) as (keyof Measured)[]
/**
 * A regression repeats in every measurement. Other load of the machine does not, nor does a server that V8 has compiled less well:
 * each look starts new servers.
 */
const MOST_LOOKS = 4
const keptFile = join(projectRoot, 'bench', 'gate.json')

/**
 * Compares the processor time and the memory of our requests with gate.json, and fails if one exceeds it by more than a
 * quarter. Processor time is a multiple of the floor's, in short alternating rounds, so it is comparable on a busy machine
 * too. With `--keep` it stores the measured figures. Resolves with the exit code.
 */
export async function gate(args: readonly string[]): Promise<number> {
  if (!hasWrk())
    throw new Error('The gate needs wrk: install it from your package manager (apt-get install wrk).')
  const kept = JSON.parse(readFileSync(keptFile, 'utf8')) as Measured
  const found = await lookUntilWithin(kept)
  console.log(`The gate (${loadLine()}):`)
  for (const line of MEASURE_NAMES.flatMap((measure) => linesOf(measure, found, kept))) console.log(line)
  if (args.includes('--keep')) writeFileSync(keptFile, `${JSON.stringify(rounded(kept, found), null, 2)}\n`)
  return args.includes('--keep') || excessOf(found, kept).length === 0 ? 0 : 1
}

/** The lowest figures of one measurement, or of several where the first ones are above a limit. */
async function lookUntilWithin(kept: Measured): Promise<Measured> {
  const lowest = await measureGated()
  for (let look = 2; look <= MOST_LOOKS; look++) {
    const excess = excessOf(lowest, kept)
    if (excess.length === 0) break
    console.log(`Above a limit: ${excess.join(', ')}. Look ${look} of ${MOST_LOOKS}`)
    const again = await measureGated()
    for (const measure of MEASURE_NAMES)
      for (const name of GATED[measure])
        lowest[measure][name] = Math.min(lowest[measure][name]!, again[measure][name]!)
  }
  return lowest
}

/** The figures above their limits. A figure that is not in gate.json has no limit. */
function excessOf(found: Measured, kept: Measured): string[] {
  return MEASURE_NAMES.flatMap((measure) =>
    GATED[measure]
      .filter((name) => found[measure][name]! > limitOf(measure, name, kept))
      .map((name) => `${measure} of ${name}`),
  )
}

function limitOf(measure: keyof Measured, name: string, kept: Measured): number {
  return MEASURES[measure].limitOf(kept[measure]?.[name] ?? Infinity)
}

function linesOf(measure: keyof Measured, found: Measured, kept: Measured): string[] {
  const { about, digits } = MEASURES[measure]
  const lines = GATED[measure].map((name) => {
    const [value, limit] = [found[measure][name]!, limitOf(measure, name, kept)]
    const verdict = value > limit ? 'FAILED' : 'ok    '
    const before = kept[measure]?.[name]?.toFixed(digits) ?? 'none'
    return `${verdict}  ${name}: ${value.toFixed(digits)}, at most ${limit.toFixed(digits)} (kept ${before})`
  })
  return [`${about}:`, ...lines]
}

function rounded(kept: Measured, found: Measured): object {
  const measures = MEASURE_NAMES.map((measure) => {
    const { digits } = MEASURES[measure]
    const values = GATED[measure].map((name) => [name, Number(found[measure][name]!.toFixed(digits))])
    return [measure, Object.fromEntries(values)]
  })
  return { ...kept, ...Object.fromEntries(measures) }
}
