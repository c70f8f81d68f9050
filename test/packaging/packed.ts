import { execFile } from 'node:child_process'
import { closeSync, openSync, readSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const runFile = promisify(execFile)

/** A script of this project that packs it. */
export type Packing = 'image' | 'archive' | 'deb'

/**
 * Runs `npm run image`, `archive` or `deb`, with little compression, and resolves with the path that it prints first. The test's
 * process must not wait in a call meanwhile: vitest would take it for dead on a slow machine.
 */
export async function packed(script: Packing, { arch, out }: { arch: string; out: string }): Promise<string> {
  const file = fileURLToPath(new URL(`../../scripts/${script}.js`, import.meta.url))
  const { stdout } = await runFile(process.execPath, [file, '--arch', arch, '--out', out, '--fast'])
  return stdout.split('\n').find((line) => line.startsWith(out))!
}

/** Runs a program that takes long. */
export async function runLong(program: string, ...args: string[]): Promise<void> {
  await runFile(program, args)
}

/** The processor that an ELF file is for. */
export function machineOf(file: string): string {
  const header = Buffer.alloc(20)
  const descriptor = openSync(file, 'r')
  readSync(descriptor, header)
  closeSync(descriptor)
  const machine = header.readUInt16LE(18)
  return machine === 62 ? 'x64' : machine === 183 ? 'arm64' : `machine ${machine}`
}
