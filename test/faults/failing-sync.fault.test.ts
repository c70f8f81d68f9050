import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { Client, until } from '../interface/client.ts'
import { needTool } from '../support/need-tool.ts'
import { startWaypost, temporaryDirectory } from '../support/waypost.ts'
import type { Waypost } from '../support/waypost.ts'
import { report, seed, times } from './fault-run.ts'
import { Journal } from './load/journal.ts'
import { startLoad } from './load/load.ts'
import { verify } from './load/verify.ts'
import { between, randomFrom } from './random.ts'
import { buildLibrary } from './shims/build-shim.ts'

const rounds = times('FAULT_SYNC_ERRORS', { short: 3, long: 50 })

/** What could not be written behind is tried again each second: the last second counts from the last error. */
const WRITE_BEHIND_MS = 3_000

/** A server whose disk can be made to answer errors. */
interface FailingDisk {
  readonly server: Waypost
  /** `sync`: every fsync fails; `full`: every write does; undefined: the disk is well. */
  fail(what: 'sync' | 'full' | undefined): void
}

async function startOnFailingDisk(): Promise<FailingDisk> {
  const directory = temporaryDirectory('failing-')
  const [dataDir, switchFile] = [join(directory, 'data'), join(directory, 'fault')]
  const env = { LD_PRELOAD: buildLibrary('disk'), DISK_WATCH: dataDir, DISK_FAULT: switchFile }
  const server = await startWaypost({ dataDir, env })
  const fail = (what: string | undefined): void =>
    what === undefined ? rmSync(switchFile, { force: true }) : writeFileSync(switchFile, what)
  return { server, fail }
}

describe('a disk that fails to sync', () => {
  test(
    `takes back nothing that was acknowledged, ${rounds} times`,
    { timeout: 30_000 + rounds * 15_000 },
    async ({ skip }) => {
      const gcc = needTool('gcc')
      skip(gcc.skip, gcc.reason)
      const random = randomFrom(seed)
      const journal = new Journal()
      let acknowledged = 0
      const disk = await startOnFailingDisk()
      let { server } = disk
      try {
        for (let round = 0; round < rounds; round++) {
          const load = startLoad({ url: server.url, journal, random, label: `r${round}` })
          for (let error = 0; error < 3; error++) {
            await sleep(between(random, 20, 300))
            disk.fail('sync')
            await sleep(between(random, 1, 150))
            disk.fail(undefined)
          }
          await sleep(between(random, 0, 800))
          const cutAtMs = performance.now()
          await server.kill()
          await load.stop()
          server = await server.restart()
          const wrong = await verify(journal, { url: server.url, cutAtMs, writeBehindMs: WRITE_BEHIND_MS })
          expect(wrong, `round ${round}, seed ${seed}; ${load.refusals[0]}`).toEqual([])
          acknowledged += journal.acknowledged
          journal.acknowledged = 0
          // All rounds set the same switch, and a round may be refused each time: its value is that of an earlier round.
          journal.forget(journal.things().filter(({ kind }) => kind !== 'switch'))
        }
      } finally {
        await server.kill()
      }
      report(`fsync errors: ${rounds * 3} in ${rounds} rounds, ${acknowledged} acknowledged writes`)
    },
  )

  test(
    'answers 500 and why, reads go on, and what is read then is what a restart finds',
    { timeout: 40_000 },
    async ({ skip }) => {
      const gcc = needTool('gcc')
      skip(gcc.skip, gcc.reason)
      const disk = await startOnFailingDisk()
      let { server } = disk
      const client = new Client(`${server.url}/svc/v1`)
      const item = { dataId: 'item', group: 'G' }
      const read = async (): Promise<string> => (await client.get('/cs/configs', item)).text
      const write = (content: string) => client.post('/cs/configs', { ...item, content })
      try {
        expect((await write('one')).text).toBe('true')
        disk.fail('sync')
        const refused = await write('two')
        expect(refused.status).toBe(500)
        expect(refused.text).toContain('disk')
        expect((await write('three')).status).toBe(500)
        expect((await write('one')).status, 'in doubt: whether this changes anything is not known').toBe(500)
        expect(await read()).toBe('one')
        disk.fail(undefined)
        await until(
          () => client.post('/cs/configs', { dataId: 'other', group: 'G', content: 'x' }),
          ({ text }) => text === 'true',
        )
        const before = await read()
        await server.kill()
        server = await server.restart()
        expect(await read()).toBe(before)
      } finally {
        client.close()
        await server.kill()
      }
    },
  )
})

describe('the audit', () => {
  test(
    'is written without an fsync of its own: also while every fsync fails',
    { timeout: 40_000 },
    async ({ skip }) => {
      const gcc = needTool('gcc')
      skip(gcc.skip, gcc.reason)
      const disk = await startOnFailingDisk()
      const { server } = disk
      const client = new Client(`${server.url}/svc/v1`)
      const nacos = new Client(`${server.url}/nacos/v1`)
      const newest = async () => (await client.get('/audit', { pageSize: 1 })).json().events[0]
      try {
        expect((await client.post('/cs/configs', { dataId: 'a', group: 'G', content: 'x' })).text).toBe(
          'true',
        )
        await until(newest, (event) => event?.item === 'public:G:config/a')
        disk.fail('sync')
        // Nothing is written for this refusal but its event.
        await nacos.post('/cs/configs', { dataId: 'a', group: 'G', content: 'y', casMd5: 'other' })
        expect(await until(newest, (event) => event?.result === 'refused')).toMatchObject({
          code: 'config-changed',
        })
      } finally {
        nacos.close()
        client.close()
        await server.kill()
      }
    },
  )
})

describe('a full disk', () => {
  test(
    'refuses writes, serves reads, and takes writes again when there is room',
    { timeout: 40_000 },
    async ({ skip }) => {
      const gcc = needTool('gcc')
      skip(gcc.skip, gcc.reason)
      const disk = await startOnFailingDisk()
      const { server } = disk
      const client = new Client(`${server.url}/svc/v1`)
      const item = { dataId: 'item', group: 'G' }
      try {
        expect((await client.post('/cs/configs', { ...item, content: 'one' })).text).toBe('true')
        disk.fail('full')
        const refused = await client.post('/cs/configs', { ...item, content: 'two' })
        expect([refused.status, refused.text]).toEqual([500, expect.stringContaining('full')])
        expect((await client.get('/cs/configs', item)).text).toBe('one')
        disk.fail(undefined)
        expect((await client.post('/cs/configs', { ...item, content: 'three' })).text).toBe('true')
        expect((await client.get('/cs/history', { search: 'accurate', ...item })).json().totalCount).toBe(2)
      } finally {
        client.close()
        await server.kill()
      }
    },
  )
})
