/**
 * Counts the work of a piece of code: exact, and the same on each machine. A test imports this file first: functions that were
 * compiled earlier have no counters.
 *
 * Counted are how often each block of code runs, in ours and in packages (the coverage of V8), and the characters, bytes and
 * elements that methods of the language look at or copy (measured-methods.ts). Not counted are backtracking of regular
 * expressions (test/security/patterns.test.ts tries each expression), `+=` on texts, spreading, work of Node.js itself, and
 * collections of garbage. The tests of the night measure them with the rest, as processor time.
 */
import { type Profiler, Session } from 'node:inspector'
import { measureMethods } from './measured-methods.ts'

/** Node.js itself, the runner of the tests, and these counters. */
const NOT_COUNTED =
  /^node:|^$|\/node_modules\/(?:vitest|@vitest|vite|chai|tinyspy)\/|\/support\/(?:steps|measured-methods)\.ts/

const session = new Session()
session.connect()
session.post('Profiler.enable')
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })

/** How many blocks have run since the last call. */
function blocksRun(): number {
  let blocks = 0
  // A session with its own thread calls back before `post` returns.
  session.post('Profiler.takePreciseCoverage', (_, { result }: Profiler.TakePreciseCoverageReturnType) => {
    for (const { url, functions } of result)
      if (!NOT_COUNTED.test(url))
        for (const { ranges } of functions) for (const { count } of ranges) blocks += count
  })
  return blocks
}

/** The steps of this work. An error of it is passed on. */
export async function stepsOf(work: () => unknown): Promise<number> {
  blocksRun()
  const methods = measureMethods()
  try {
    await work()
  } finally {
    methods.end()
  }
  return methods.end() + blocksRun()
}

/** How many times as many steps eight times the text may cost: linear work costs 8 times as many, sorting 11, quadratic work 64. */
export const MOST_GROWTH = 16
/** So many steps for each character are linear in any case: what a refusal of the longer text costs may differ. */
const FREE_STEPS = 8

/** How many times as many steps this work costs for the long text. */
export async function growth(
  work: (text: string) => unknown,
  [short, long]: readonly [string, string],
): Promise<number> {
  // Loads what is loaded at the first time.
  await work(short)
  const few = Math.max(FREE_STEPS * short.length, await stepsOf(() => work(short)))
  return (await stepsOf(() => work(long))) / few
}
