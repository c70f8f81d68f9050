/** Gray versions with large texts on etcd: history shares their pieces instead of writing them once more (docs/decisions/0060). */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { deleteConfig } from '../../src/core/config/commands/publish-config.ts'
import { stopGray } from '../../src/core/config/commands/end-gray.ts'
import { growGray, publishGray } from '../../src/core/config/commands/publish-gray.ts'
import { configKey } from '../../src/core/config/state/config-item.ts'
import { GRAY, grayHistoryKey, MOST_GRAY_VERSIONS } from '../../src/core/config/state/gray-version.ts'
import { Client } from '../interface/client.ts'
import { describeOnEtcd } from '../support/etcd.ts'
import { isNightly } from '../support/nightly.ts'
import { freePort, runWaypost, startWaypost, temporaryDirectory, type Waypost } from '../support/waypost.ts'
import type { StoreServer } from './store-server.ts'
import { etcdForThisFile } from './etcd-of-file.ts'

const here = etcdForThisFile()
/** By day a few: each is written, promoted and read in the same way. */
const VERSIONS = isNightly ? MOST_GRAY_VERSIONS : 3
const TEN_MIB = 10 * 1024 * 1024
const MIB = 1024 * 1024
const OPERATOR = { ip: '10.0.0.1', user: null }
const KEY = configKey('public', 'G', 'heavy')
const md5 = (text: string): string => createHash('md5').update(text).digest('hex')

/** A server as a process of its own. */
let whole: Waypost | undefined

const start = (port: number): Promise<StoreServer> => here.join(here.prefix, port)

/** How many pieces of contents there are. */
async function pieces(): Promise<number> {
  const { count } = await here.raw.range({
    key: `${here.prefix}/x/`,
    end: `${here.prefix}/x0`,
    countOnly: true,
  })
  return count
}

const publishing = (name: string, text: string) =>
  publishGray({
    key: KEY,
    name,
    rule: { type: 'percent', version: '1.0.0', expr: '5', priority: 1 },
    content: Buffer.from(text),
    md5: md5(text),
    type: undefined,
    encryptedDataKey: '',
    casMd5: undefined,
    operator: OPERATOR,
  })

/** The history of the gray versions, newest first: what happened, and the text. */
async function records({ store }: StoreServer): Promise<[op: string, text: string][]> {
  const { entries } = await store.reads('test').history([grayHistoryKey(KEY)], { pageNo: 1, pageSize: 100 })
  const found: [string, string][] = []
  for (const { id, op } of entries)
    found.push([op, String((await store.reads('test').historyRecord(id))?.content)])
  return found
}

