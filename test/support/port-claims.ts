/**
 * Which test process has which port. A port that is free may be in use a moment later: a test process claims it until it
 * ends, so that nobody takes it before its server listens, nor while its server is stopped for a while.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** All runs of the tests of one user share it. Each file names the process that has claimed a port. */
const CLAIMS = join(tmpdir(), `waypost-test-ports-${process.getuid?.() ?? 'all'}`)

const own = new Set<string>()
process.on('exit', () => own.forEach((file) => rmSync(file, { force: true })))

/** Claims a port for this process. False if a process that runs has claimed it, which may be this one. */
export function claimPort(port: number): boolean {
  mkdirSync(CLAIMS, { recursive: true })
  const file = join(CLAIMS, String(port))
  if (isClaimed(file)) return false
  rmSync(file, { force: true })
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
  own.add(file)
  return true
}

/** A claim is over when its process has ended. A file without a number is being written. */
function isClaimed(file: string): boolean {
  try {
    const pid = Number(readFileSync(file, 'utf8'))
    return pid === 0 || process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
