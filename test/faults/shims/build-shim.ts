import { execFileSync } from 'node:child_process'
import { mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const SOURCES = fileURLToPath(new URL('.', import.meta.url))
const BUILT = fileURLToPath(new URL('../../../.cache/shims', import.meta.url))
const FLAGS = ['-O2', '-Wall', '-Wextra', '-Werror']

/** Compiles a library to preload, by the name of its source, and returns its path. It needs gcc. */
export function buildLibrary(name: 'disk' | 'clock'): string {
  return compile(name, ['-shared', '-fPIC', '-pthread', '-ldl'])
}

/** Compiles a program, by the name of its source, and returns its path. It needs gcc. */
export function buildProgram(name: 'cut-power'): string {
  return compile(name, [])
}

/** Writes to a temporary name first, because another process may use the file. */
function compile(name: string, flags: readonly string[]): string {
  mkdirSync(BUILT, { recursive: true })
  const target = join(BUILT, name)
  const draft = `${target}.${process.pid}`
  execFileSync('gcc', [...FLAGS, '-o', draft, join(SOURCES, `${name}.c`), ...flags])
  renameSync(draft, target)
  return target
}
