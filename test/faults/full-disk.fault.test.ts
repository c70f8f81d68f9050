import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Client, until } from '../interface/client.ts'
import { startWaypost, temporaryDirectory } from '../support/waypost.ts'
import { SmallDisk, needSmallDisk } from './disks/small-disk.ts'
import { report, seed } from './fault-run.ts'
import { Journal } from './load/journal.ts'
import { startLoad } from './load/load.ts'
import { verify } from './load/verify.ts'
import { randomFrom } from './random.ts'

const DISK_MB = 64
const LEFT_BYTES = 300_000
/** Failed writes behind are tried again each second. */
const WRITE_BEHIND_MS = 3_000

test(
  'a disk that fills up refuses writes and loses nothing; with room again writes go on',
  { timeout: 60_000 },
  async ({ skip }) => {
    const needed = needSmallDisk()
    skip(needed.skip, needed.reason)
    const disk = new SmallDisk(temporaryDirectory('full-'), DISK_MB)
    try {
      await fillUnderLoad(disk)
    } finally {
      disk.close()
    }
  },
)

async function fillUnderLoad(disk: SmallDisk): Promise<void> {
  const journal = new Journal()
  let server = await startWaypost({
    dataDir: join(disk.directory, 'data'),
    // The disk is smaller than the reserve.
    settings: { 'store-reserve': 0 },
  })
  const client = new Client(`${server.url}/svc/v1`)
  try {
    const load = startLoad({
      url: server.url,
      journal,
      random: randomFrom(seed),
      label: 'full',
      configWriters: 4,
    })
    await sleep(300)
    disk.fillUpTo(LEFT_BYTES)
    const item = { dataId: 'big', group: 'G' }
    const write = (content: string) => client.post('/cs/configs', { ...item, content })
    const refused = await until(
      () => write('x'.repeat(400_000)),
      ({ status }) => status === 500,
    )
    expect(refused.text).toContain('the disk of its data directory is full; free some space there')
    await expectReadsAndPolls(client)
    await sleep(500)
    disk.free()
    await until(
      () => write('there is room'),
      ({ text }) => text === 'true',
    )
    const before = journal.acknowledged
    await expect
      .poll(() => journal.acknowledged, { message: 'all writers go on' })
      .toBeGreaterThan(before + 100)
    await sleep(WRITE_BEHIND_MS)
    const cutAtMs = performance.now()
    await server.kill()
    await load.stop()
    server = await server.restart()
    const wrong = await verify(journal, { url: server.url, cutAtMs, writeBehindMs: WRITE_BEHIND_MS })
    expect(wrong, `seed ${seed}`).toEqual([])
    report(`full disk: ${journal.acknowledged} acknowledged writes, ${load.refusals.length} or more refused`)
  } finally {
    client.close()
    await server.kill()
  }
}

async function expectReadsAndPolls(client: Client): Promise<void> {
  expect((await client.get('/ns/service/list', { pageNo: 1, pageSize: 10 })).status).toBe(200)
  expect((await client.get('/cs/configs', { dataId: 'none', group: 'G' })).status).toBe(404)
  const headers = { 'Long-Pulling-Timeout': '1500' }
  const poll = { 'Listening-Configs': `none\u0002G\u0002\u0001` }
  const answer = await client.post('/cs/configs/listener', poll, headers)
  expect([answer.status, answer.text]).toEqual([200, ''])
}
