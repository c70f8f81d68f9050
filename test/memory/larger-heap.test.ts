/** Data that do not fit into the usual heap are served by a child process with a larger one. */
import { execFileSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { getHeapStatistics } from 'node:v8'
import pino from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { NOTED_MEMORY } from '../../src/core/records/memory-limits.ts'
import { openEmbeddedStore } from '../../src/store/embedded/embedded-store.ts'
import { startWaypost, temporaryDirectory, type Waypost } from '../support/waypost.ts'

/** The process of a test has the heap that Node.js gives on this machine, as a server has. */
const HEAP_BYTES = getHeapStatistics().heap_size_limit
const LARGER = /the data need a larger heap: the server runs in a process of its own with (\d+) MiB/

let dataDir: string
const started: Waypost[] = []

beforeEach(async () => {
  dataDir = temporaryDirectory('data-')
  await note({ heap: Math.ceil(HEAP_BYTES), external: 0 })
})

afterEach(async () => {
  for (const server of started.splice(0)) await server.kill()
})

/** Says that the data of the directory have this size, so that no test has to write gigabytes. */
async function note(size: object): Promise<void> {
  const store = await openEmbeddedStore({ directory: dataDir, log: pino({ level: 'silent' }) })
  await store.remember(NOTED_MEMORY, JSON.stringify(size))
  await store.close()
}

async function start(env: Record<string, string> = {}, settings = {}): Promise<Waypost> {
  const server = await startWaypost({ dataDir, env, settings: { 'log-level': 'error', ...settings } })
  started.push(server)
  return server
}

/** The process that serves: the only child of the one that was started. */
function childOf({ pid }: Waypost): number {
  const children = execFileSync('ps', ['--ppid', String(pid), '-o', 'pid='], { encoding: 'utf8' })
  return Number(children.trim())
}

async function untilEnded(pid: number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 0)
    } catch {
      return
    }
    await sleep(50)
  }
}

test('the child has a larger heap, and stops with a signal to its parent', async () => {
  const server = await start()
  const [, mebibytes] = LARGER.exec(server.output()) ?? []
  expect(Number(mebibytes) * 2 ** 20).toBeGreaterThan(HEAP_BYTES)
  const child = childOf(server)
  expect(execFileSync('ps', ['-o', 'args=', '-p', String(child)], { encoding: 'utf8' })).toContain(
    `--max-old-space-size=${mebibytes}`,
  )
  expect(await server.stop()).toBe(0)
  await untilEnded(child)
}, 60_000)

test('the child ends in order when its parent is killed', async () => {
  const server = await start()
  const child = childOf(server)
  await server.kill()
  await untilEnded(child)
  // The directory is free, and a sound one.
  await note({ heap: 0, external: 0 })
  expect(LARGER.test((await start()).output())).toBe(false)
}, 60_000)

test('a supervisor may send its signal to both', async () => {
  const server = await start()
  process.kill(childOf(server), 'SIGTERM')
  expect(await server.stop()).toBe(0)
}, 60_000)

test('the parent has the exit code of its child', async () => {
  const server = await start()
  process.kill(childOf(server), 'SIGKILL')
  expect(await server.stop()).toBe(128 + 9)
}, 60_000)

test.each([
  ['a heap that somebody has chosen', { NODE_OPTIONS: '--max-old-space-size=512' }, {}],
  ['a limit of the data', {}, { 'max-state-memory': '64MiB' }],
])('%s is kept: the start is refused', async (_case, env, settings) => {
  await expect(start(env, settings)).rejects.toThrow(/ended with 2;[^]*The data need \d+ MiB on the heap/)
})

test('memory that is not there is not taken', async () => {
  await note({ heap: 2 ** 50, external: 0 })
  await expect(start()).rejects.toThrow(/ended with 2;[^]*The data need \d+ MiB on the heap/)
})
