import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import './support/shared-thread.ts'

test.each<[string, () => unknown]>([
  ['starts a process', () => execFile('true')],
  ['starts a thread', () => new Worker('')],
  ['sends a signal', () => process.kill(process.pid, 0)],
  ['measures memory', () => process.memoryUsage()],
  ['opens a database', () => new (createRequire(import.meta.url)('libsql'))(':memory:')],
])('a unit test in the shared threads that %s is refused', (_, act) => {
  expect(act).toThrow('needs a process')
})
