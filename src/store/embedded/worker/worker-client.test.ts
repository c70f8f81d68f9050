import { afterEach, beforeEach, expect, test } from 'vitest'
import { reportFaultsTo } from '../../../core/unexpected.ts'
import type { CommitBatch } from '../rows/messages.ts'
import { WorkerClient } from './worker-client.ts'

/** A worker that opens and then does as the request `recall` says. */
const OBEDIENT = `
  import { parentPort } from 'node:worker_threads'
  parentPort.postMessage({ kind: 'opened', lastRevision: 7 })
  parentPort.on('message', ({ id, method, args: [what] }) => {
    if (what === 'throw') throw new Error('crash')
    if (what === 'hang') return
    if (what === 'break') {
      const error = { message: 'the disk', storeWide: true, reopen: true }
      parentPort.postMessage({ kind: 'error', id, error })
      return
    }
    parentPort.postMessage({ kind: 'answer', id, value: what })
    if (method === 'close') parentPort.close()
  })`

function clientOf(source: string) {
  const log = { info() {}, warn() {}, error() {} }
  const url = new URL(`data:text/javascript,${encodeURIComponent(source)}`)
  return { client: new WorkerClient({ directory: '/nowhere', log, url }) }
}

/** The faults that would have ended the process. */
let fatal: string[] = []
beforeEach(() => {
  fatal = []
  reportFaultsTo({ caught: () => undefined, fatal: (_error, text) => void fatal.push(text) })
})
afterEach(() => reportFaultsTo(undefined))

test('a crash refuses all waiting requests and ends the process', async () => {
  const { client } = clientOf(OBEDIENT)
  expect(await client.open()).toBe(7)
  const waiting = [
    client.call('recall', ['hang']),
    client.call('recall', ['throw']),
    client.call('recall', ['x']),
  ]
  for (const result of await Promise.allSettled(waiting)) {
    expect(result).toMatchObject({ status: 'rejected', reason: { code: 'store-unavailable' } })
  }
  expect(fatal).toEqual(['the thread of the store has died'])
  await client.close()
})

test.each(['throw', 'break'])('a commit that was running at the crash is in doubt: %s', async (what) => {
  const { client } = clientOf(OBEDIENT)
  expect((await Promise.allSettled([client.call('recall', [what])]))[0].status).toBe('rejected')
  expect(client.commitInDoubt).toBe(false)
  const commit = client.call('commit', [what as unknown as CommitBatch])
  await expect(commit).rejects.toMatchObject({ code: 'store-unavailable' })
  expect(client.commitInDoubt).toBe(true)
  expect(await client.call('recall', ['reads go on'])).toBe('reads go on')
  await client.close()
})

test('a worker whose connection broke is replaced', async () => {
  const { client } = clientOf(OBEDIENT)
  const broken = client.call('recall', ['break'])
  await expect(broken).rejects.toMatchObject({ code: 'store-unavailable', message: 'the disk' })
  expect(await client.call('recall', ['again'])).toBe('again')
  await client.close()
})

test('a worker that cannot open reports the reason, and a later request tries again', async () => {
  const { client } = clientOf(`
    import { parentPort } from 'node:worker_threads'
    parentPort.postMessage({ kind: 'unopened', message: 'in use' })`)
  await expect(client.open()).rejects.toThrow('in use')
  await expect(client.call('recall', ['x'])).rejects.toMatchObject({
    code: 'store-unavailable',
    message: 'in use',
  })
  await client.close()
})

test('a worker that ends before its first message rejects all waiting requests', async () => {
  const { client } = clientOf('export {}')
  await expect(client.open()).rejects.toThrow('ended before it could open the database')
  const crashing = clientOf('throw new Error("broken build")')
  await expect(crashing.client.open()).rejects.toThrow('broken build')
})