describeOnEtcd('gray versions with large texts on etcd', 120_000, () => {
  afterEach(() => whole?.kill())

  test(
    `${VERSIONS} of 10 MiB are made, promoted and deleted, and history has each text`,
    { timeout: 400_000 },
    async () => {
      const settings = {
        store: 'etcd',
        'etcd-endpoints': here.etcd.endpoints.join(','),
        'etcd-prefix': here.prefix,
      }
      const server = await startWaypost({ settings: { ...settings, 'peer-port': await freePort() } })
      whole = server
      const svc = new Client(`${server.url}/svc/v1`)
      const textOf = (index: number): string => `"${index}"\n`.padEnd(TEN_MIB, String(index))
      const indexes = Array.from({ length: VERSIONS }, (_, index) => index)
      for (const dataId of ['promoted', 'deleted']) {
        const item = { dataId, group: 'G' }
        for (const index of indexes) {
          const share = { grayName: `v${index}`, grayType: 'percent', grayMatchRuleExp: '5' }
          const made = await svc.post('/cs/configs/gray', { ...item, content: textOf(index), ...share })
          expect([made.status, made.text]).toEqual([200, 'true'])
        }
        const before = await pieces()
        const ended =
          dataId === 'deleted'
            ? await svc.delete('/cs/configs', item)
            : await svc.post('/cs/configs/gray/promote', { ...item, grayName: 'v2' })
        expect([ended.status, ended.text]).toEqual([200, 'true'])
        // Only what all clients get is written.
        expect((await pieces()) - before).toBe(dataId === 'deleted' ? 0 : 10)
        const page = await svc.get('/cs/history', { search: 'accurate', ...item, pageNo: 1, pageSize: 100 })
        const entries = page.json().pageItems as { id: string; opType: string; grayName: string }[]
        const ofGray = entries.filter(({ grayName }) => grayName !== '' && grayName !== undefined)
        expect(ofGray).toHaveLength(2 * VERSIONS)
        for (const { id, grayName } of ofGray.filter(({ opType }) => opType.trim() === 'D')) {
          const record = (await svc.get('/cs/history', { ...item, nid: id })).json() as { content: string }
          expect(md5(record.content)).toBe(md5(textOf(Number(grayName.slice(1)))))
        }
      }
      svc.close()
      expect(await server.stop()).toBe(0)
      const doctor = await here.doctor(here.prefix, '--json')
      expect([doctor.code, JSON.parse(doctor.stdout).counts]).toEqual([0, { damage: 0, notes: 0 }])
    },
  )

  test('the records of one share its pieces, and those go with the last of them', async () => {
    const server = await start(1)
    const { engine, store } = server
    const [first, second] = ['"1"\n'.padEnd(3 * MIB, '1'), '2'.repeat(2 * MIB)]
    await engine.execute(publishing('a', first))
    expect(await pieces()).toBe(4)
    await engine.execute(growGray({ key: KEY, name: 'a', expr: '10', operator: OPERATOR }))
    expect(await pieces()).toBe(4)
    await engine.execute(publishing('a', second))
    expect(await pieces()).toBe(4 + 3)
    await engine.execute(stopGray({ key: KEY, name: 'a', operator: OPERATOR }))
    expect(await pieces()).toBe(4 + 3)
    expect(await records(server)).toEqual([
      ['D', second],
      ['U', first],
      ['U', first],
      ['I', first],
    ])
    await store.cleanHistory({ beforeMs: Number.MAX_SAFE_INTEGER, keep: 0, most: 100 })
    expect([await records(server), await pieces()]).toEqual([[], 0])
  })

  test('a copy into a directory and back has the same history', async () => {
    const server = await start(1)
    const text = '"1"\n'.padEnd(MIB, '1')
    await server.engine.execute(publishing('a', text))
    await server.engine.execute(publishing('b', 'small'))
    await server.engine.execute(growGray({ key: KEY, name: 'a', expr: '10', operator: OPERATOR }))
    await server.engine.execute(deleteConfig(KEY, OPERATOR))
    const before = await records(server)
    const directory = join(temporaryDirectory('copy-'), 'new')
    const back = `${here.prefix}-back`
    const run = async (...args: string[]): Promise<void> => {
      const { code, stderr } = await runWaypost([
        ...args,
        `--etcd-endpoints=${here.etcd.endpoints.join(',')}`,
      ])
      expect([code, stderr]).toEqual([0, expect.not.stringContaining('waypost:')])
    }
    await run('copy-store', '--from=etcd', `--to=${directory}`, `--etcd-prefix=${here.prefix}`)
    await run('copy-store', `--from=${directory}`, '--to=etcd', `--etcd-prefix=${back}`)
    here.prefix = back
    const copied = await start(2)
    expect(await records(copied)).toEqual(before)
    await copied.store.cleanHistory({ beforeMs: Number.MAX_SAFE_INTEGER, keep: 0, most: 100 })
    expect([await records(copied), await pieces()]).toEqual([[], 0])
  })

  test('two changes in one commit are written right', async () => {
    const server = await start(1)
    const text = '1'.repeat(MIB / 2)
    await Promise.all([
      server.engine.execute(publishing('a', text)),
      server.engine.execute(stopGray({ key: KEY, name: 'a', operator: OPERATOR })),
    ])
    expect(server.state.record(GRAY, KEY.text)).toBeUndefined()
    expect(await records(server)).toEqual([
      ['D', text],
      ['I', text],
    ])
    expect(await pieces()).toBe(1)
  })
})
