/** Small values in etcd that servers believe: damaged ones, members without a lease, and a missing layout. */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { prefixEnd } from '@waypost/etcd-client/range-end'
import { describeOnEtcd } from '../support/etcd.ts'
import { startWaypost } from '../support/waypost.ts'
import { publish, type StoreServer } from './store-server.ts'
import { etcdForThisFile } from './etcd-of-file.ts'

const here = etcdForThisFile()
const { doctor, newPrefix, put, remove, servers, start } = here
const WAIT = { timeout: 20_000 }
const SECRETS = { origin: '0123456789ab', inUse: 'a'.repeat(43) }

const namesIn = ({ store }: StoreServer): string[] => store.damaged.map(({ key }) => key)

describeOnEtcd('small values that servers remember', 120_000, () => {
  const NAMES = [
    'peer-secret',
    'history-clock-ms',
    'term',
    'memory',
    'old-tokens',
    'imported-3',
    'secrets-key',
  ]
  test.each(NAMES)(
    '%s is named by servers and doctor while it is damaged, and ends no server',
    async (name) => {
      const prefix = newPrefix()
      const server = await start(prefix, 1)
      const key = `${prefix}/k/${name}`
      for (const value of ['', '{"inUse":', 'null', '9e15', '{"inUse":"","origin":7}']) {
        await put(key, value)
        await expect.poll(() => namesIn(server), WAIT).toContain(key)
        if (name !== 'secrets-key') {
          const later = await start(prefix, 2)
          expect([value, namesIn(later)]).toEqual([value, [key]])
          await later.stop()
          servers.pop()
        } else await expect(start(prefix, 2)).rejects.toThrow(key)
      }
      const { code, stdout } = await doctor(prefix)
      expect([code, stdout]).toEqual([1, expect.stringContaining(key)])
      await remove(key)
      await expect.poll(() => namesIn(server), WAIT).toEqual([])
      await server.engine.execute(publish('after'))
      expect(server.failures).toEqual([])
    },
  )

  test('a damaged secret of the servers makes no new secret, and a start says which key it is', async () => {
    const prefix = newPrefix()
    const server = await start(prefix, 1)
    const key = `${prefix}/k/peer-secret`
    await put(key, '{"inUse":')
    await expect(server.store.agree('peer-secret', () => JSON.stringify(SECRETS))).rejects.toThrow(key)
    const settings = { store: 'etcd', 'etcd-endpoints': here.etcd.endpoints.join(','), 'etcd-prefix': prefix }
    await expect(startWaypost({ settings })).rejects.toThrow(key)
    expect((await here.raw.range({ key })).kvs.map(({ value }) => Buffer.from(value).toString())).toEqual([
      '{"inUse":',
    ])
  })

  test('members without a lease do not count, and are named', async () => {
    const prefix = newPrefix()
    const server = await start(prefix, 1)
    await server.membership.join(server.facts)
    await expect.poll(() => server.elected()?.member, WAIT).toBe(server.id)
    const member = (port: number) =>
      JSON.stringify({ value: { ...server.facts, port, auth: 'on', process: 'nobody' }, stamp: 0 })
    const keys = [`${prefix}/p/127.0.0.1:9`, `${prefix}/p/${server.id}`]
    await put(keys[0]!, member(9))
    await expect.poll(() => namesIn(server), WAIT).toEqual([keys[0]])
    const later = await start(prefix, 2)
    // It has another auth: as a member it would refuse this one.
    await later.membership.join(later.facts)
    expect(later.members().map(({ id }) => id)).not.toContain('127.0.0.1:9')
    await put(keys[1]!, member(1))
    await expect
      .poll(async () => (await here.raw.range({ key: keys[1]! })).kvs[0]!.lease !== 0n, WAIT)
      .toBe(true)
    const wanted = [server.id, later.id].sort()
    for (const one of [server, later]) {
      await expect
        .poll(
          () =>
            one
              .members()
              .map(({ id }) => id)
              .sort(),
          WAIT,
        )
        .toEqual(wanted)
      expect([one.failures, namesIn(one)]).toEqual([[], [keys[0]]])
    }
    const { code, stdout } = await doctor(prefix)
    expect([code, stdout]).toEqual([1, expect.stringContaining(keys[0]!)])
    expect(stdout).toContain('no lease')
  })

  test.each(['nobody:1', '127.0.0.1:1'])(
    '%s as the elected one without a lease is replaced',
    async (name) => {
      const prefix = newPrefix()
      const server = await start(prefix, 1)
      await server.membership.join(server.facts)
      await expect.poll(() => server.elected()?.member, WAIT).toBe(server.id)
      const key = `${prefix}/e`
      await put(key, JSON.stringify({ value: { member: name, term: 1e300 }, stamp: 0 }))
      await expect.poll(async () => (await here.raw.range({ key })).kvs[0]!.lease !== 0n, WAIT).toBe(true)
      await expect.poll(() => server.elected()?.member, WAIT).toBe(server.id)
      expect(server.elected()!.term).toBeLessThan(10)
      await expect.poll(() => namesIn(server), WAIT).toEqual([])
      // A server that stops, with an elected one that has no lease: the next server is elected.
      await server.stop()
      servers.pop()
      await put(key, JSON.stringify({ value: { member: name, term: 7 }, stamp: 0 }))
      const next = await start(prefix, 2)
      expect(next.elected()).toBeUndefined()
      await next.membership.join(next.facts)
      await expect.poll(() => next.elected()?.member, WAIT).toBe(next.id)
    },
  )

  test('the layout is not begun in a store that has keys of servers', async () => {
    const prefix = newPrefix()
    const server = await start(prefix, 1)
    await server.engine.execute(publish('kept'))
    await server.membership.join(server.facts)
    const format = `${prefix}/format`
    await remove(format)
    const refused = new RegExp(`127\\.0\\.0\\.1:1 has seen data here.*etcdctl put ${format} 4`, 's')
    // The running server says so within a moment.
    await expect
      .poll(async () => (await here.raw.range({ key: `${prefix}/k/store-empty` })).kvs.length, WAIT)
      .toBe(1)
    await expect(start(prefix, 2)).rejects.toThrow(refused)
    const found = await doctor(prefix)
    expect([found.code, found.stdout + found.stderr]).toEqual([1, expect.stringMatching(refused)])
    expect((await here.raw.range({ key: format })).kvs).toEqual([])
    await server.stop()
    servers.pop()
    await expect(start(prefix, 2)).rejects.toThrow(/misses them.*restore a backup/s)
    await put(format, '4')
    expect((await start(prefix, 2)).contentOf()).toBe('kept')
  })

  test.each(['c/public/G/a', 'k/peer-secret', 'b/127.0.0.1:1', 'x/0000000000000007/000000', 'e'])(
    'one key %s of another time is enough, keys of others are not',
    async (name) => {
      const prefix = newPrefix()
      await put(`${prefix}/config.yaml`, 'theirs')
      await put(`${prefix}/dev/settings`, 'theirs')
      await start(prefix, 1)
      await servers.pop()!.stop()
      await here.raw.txn({
        compare: [],
        success: [{ do: 'delete', key: `${prefix}/`, end: prefixEnd(`${prefix}/`) }],
      })
      await put(`${prefix}/${name}`, 'x')
      await expect(start(prefix, 1)).rejects.toThrow(`${prefix}/${name}`)
    },
  )

  test('servers that begin a store at the same time all start', async () => {
    const prefix = newPrefix()
    const all = await Promise.all([1, 2, 3, 4].map((port) => start(prefix, port)))
    await sleep(0)
    expect(all.map(({ store }) => store.layout)).toEqual([4, 4, 4, 4])
  })
})
