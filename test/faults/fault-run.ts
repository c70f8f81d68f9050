import { appendFileSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Whether this is the long form, `npm run test:faults`; the short one is part of `npm run test:all`. */
export const isLong = process.env['FAULTS'] === 'long'

const RESULTS = fileURLToPath(new URL('../../.cache/fault-results.txt', import.meta.url))

/** How often something is done. The variable of that name decides, such as `FAULT_KILLS=1000`, else the form of the run. */
export function times(variable: string, { short, long }: { short: number; long: number }): number {
  const wanted = Number(process.env[variable])
  return wanted > 0 ? Math.floor(wanted) : isLong ? long : short
}

/** What random moments are made from: another for each run, or `FAULT_SEED` to see the same ones again. */
export const seed = Number(process.env['FAULT_SEED'] ?? Math.floor(Math.random() * 0x7fffffff))

/** Prints a line of results; the long form also keeps it, in `.cache/fault-results.txt`. */
export function report(line: string): void {
  console.log(`${line} (seed ${seed})`)
  if (!isLong) return
  mkdirSync(dirname(RESULTS), { recursive: true })
  appendFileSync(RESULTS, `${new Date().toISOString()} ${line} (seed ${seed})\n`)
}
