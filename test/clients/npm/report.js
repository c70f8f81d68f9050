/** Running checks and reporting them, and waiting for something to become true. */
import assert from 'node:assert/strict'
import { createServer } from 'node:net'

const LIMIT_MS = 25_000

/** Runs one check and prints its line; never throws, and gives up after some time. */
export async function check(name, body) {
  let timer
  const limit = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not finished after ${LIMIT_MS} ms`)), LIMIT_MS)
  })
  const line = { name, ok: true, detail: '' }
  try {
    line.detail = String((await Promise.race([body(), limit])) ?? '')
  } catch (error) {
    Object.assign(line, { ok: false, detail: String(error?.message ?? error) })
  }
  clearTimeout(timer)
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

/** Starts every check at once: most of their time is spent waiting. */
export function settle(checks) {
  return Promise.all(checks.map(([name, body]) => check(name, body)))
}

/** Resolves with the milliseconds that it took until `probe` gave something true, or throws after `withinMs`. */
export async function until(what, probe, withinMs) {
  const begun = Date.now()
  for (;;) {
    const seen = await probe()
    if (seen) return Date.now() - begun
    assert.ok(Date.now() - begun < withinMs, `${what}: not seen within ${withinMs} ms`)
    await sleep(5)
  }
}

/** Waits for a time. */
export function sleep(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** A TCP port that nothing listens on. */
export function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}
