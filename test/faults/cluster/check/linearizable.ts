import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath, pathToFileURL } from 'node:url'

const SCRIPT = fileURLToPath(new URL('../../../../scripts/go-program.js', import.meta.url))
const SOURCES = fileURLToPath(new URL('../linearizable', import.meta.url))
const { builtGoProgram } = (await import(pathToFileURL(SCRIPT).href)) as {
  builtGoProgram: (name: string, sources: string) => Promise<string>
}

/** An operation on a register, as Porcupine gets it. `null`: nothing is there. */
export interface RegisterOperation {
  readonly client: number
  readonly key: string
  /** `put-gray` and those after it: of an item that may have a gray version, which comes before the value for its clients. */
  readonly kind: 'put' | 'compare-and-set' | 'read' | 'put-gray' | 'promote' | 'stop' | 'delete' | 'read-gray'
  readonly value: string | null
  readonly expected: string | null
  readonly seen: string | null
  /** Of a compare-and-set, a promotion, a stop and a deletion; null: nobody knows. */
  readonly changed: boolean | null
  readonly begunMs: number
  /** Undefined: no answer came. */
  readonly endedMs: number | undefined
}

/** The keys whose operations have no order that explains all answers, and those for which none was found in time. */
export interface Verdict {
  readonly illegal: readonly string[]
  readonly undecided: readonly string[]
}

/** Checks with Porcupine whether the operations on each key are linearizable. Builds the checker with Go if needed. */
export async function linearizability(operations: readonly RegisterOperation[]): Promise<Verdict> {
  const file = await builtGoProgram('linearizable', SOURCES)
  const child = spawn(file, { stdio: ['pipe', 'pipe', 'inherit'] })
  const printed: string[] = []
  child.stdout.setEncoding('utf8').on('data', (part: string) => printed.push(part))
  const ended = once(child, 'close')
  child.stdin.end(JSON.stringify(operations.map(toInput)))
  await ended
  if (child.exitCode !== 0) throw new Error(`the checker ended with ${child.exitCode}`)
  return JSON.parse(printed.join('')) as Verdict
}

function toInput({ begunMs, endedMs, ...operation }: RegisterOperation) {
  return {
    ...operation,
    begin: nanoseconds(begunMs),
    end: endedMs === undefined ? null : nanoseconds(endedMs),
  }
}

function nanoseconds(ms: number): number {
  return Math.round(ms * 1e6)
}
