/** Keys under the prefix of an installation that are not its own: nothing deletes them, and no server ends. */
import { expect, test } from 'vitest'
import { createFirstAdministrator } from '../../src/core/access/access-commands.ts'
import type { AuditEvent } from '../../src/core/audit/audit-event.ts'
import { deleteConfig } from '../../src/core/config/commands/publish-config.ts'
import { resealAll } from '../../src/store/etcd/sealing/resealing.ts'
import { prefixEnd } from '@waypost/etcd-client/range-end'
import { nestedPrefixes } from '../../src/store/etcd/format/nested-prefixes.ts'
import { Keys } from '../../src/store/etcd/keys/keys.ts'
import { describeOnEtcd, startEtcd } from '../support/etcd.ts'
import { startWaypost } from '../support/waypost.ts'
import { turnOnAuth } from './etcd-users.ts'
import { KEY, publish, register, startStoreServer, type StoreServer } from './store-server.ts'
import { etcdForThisFile } from './etcd-of-file.ts'

const here = etcdForThisFile()
const { newPrefix, put, remove, servers, start } = here

/** The folders of all kinds of keys, and others. */
const FOLDERS = 'a b c e g h i k p q r s v w x y z dev r/user c/public x/0000000000000007 w/public/G/b'.split(
  ' ',
)

/** All keys below a prefix, with their values. */
async function keysBelow(prefix: string): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for await (const { kvs } of here.raw.pages({ key: prefix, end: prefixEnd(prefix), pageSize: 1_000 }))
    for (const { key, value } of kvs) found.set(key, Buffer.from(value).toString('latin1'))
  return found
}

const event = (id: number): AuditEvent =>
  ({
    id,
    atMs: id / 1024,
    username: 'ann',
    operation: 'x',
    item: 'y',
    ip: '',
    result: 'done',
  }) as unknown as AuditEvent

/** Everything that a server writes: items with history and large contents, instances, users, audit, chunks of nobody. */
async function use({ engine, store, client, now }: StoreServer, prefix: string): Promise<void> {
  for (const content of ['a', 'b'.repeat(700_000), 'c', 'd'.repeat(700_000)])
    await engine.execute(publish(content, { md5: 'x' }))
  await engine.execute(deleteConfig(KEY, { ip: '', user: null }))
  for (const content of ['e', 'f', 'g']) await engine.execute(publish(content))
  await engine.execute(register(80))
  await engine.execute(createFirstAdministrator({ username: 'ann', passwordHash: 'x' }))
  await store.saveAudit([event(now().stamp), event(now().stamp), event(now().stamp)])
  await store.remember('some', 'thing')
  const keys = new Keys(`${prefix}/`)
  const chunk = {
    do: 'put',
    key: keys.of({ of: 'chunk', stamp: 7, index: 0 }),
    value: Buffer.from('x'),
  } as const
  await client.txn({ compare: [], success: [chunk] })
}

/** All cleanings of an hour, so late that all is due. */
async function cleanAll({ store, client, sealing }: StoreServer): Promise<void> {
  const beforeMs = Date.UTC(2090, 0)
  for (let minute = 0; minute < 60; minute++) {
    while ((await store.cleanHistory({ beforeMs, keep: 0, most: 20 })).more);
    while ((await store.cleanAudit({ beforeMs, keep: 0, keepRefused: 0, most: 20 })).more);
    while ((await store.cleanChunks(beforeMs)).more);
  }
  await resealAll(client, sealing)
}

