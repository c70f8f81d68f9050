import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeEach, expect, test } from 'vitest'
import { Client, until } from '../interface/client.ts'
import { needTool } from '../support/need-tool.ts'
import { startWaypost, temporaryDirectory, type Waypost } from '../support/waypost.ts'
import { times } from './fault-run.ts'
import { endureRounds, type Round } from './load/loaded-rounds.ts'
import { between } from './random.ts'
import { buildLibrary } from './shims/build-shim.ts'

const rounds = times('FAULT_SYNC_ERRORS', { short: 3, long: 50 })
const LIMIT_MS = 40_000

/** Failed writes behind are tried again each second: the last second counts from the last error. */
const WRITE_BEHIND_MS = 3_000

const gcc = needTool('gcc')
beforeEach(({ skip }) => skip(gcc.skip, gcc.reason))

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

/** The work of a test with such a server: it publishes an item, and reads it. */
interface Scene {
  readonly client: Client
  readonly fail: FailingDisk['fail']
  readonly publish: (content: string) => ReturnType<Client['post']>
  readonly read: () => Promise<string>
  /** SIGKILL, and a start on the data that is left. */
  readonly restart: () => Promise<void>
}

const ITEM = { dataId: 'item', group: 'G' }

/** A test with a server on a failing disk, on which an item says `one`. */
function onFailingDisk(title: string, story: (scene: Scene) => Promise<void>): void {
  test(`${title}`, { timeout: LIMIT_MS }, async () => {
    const { server: first, fail } = await startOnFailingDisk()
    let server = first
    const client = new Client(server.url)
    const scene: Scene = {
      client,
      fail,
      publish: (content) => client.post('/svc/v1/cs/configs', { ...ITEM, content }),
      read: async () => (await client.get('/svc/v1/cs/configs', ITEM)).text,
      restart: async () => {
        await server.kill()
        server = await server.restart()
      },
    }
    try {
      expect((await scene.publish('one')).text).toBe('true')
      await story(scene)
    } finally {
      client.close()
      await server.kill()
    }
  })
}

test(
  'a disk that fails to sync takes back nothing that was acknowledged',
  { timeout: 30_000 + rounds * 15_000 },
  async () => {
    const { server: first, fail } = await startOnFailingDisk()
    const strike = async ({ server, random }: Round): Promise<number> => {
      for (let error = 0; error < 3; error++) {
        await sleep(between(random, 20, 300))
        fail('sync')
        await sleep(between(random, 1, 150))
        fail(undefined)
      }
      await sleep(between(random, 0, 800))
      const cutAtMs = performance.now()
      await server.kill()
      return cutAtMs
    }
    await endureRounds({
      name: 'three spells of fsync errors',
      rounds,
      server: first,
      strike,
      writeBehindMs: WRITE_BEHIND_MS,
      // All rounds set the same switch, and a round may be refused each time: its value is the value of an earlier round.
      forget: (journal) => journal.forget(journal.things().filter(({ kind }) => kind !== 'switch')),
    })
  },
)

onFailingDisk(
  'a disk that fails to sync answers 500 and why, reads go on, and a restart finds the content that is read then',
  async ({ client, fail, publish, read, restart }) => {
    fail('sync')
    const refused = await publish('two')
    expect([refused.status, refused.text]).toEqual([500, expect.stringContaining('disk')])
    expect((await publish('three')).status).toBe(500)
    expect((await publish('one')).status, 'in doubt: whether this changes anything is not known').toBe(500)
    expect(await read()).toBe('one')
    fail(undefined)
    await until(
      () => client.post('/svc/v1/cs/configs', { dataId: 'other', group: 'G', content: 'x' }),
      ({ text }) => text === 'true',
    )
    const before = await read()
    await restart()
    expect(await read()).toBe(before)
  },
)

onFailingDisk(
  'the audit is written without an fsync of its own: also while every fsync fails',
  async ({ client, fail }) => {
    const newest = async () => (await client.get('/svc/v1/audit', { pageSize: 1 })).json().events[0]
    await until(newest, (event) => event?.item === 'public:G:config/item')
    fail('sync')
    // Nothing is written for this refusal but its event.
    await client.post('/nacos/v1/cs/configs', { ...ITEM, content: 'y', casMd5: 'other' })
    expect(await until(newest, (event) => event?.result === 'refused')).toMatchObject({
      code: 'config-changed',
    })
  },
)

onFailingDisk(
  'a full disk refuses writes, serves reads, and takes writes again when there is room',
  async ({ client, fail, publish, read }) => {
    fail('full')
    const refused = await publish('two')
    expect([refused.status, refused.text]).toEqual([500, expect.stringContaining('full')])
    expect(await read()).toBe('one')
    fail(undefined)
    expect((await publish('three')).text).toBe('true')
    const history = await client.get('/svc/v1/cs/history', { search: 'accurate', ...ITEM })
    expect(history.json().totalCount).toBe(2)
  },
)
