/** A start whose data do not fit into the heap says so before it loads them, and how large a heap it takes. */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { startWaypost } from '../support/waypost.ts'
import { Client } from './client.ts'

const MIB = 2 ** 20
const heapOf = (mebibytes: number) => ({ NODE_OPTIONS: `--max-old-space-size=${mebibytes}` })
/** The data of this test need this much on the heap. */
const DATA_BYTES = 60 * MIB
/** By how much the noted account may be behind: src/jobs/memory-care.ts. */
const NOTED_BYTES = 16 * MIB
const AT_ONCE = 16

async function heapBytes(client: Client): Promise<number> {
  const { text } = await client.get('/metrics')
  const kinds = [...text.matchAll(/^waypost_memory_bytes\{[^}]*where="heap"\} (\S+)/gm)]
  return kinds.reduce((sum, [, bytes]) => sum + Number(bytes), 0)
}

/** Publishes items with schemas, which are texts on the heap. */
async function fill(client: Client): Promise<void> {
  for (let next = 0; (await heapBytes(client)) < DATA_BYTES;)
    for (let round = 0; round < 10; round++)
      await Promise.all(
        Array.from({ length: AT_ONCE }, async () => {
          const form = { dataId: `d${next++}`, group: 'G', content: 'x' }
          const schema = `→${next}`.padEnd(32_768, 'x')
          expect((await client.post('/svc/v1/cs/configs', { ...form, schema })).status).toBe(200)
        }),
      )
}

test('a heap that is too small ends the start with code 2 and the flag, and the flag is enough', async () => {
  const server = await startWaypost({ settings: { 'log-level': 'error' } })
  const client = new Client(server.url)
  await fill(client)
  const taken = await heapBytes(client)
  client.close()
  // The server looks at its account each second.
  await sleep(2_000)
  expect(await server.stop()).toBe(0)
  const again = (mebibytes: number) =>
    startWaypost({ dataDir: server.dataDir, settings: { 'log-level': 'error' }, env: heapOf(mebibytes) })
  const refused = await again(64).then(
    () => 'it started',
    (error: unknown) => (error as Error).message,
  )
  expect(refused).toMatch(/^the server ended with 2;/)
  expect(refused).not.toContain('FATAL ERROR')
  const needed = /The data need (\d+) MiB on the heap .*--max-old-space-size=(\d+) /.exec(refused)
  expect(Number(needed?.[1])).toBeGreaterThan((taken - NOTED_BYTES) / MIB - 1)
  const small = await again(Number(needed?.[2]))
  const other = new Client(small.url)
  expect(await heapBytes(other)).toBeGreaterThan(0.95 * taken)
  expect((await other.get('/svc/v1/cs/configs', { dataId: 'd1', group: 'G' })).text).toBe('x')
  other.close()
  await small.stop()
})
