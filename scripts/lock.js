import { linkSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** No install takes so long. */
const STALE_AFTER_MS = 10 * 60_000

/**
 * Does the work while no other process holds the lock file, so that two scripts started together do not install over
 * each other. A lock whose process has gone is taken over.
 */
export async function holdingLock(file, work) {
  mkdirSync(dirname(file), { recursive: true })
  while (!take(file)) await sleep(100)
  const release = () => rmSync(file, { force: true })
  process.on('exit', release)
  try {
    return await work()
  } finally {
    process.off('exit', release)
    release()
  }
}

function take(file) {
  const own = `${file}.${process.pid}`
  writeFileSync(own, String(process.pid))
  try {
    // A link appears with its content, so nobody reads a lock that is still empty.
    linkSync(own, file)
    return true
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
    if (isStale(file)) rmSync(file, { force: true })
    return false
  } finally {
    rmSync(own)
  }
}

function isStale(file) {
  try {
    const pid = Number(readFileSync(file, 'utf8'))
    // Process ids come round again, above all in containers.
    if (pid === process.pid || Date.now() - statSync(file).mtimeMs > STALE_AFTER_MS) return true
    process.kill(pid, 0)
    return false
  } catch (error) {
    return error.code === 'ESRCH'
  }
}
