import { execFile } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { temporaryDirectory } from '../support/waypost.ts'

/** The directory of the project. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

const CONFIG = `export default { test: { pool: 'forks', maxWorkers: 2 } }`

/** The output and the exit code of a script. */
export interface Ended {
  readonly output: string
  readonly code: number
}

/** Writes test files, named by their paths, for scripts/test.js. Returns the arguments that make it run these. */
export function madeUpTests(files: Readonly<Record<string, string>>): string[] {
  const directory = temporaryDirectory('tests-')
  const all = { 'package.json': '{"type":"module"}', 'vitest.config.js': CONFIG, ...files }
  for (const [name, text] of Object.entries(all)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true })
    writeFileSync(join(directory, name), text)
  }
  symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'))
  return [`--root=${directory}`, `--config=${join(directory, 'vitest.config.js')}`]
}

/** Runs Node.js with these arguments, without the variables of the run that this test is a part of. */
export function runNode(args: readonly string[]): Promise<Ended> {
  const isOurs = ([name]: [string, unknown]): boolean =>
    !/^(?:VITEST|RUN_|RESULT_|COUNT_|NODE_ENV$)/.test(name)
  const env = { ...Object.fromEntries(Object.entries(process.env).filter(isOurs)), NO_COLOR: '1' }
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: ROOT, env, maxBuffer: 1e8 }, (error, stdout, stderr) =>
      resolve({ output: stdout + stderr, code: Number(error?.code ?? 0) }),
    )
  })
}
