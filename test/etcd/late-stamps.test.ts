/** Stamps of the far future that another hand has written: no change conflicts for ever (docs/promises.md, Clocks). */
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { noteServer } from '../../src/core/cluster/members/server-records.ts'
import { publishGray } from '../../src/core/config/commands/publish-gray.ts'
import { deleteConfig } from '../../src/core/config/commands/publish-config.ts'
import { isStamp, LATEST_MS, stampOfId } from '../../src/core/decisions/stamps.ts'
import { Keys } from '../../src/store/etcd/keys/keys.ts'
import { describeOnEtcd } from '../support/etcd.ts'
import { KEY, publish, register, type StoreServer } from './store-server.ts'
import { etcdForThisFile } from './etcd-of-file.ts'

const here = etcdForThisFile()
const { put, start } = here
const WAIT = { timeout: 20_000 }
const OPERATOR = { ip: '10.0.0.1', user: null }
const md5Of = (text: string): string => createHash('md5').update(text).digest('hex')
/** The largest stamp that clocks follow. */
const LARGEST_SEEN = (LATEST_MS + 31_536_000_000) * 1_024

const STAMPS: [when: string, stamp: number][] = [
  ['years ahead', Date.UTC(2099, 0) * 1_024],
  ['after 2100', (LATEST_MS + 1) * 1_024],
  ['the largest that clocks follow', LARGEST_SEEN],
  ['beyond it', LARGEST_SEEN + 1],
  ['far beyond it', 2 ** 52 - 2 ** 47],
]

type Json = Record<string, unknown>

/** A value of etcd: a line of JSON, and the content after it. */
async function rewritten(key: string, change: (json: Json) => Json): Promise<Buffer> {
  const value = await here.valueOf(key)
  const end = value.indexOf(10)
  const [line, rest] = end < 0 ? [value, Buffer.alloc(0)] : [value.subarray(0, end), value.subarray(end)]
  return Buffer.concat([Buffer.from(JSON.stringify(change(JSON.parse(line.toString()) as Json))), rest])
}

const gray = (text: string) =>
  publishGray({
    key: KEY,
    name: 'v1',
    rule: { type: 'percent', version: '1.0.0', expr: '5', priority: 1 },
    content: Buffer.from(text),
    md5: md5Of(text),
    type: undefined,
    encryptedDataKey: '',
    casMd5: undefined,
    operator: OPERATOR,
  })

/** The key of each kind that has a stamp, and its value with another one. */
const PLACES: Record<
  string,
  (keys: Keys, stamp: number) => [key: string, change: (json: Json) => Json, from?: string]
> = {
  'an item': (keys, stamp) => [
    keys.of({ of: 'config', key: KEY }),
    ({ facts, ...rest }) => ({ facts: { ...(facts as Json), historyId: stamp * 2 + 1 }, ...rest }),
  ],
  'a new item': (keys, stamp) => [
    keys.of({ of: 'config', key: { ...KEY, dataId: 'b' } }),
    ({ facts, ...rest }) => ({ facts: { ...(facts as Json), historyId: stamp * 2 + 1 }, ...rest }),
    keys.of({ of: 'config', key: KEY }),
  ],
  'the history of an item': (keys, stamp) => [
    keys.of({ of: 'history', key: KEY, stamp }),
    (json) => ({ ...json, id: stamp * 2 + 1 }),
    keys.historyOf(KEY),
  ],
  'a gray version': (keys, stamp) => [`${keys.every('small-record')}gray/`, (json) => ({ ...json, stamp })],
  'an instance': (keys, stamp) => [
    `${keys.every('instance')}public/DEFAULT_GROUP@@orders/`,
    (json) => ({ ...json, stamp }),
  ],
  'a service': (keys, stamp) => [
    `${keys.every('service')}public/DEFAULT_GROUP@@orders`,
    (json) => ({ ...json, stamp }),
  ],
  'a request': (keys, stamp) => [
    keys.of({ of: 'request', id: '10.9.9.9:1' }),
    (json) => ({ ...json, stamp }),
    keys.every('request'),
  ],
}

describeOnEtcd('a stamp of the far future', 90_000, () => {
  /** Every kind of change, by each of the servers in turn; each is made, and all have it. */
  async function changeAll(all: readonly StoreServer[]): Promise<void> {
    let last = ''
    for (const [index, server] of all.entries()) {
      last = `by ${server.id} ${index} ${here.newPrefix()}`
      await server.engine.execute(publish(last, { md5: md5Of(last) }))
      await server.engine.execute(gray(last))
      await server.engine.execute(register(80, 1 + (index % 7)))
      await server.engine.execute(register(81 + index))
      await server.engine.execute(noteServer('10.0.0.9:8848', { ip: '10.0.0.9', port: 8848, site: last }))
      for (const one of all) await expect.poll(() => one.contentOf(), WAIT).toBe(last)
    }
  }

  test.each(Object.keys(PLACES).flatMap((place) => STAMPS.map(([when, stamp]) => ({ place, when, stamp }))))(
    '$when in $place: every change of each server is made, before and after a start',
    async ({ place, stamp }) => {
      const prefix = here.newPrefix()
      const keys = new Keys(`${prefix}/`)
      const [one, two] = [await start(prefix, 1), await start(prefix, 2)]
      await changeAll([one, two])
      const [wanted, change, from] = PLACES[place]!(keys, stamp)
      const { kvs } = await here.raw.range({ key: from ?? wanted, end: `${from ?? wanted}~`, limit: 1 })
      const key = from === undefined ? kvs[0]!.key : wanted
      await put(key, await rewritten(kvs[0]!.key, change))
      await changeAll([one, two, one, two])
      const three = await start(prefix, 3)
      await changeAll([three, one, two, three])
      await two.stop()
      here.servers.splice(here.servers.indexOf(two), 1)
      const again = await start(prefix, 2)
      await changeAll([again, three, one, again, one])
      await again.engine.execute(deleteConfig(KEY, OPERATOR))
      await changeAll([one, again, three])
      for (const server of [one, three, again]) {
        expect(server.failures).toEqual([])
        const { historyId } = server.state.config(KEY)!
        expect([isStamp(stampOfId(historyId)), isStamp(server.now().stamp)]).toEqual([true, true])
        // Behind the largest one, each server counts on by itself.
        if (stamp < LARGEST_SEEN)
          expect(server.now().stamp).toBeGreaterThan(Math.max(stamp, stampOfId(historyId)))
      }
    },
  )
})
