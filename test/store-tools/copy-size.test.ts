/** A move of a whole store, small here. `npm run test:copy` moves a large one, and prints how long it takes. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DirectoryTarget } from '../../src/store/embedded/copy/directory-target.ts'
import { copyParts } from '../../src/store/stored-data.ts'
import { ETCD_HOOK_MS, etcdTools, startEtcd } from '../support/etcd.ts'
import { runWaypost, temporaryDirectory } from '../support/waypost.ts'
import { sampleSource } from './sample-source.ts'

const note = etcdTools.skip ? ` (${etcdTools.reason})` : ''
const HOUR_MS = 3_600_000
/** For a store that is larger than usual. */
const QUOTA = 16 * 1024 ** 3

function sizeOf(name: string, usual: number): number {
  return Number(process.env[name] ?? usual)
}

const SIZE = {
  items: sizeOf('COPY_ITEMS', 300),
  records: sizeOf('COPY_RECORDS', 10),
  bytes: sizeOf('COPY_BYTES', 1_500),
}
const MEMBERS = process.env['COPY_MEMBERS'] === '3' ? 3 : 1
const isLong = process.env['COPY_ITEMS'] !== undefined

async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
  const began = performance.now()
  const result = await work()
  if (isLong) process.stderr.write(`${what}: ${((performance.now() - began) / 1_000).toFixed(1)} s\n`)
  return result
}

async function fill(directory: string): Promise<void> {
  const target = new DirectoryTarget(directory, sampleSource(SIZE))
  await copyParts(sampleSource(SIZE), target, { leaveOut: (part) => part, onProgress: () => undefined })
  await target.complete()
  await target.release()
  target.close()
}

test.skipIf(etcdTools.skip)(
  `a store moves into etcd and back, and nothing is missing${note}`,
  { timeout: ETCD_HOOK_MS + (isLong ? 4 * HOUR_MS : 0) },
  async () => {
    const place = temporaryDirectory('copy-size-')
    const [from, back] = [join(place, 'from'), join(place, 'back')]
    await timed(`${SIZE.items} items, ${SIZE.items * SIZE.records} records are made`, () => fill(from))
    const etcd = await startEtcd({ members: MEMBERS, fsync: isLong, quotaBytes: QUOTA })
    const flags = ['--etcd-endpoints', etcd.endpoints.join(',')]
    const run = (...args: string[]): Promise<void> =>
      timed(args.join(' '), async () => {
        const { code, stderr } = await runWaypost([...args, ...flags], {}, HOUR_MS)
        expect(code, stderr).toBe(0)
      })
    try {
      await run('copy-store', '--from', from, '--to', 'etcd')
      await run('doctor', '--store', 'etcd')
      await run('copy-store', '--from', 'etcd', '--to', back)
    } finally {
      await etcd.stop()
    }
  },
)
