/**
 * Before each file of the project `short-unit` (vitest.config.ts), whose files share a thread and its modules: each test of core
 * has a clock of its own, and what needs a process is refused. Such a test belongs to UNIT_IN_PROCESSES (speeds.ts).
 */
import childProcess from 'node:child_process'
import { syncBuiltinESMExports } from 'node:module'
import workerThreads from 'node:worker_threads'
import { beforeEach } from 'vitest'
import { restartClock } from '../../src/core/core.test-support.ts'

beforeEach(restartClock)

function refusing(what: string): () => never {
  // No arrow: a class may be refused too.
  return function refuse() {
    throw new Error(
      `A unit test that ${what} needs a process: see UNIT_IN_PROCESSES in test/support/speeds.ts`,
    )
  }
}

const startsOne = refusing('starts a process')
Object.assign(childProcess, {
  spawn: startsOne,
  spawnSync: startsOne,
  exec: startsOne,
  execFile: startsOne,
  fork: startsOne,
})
Object.assign(workerThreads, { Worker: refusing('starts a thread') })
Object.assign(process, {
  // A thread that ends while libsql has a database open ends the process.
  dlopen: refusing('loads native code'),
  kill: refusing('sends a signal'),
  memoryUsage: refusing('measures memory'),
})
syncBuiltinESMExports()
