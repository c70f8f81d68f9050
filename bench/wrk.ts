import { execFile, execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { projectRoot } from './project.ts'

const run = promisify(execFile)
const luaDirectory = join(projectRoot, 'bench', 'lua')

/** One closed loop: every connection sends its next request when the last was answered. */
export interface ClosedLoop {
  /** The script in bench/lua, without `.lua`. */
  readonly script: 'list' | 'read' | 'register' | 'beat' | 'publish'
  /** The whole address of the operation, without a query. */
  readonly url: string
  readonly connections: number
  readonly seconds: number
  /** Keys are `base-0` to `base-<count - 1>`; instances stand `perService` to a service. */
  readonly base: string
  readonly count: number
  readonly perService?: number
  /** The number of the first request: what makes contents new. */
  readonly first?: number
}

/** What wrk saw; times in milliseconds. */
export interface WrkFigures {
  readonly requests: number
  readonly seconds: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly p999Ms: number
}

/** Whether wrk can be started here. */
export function hasWrk(): boolean {
  try {
    execFileSync('wrk', ['-v'], { stdio: 'ignore' })
    return true
  } catch (error) {
    // It prints its version and ends with 1.
    return (error as { status?: number | null }).status === 1
  }
}

/** Runs wrk with one thread. Throws where an answer was no success: figures of errors are no figures. */
export async function runWrk(loop: ClosedLoop): Promise<WrkFigures> {
  const { script, url, connections, seconds, base, count, perService = 1, first = 0 } = loop
  const options = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s']
  const file = join(luaDirectory, `${script}.lua`)
  const args = [...options, '-s', file, url, '--', base, String(count), String(perService), String(first)]
  const { stdout } = await run('wrk', args, { env: { ...process.env, BENCH_LUA: luaDirectory } })
  const line = /^FIGURES (.*)$/m.exec(stdout)?.[1]
  if (line === undefined) throw new Error(`wrk gave no figures:\n${stdout}`)
  const [requests = 0, us = 0, p50 = 0, p99 = 0, p999 = 0, refused = 0, broken = 0] = line
    .split(' ')
    .map(Number)
  if (refused + broken > 0 || requests === 0)
    throw new Error(
      `${script} on ${url}: ${refused} refusals and ${broken} broken connections in ${requests} requests`,
    )
  return { requests, seconds: us / 1e6, p50Ms: p50 / 1e3, p99Ms: p99 / 1e3, p999Ms: p999 / 1e3 }
}
