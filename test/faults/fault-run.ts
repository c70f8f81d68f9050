import { appendFileSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { randomFrom } from './random.ts'

/** Whether this is the long form, `npm run test:faults`. The short one is part of `npm run test:all`. */
export const isLong = process.env['FAULTS'] === 'long'

const RESULTS = fileURLToPath(new URL('../../.cache/fault-results.txt', import.meta.url))

/** How long a file of the long form begins new work, s. `npm run test:faults -- --minutes 10` gives each file its share. */
export const FILE_SECONDS = Number(process.env['FAULT_SECONDS'] ?? Infinity)

/** How often something is done. The variable of that name decides, such as `FAULT_KILLS=1000`, else the form of the run. */
export function times(variable: string, { short, long }: { short: number; long: number }): number {
  const wanted = Number(process.env[variable])
  return wanted > 0 ? Math.floor(wanted) : isLong ? long : short
}

/** The numbers of the rounds from 0. Only the first one begins when the time of the file, or this share of it, is over. */
export function* roundsOf(count: number, share = 1): Generator<number> {
  const untilMs = performance.now() + FILE_SECONDS * share * 1_000
  for (let round = 0; round < count && (round === 0 || performance.now() < untilMs); round++) yield round
}

/** The seed of random moments: another seed for each run, or `FAULT_SEED` to see the same ones again. */
export const seed = Number(process.env['FAULT_SEED'] ?? Math.floor(Math.random() * 0x7fffffff))

/** The strikes that fit into the time of the file, chosen by the seed, when one takes about so many seconds. */
export function fitting<Strike>(all: readonly Strike[], seconds: number): readonly Strike[] {
  if (FILE_SECONDS === Infinity) return all
  const random = randomFrom(seed)
  const mixed = all.map((strike) => ({ strike, order: random() })).sort((a, b) => a.order - b.order)
  return mixed.slice(0, Math.max(1, Math.floor(FILE_SECONDS / seconds))).map(({ strike }) => strike)
}

/** Prints a line of results; the long form also keeps it, in `.cache/fault-results.txt`. */
export function report(line: string): void {
  console.log(`${line} (seed ${seed})`)
  if (!isLong) return
  mkdirSync(dirname(RESULTS), { recursive: true })
  appendFileSync(RESULTS, `${new Date().toISOString()} ${line} (seed ${seed})\n`)
}