describeOnEtcd('keys that are not of this installation', 180_000, () => {
  test('no cleaning removes or changes a key that is not its own, and no server ends', async () => {
    const alone = newPrefix()
    await use(await start(alone, 1), alone)
    const whole = await keysBelow(`${alone}/`)
    const prefix = newPrefix()
    const secretsKeys = [{ id: 'a.00000001', bytes: Buffer.alloc(32, 1) }]
    const limits = { maxBytes: 1e9, maxBytesOfItem: 1e9 }
    const history = (): typeof limits => limits
    const server = await start(prefix, 1, { history, secretsKeys })
    await use(server, prefix)
    const own = await keysBelow(`${prefix}/`)
    Object.assign(limits, { maxBytes: 1, maxBytesOfItem: 1 })
    const foreign = new Map<string, string>()
    for (const folder of FOLDERS) {
      for (const name of ['x', '0', '0000000000000007x', 'zz/y/x/w/v'])
        foreign.set(`${prefix}/${folder}/${name}`, 'text')
      for (const [key, value] of whole) foreign.set(`${prefix}/${folder}${key.slice(alone.length)}`, value)
    }
    for (const key of own.keys()) foreign.delete(key)
    for (const [key, value] of foreign) await put(key, Buffer.from(value, 'latin1'))
    const later = await start(prefix, 2, { history, secretsKeys })
    server.sealing.writeWith('a.00000001')
    for (const content of ['h', 'i', 'j']) await server.engine.execute(publish(content))
    await cleanAll(server)
    await later.engine.execute(publish('k'))
    await expect.poll(() => server.contentOf(), { timeout: 30_000 }).toBe('k')
    const left = await keysBelow(`${prefix}/`)
    const differing = [...foreign].filter(([key, value]) => left.get(key) !== value).map(([key]) => key)
    expect(differing).toEqual([])
    expect([server.failures, later.failures]).toEqual([[], []])
    // The own keys were cleaned.
    const count = (keys: Iterable<string>, folder: string): number =>
      [...keys].filter((key) => own.has(key) && key.startsWith(`${prefix}/${folder}/`)).length
    expect(['a', 'v', 'w', 'x'].map((folder) => count(left.keys(), folder))).toEqual([1, 0, 0, 0])
    expect(count(own.keys(), 'x')).toBeGreaterThan(1)
    expect(left.get(`${prefix}/r/user/ann`)).toMatch(/^sealed:a\.00000001:/)
  })

  test.each(['/a', '/c', '/dev', '/r/user', '/some/where/else'])(
    'a first start below an installation, or above one, is refused with its name (%s)',
    async (inner) => {
      const prefix = newPrefix()
      await start(prefix, 1)
      await expect(start(`${prefix}${inner}`, 2)).rejects.toThrow(
        new RegExp(`uses the prefix ${prefix}/ of this etcd, which is above .*${prefix}-`),
      )
      const outer = newPrefix()
      await start(`${outer}${inner}`, 1)
      await expect(start(outer, 2)).rejects.toThrow(
        `uses the prefix ${outer}${inner}/ of this etcd, which is below`,
      )
      expect((await here.raw.range({ key: `${outer}/format` })).count).toBe(0)
      // A prefix that only begins alike is another one.
      await start(`${outer}${inner}-2`, 3)
    },
  )

  test('a key of others that is called format is no installation', async () => {
    const prefix = newPrefix()
    await put(`${prefix}/other/format`, 'json')
    await start(prefix, 1)
  })

  test.each(['a', 'c', 'x', 'dev', 'r/user', '0'])(
    'an installation that exists already says that another one is below it, at %s',
    async (folder) => {
      const prefix = newPrefix()
      await start(prefix, 1)
      await put(`${prefix}/${folder}/format`, '4')
      const all = await nestedPrefixes(here.raw, new Keys(`${prefix}/`))
      expect(all).toEqual(folder === 'r/user' ? [] : [`${prefix}/${folder}/`])
      const { stdout } = await here.doctor(prefix)
      expect(stdout).toContain(`prefix ${prefix}/${folder}/`)
      expect(stdout).toContain('prefix-nested: another installation is below this one')
    },
  )

  test('prefixes of one letter are like others, also those of our own kinds of keys', async () => {
    const letters = 'a b c e g h i k p q r s v w x y z format'.split(' ')
    for (const [at, letter] of letters.entries()) {
      const server = await start(letter, at + 1)
      await server.engine.execute(publish(letter, { md5: 'x' }))
      await expect(start(`${letter}/c`, 1)).rejects.toThrow('Another installation')
    }
    for (const server of servers.slice(-letters.length)) {
      expect(server.failures).toEqual([])
      expect(server.store.damaged).toEqual([])
      expect(await server.store.compare({ each: true })).toEqual([])
      expect(await server.store.nestedPrefixes()).toEqual([])
    }
    const again = await Promise.all(letters.map((letter) => start(letter, 100)))
    expect(again.map((server) => server.contentOf())).toEqual(letters)
  })

  test('a server warns of it in /readyz, and serves', async () => {
    const prefix = newPrefix()
    await start(prefix, 1)
    await start(`${newPrefix()}`, 1)
    await put(`${prefix}/q/format`, '4')
    const settings = { store: 'etcd', 'etcd-endpoints': here.etcd.endpoints.join(','), 'etcd-prefix': prefix }
    const server = await startWaypost({ settings })
    const answer = async (): Promise<unknown> => (await fetch(`${server.url}/readyz`)).json()
    await expect.poll(answer, { timeout: 30_000 }).toMatchObject({
      ready: true,
      warnings: [{ code: 'prefix-nested', detail: expect.stringContaining(`${prefix}/q/`) as string }],
    })
    await server.stop()
    await remove(`${prefix}/`, prefixEnd(`${prefix}/`))
  })

  test('a parent that etcd does not let the servers read is no finding, and nobody is told of a refusal', async () => {
    const guarded = await startEtcd()
    try {
      const user = { name: 'server', password: () => 'a password' }
      await turnOnAuth(guarded.endpoints[0]!, {
        user: user.name,
        password: 'a password',
        prefix: 'above/mine/',
      })
      const refusals: unknown[] = []
      const place = { endpoints: guarded.endpoints, prefix: 'above/mine' }
      const refused = (error: unknown): void => void refusals.push(error)
      const server = await startStoreServer(place, 1, { access: { user }, refused })
      expect(await server.store.nestedPrefixes()).toEqual([])
      await server.engine.execute(publish('a'))
      expect(refusals).toEqual([])
      await server.stop()
    } finally {
      await guarded.stop()
    }
  })
})
