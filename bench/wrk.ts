import { execFile, execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { projectRoot } from './project.ts'

const run = promisify(execFile)
const luaDirectory = join(projectRoot, 'bench', 'lua')

/** The scripts in bench/lua, without `.lua`. */
export type Script = 'list' | 'read' | 'register' | 'rejoin' | 'beat' | 'publish' | 'template'

/** One request for `template.lua`, in which `{key}` becomes a key and `{ip}` the address of that number. */
export interface RequestTemplate {
  readonly method: 'GET' | 'POST'
  readonly query?: string
  readonly form?: string
  readonly header?: string
}

/** One closed loop: every connection sends its next request after the last answer. */
export interface ClosedLoop {
  readonly script: Script
  /** The complete URL of the operation, without a query. */
  readonly url: string
  readonly connections: number
  readonly seconds: number
  /** Keys are `base-0` to `base-<count - 1>`, with `perService` instances per service. */
  readonly base: string
  readonly count: number
  readonly perService?: number
  /** The number of the first request. It makes contents new. */
  readonly first?: number
  /** Registered instances have long timeouts and need no beats. */
  readonly lasting?: boolean
  /** The request of `template`. */
  readonly template?: RequestTemplate
  /** The header of every request, where callers must sign in. */
  readonly authorization?: string | undefined
}

/** The result of wrk; times are in milliseconds. */
export interface WrkFigures {
  readonly requests: number
  readonly seconds: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly p999Ms: number
}

/** Whether wrk is installed. */
export function hasWrk(): boolean {
  try {
    execFileSync('wrk', ['-v'], { stdio: 'ignore' })
    return true
  } catch (error) {
    // It prints its version and exits with 1.
    return (error as { status?: number | null }).status === 1
  }
}

/** Runs wrk with one thread. Throws if an answer was an error, because its figures would mean nothing. */
export async function runWrk(loop: ClosedLoop): Promise<WrkFigures> {
  const { script, url, authorization = '' } = loop
  const env = { ...process.env, BENCH_LUA: luaDirectory, BENCH_AUTHORIZATION: authorization }
  const { stdout } = await run('wrk', argumentsOf(loop), { env })
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

function argumentsOf(loop: ClosedLoop): string[] {
  const {
    script,
    url,
    connections,
    seconds,
    base,
    count,
    perService = 1,
    first = 0,
    lasting,
    template,
  } = loop
  const options = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s']
  const keys = [base, String(count), String(perService), String(first), lasting ? 'lasting' : '-']
  const { method = '', query = '', form = '', header = '' } = template ?? {}
  const own = template === undefined ? [] : [method, query, form, header]
  return [...options, '-s', join(luaDirectory, `${script}.lua`), url, '--', ...keys, ...own]
}
