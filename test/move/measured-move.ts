import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { MAIN } from '../support/waypost.ts'

/** Prints the most memory that the process had. */
const TELL_MEMORY =
  'data:text/javascript,process.on("exit",()=>process.stderr.write(`maxRSS=${process.resourceUsage().maxRSS}\\n`))'

/** The most memory that a move may have. */
export const MOST_MEMORY_KB = 300 * 1_024

/** The output of a run of `waypost move`, and the most memory that it had. */
export interface MeasuredMove {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
  readonly memoryKb: number
}

/** Runs `waypost move` to its end. */
export async function measuredMove(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<MeasuredMove> {
  const child = spawn(process.execPath, ['--import', TELL_MEMORY, MAIN, 'move', ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number]
  return { code, stdout, stderr, memoryKb: Number(/maxRSS=(\d+)/.exec(stderr)?.[1]) }
}
