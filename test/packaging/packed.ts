import { execFileSync } from 'node:child_process'
import { closeSync, openSync, readSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Runs `npm run archive` or `deb`, with little compression, and returns the path that it prints. */
export function packed(script: 'archive' | 'deb', { arch, out }: { arch: string; out: string }): string {
  const file = fileURLToPath(new URL(`../../scripts/${script}.js`, import.meta.url))
  const printed = execFileSync(process.execPath, [file, '--arch', arch, '--out', out, '--fast'], {
    encoding: 'utf8',
  })
  return printed.trim().split('\n').at(-1)!
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
