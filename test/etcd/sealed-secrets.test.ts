/** Secrets in etcd that are sealed with a key which only the servers have (docs/decisions/0057). */
import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { SESSION, type Session } from '../../src/core/access/access-records.ts'
import { type Command, synced } from '../../src/core/decisions/decision.ts'
import { recordSaved } from '../../src/core/records/record-kind.ts'
import { resealAll } from '../../src/store/etcd/sealing/resealing.ts'
import { SealingCare } from '../../src/store/etcd/sealing/sealing-care.ts'
import { readSecretsKeys } from '../../src/store/etcd/sealing/secrets-keys.ts'
import { describeOnEtcd } from '../support/etcd.ts'
import type { StoreServer, StoreServerOptions } from './store-server.ts'
import { etcdForThisFile } from './etcd-of-file.ts'

const here = etcdForThisFile()
const [FIRST, NEXT] = ['first', 'next'].map((name) => keyOf(name))

function keyOf(name: string) {
  return readSecretsKeys(`${name} ${randomBytes(32).toString('base64')}`, 'test')[0]!
}

function saveSession(id: string): Command<void> {
  const value: Session = { username: `user of ${id}`, credentialStamp: 1, createdMs: 2, usedMs: 3 }
  return {
    subject: `session ${id}`,
    decide: (_view, { stamp }) => synced([recordSaved(SESSION, { id, value, stamp })], undefined),
  }
}

const load = (port: number, options: StoreServerOptions): Promise<StoreServer> =>
  here.start(here.prefix, port, options)

const join = (port: number, options: StoreServerOptions): Promise<StoreServer> =>
  here.join(here.prefix, port, options)

const storedText = async (id: string): Promise<string> =>
  String(await here.valueOf(`${here.prefix}/r/session/${id}`))

describeOnEtcd('sealed secrets', 90_000, () => {
  test('stay in clear until all servers have the key first, and are sealed from then on', async () => {
    const two = await join(2, {})
    const one = await join(1, { secretsKeys: [FIRST!] })
    await one.engine.execute(saveSession('a'))
    expect(await one.secretsKey.take(FIRST!.id)).toEqual(['127.0.0.1:2'])
    expect(await storedText('a')).toContain('user of a')
    await two.membership.leave()
    expect(await one.secretsKey.take(FIRST!.id)).toEqual([])
    await one.engine.execute(saveSession('b'))
    expect(await storedText('b')).toMatch(/^sealed:first\./)
    expect(await resealAll(one.client, one.sealing)).toEqual({ sealed: 1, unreadable: [] })
    expect(await storedText('a')).toMatch(/^sealed:first\./)
    expect(await resealAll(one.client, one.sealing)).toEqual({ sealed: 0, unreadable: [] })
    const three = await join(3, { secretsKeys: [FIRST!] })
    for (const server of [one, three])
      for (const id of ['a', 'b']) expect(server.state.record(SESSION, id)?.username).toBe(`user of ${id}`)
    await three.engine.execute(saveSession('c'))
    expect(await storedText('c')).toMatch(/^sealed:first\./)
    await expect.poll(() => one.state.record(SESSION, 'c')?.username, { timeout: 30_000 }).toBe('user of c')
  })

  test('are sealed from the first start on, where no other server runs', async () => {
    const one = await join(1, { secretsKeys: [FIRST!] })
    await one.engine.execute(saveSession('a'))
    expect(await storedText('a')).toMatch(/^sealed:first\./)
    const two = await join(2, { secretsKeys: [FIRST!] })
    expect(two.state.record(SESSION, 'a')?.username).toBe('user of a')
  })

  test('move to the next key while servers have both', async () => {
    const one = await join(1, { secretsKeys: [FIRST!] })
    await one.secretsKey.take(FIRST!.id)
    await one.engine.execute(saveSession('a'))
    const two = await join(2, { secretsKeys: [NEXT!, FIRST!] })
    expect(await two.secretsKey.take(NEXT!.id)).toEqual(['127.0.0.1:1'])
    await two.engine.execute(saveSession('b'))
    expect(await storedText('b')).toMatch(/^sealed:first\./)
    await one.membership.leave()
    expect(await two.secretsKey.take(NEXT!.id)).toEqual([])
    expect(await resealAll(two.client, two.sealing)).toEqual({ sealed: 2, unreadable: [] })
    const three = await join(3, { secretsKeys: [NEXT!] })
    expect([...three.state.records(SESSION)].map(([id]) => id).sort()).toEqual(['a', 'b'])
  })

  test('let no server start that does not have the key, or has another one of its name', async () => {
    const one = await join(1, { secretsKeys: [FIRST!] })
    await one.secretsKey.take(FIRST!.id)
    await one.engine.execute(saveSession('a'))
    await expect(load(2, {})).rejects.toThrow(
      new RegExp(`sealed with the key ${FIRST!.id}\\. There is no key here\\. Add this key to the file of`),
    )
    await expect(load(2, { secretsKeys: [NEXT!] })).rejects.toThrow(`The keys here are ${NEXT!.id}`)
    await expect(load(2, { secretsKeys: [keyOf('first')] })).rejects.toThrow('is another key')
  })

  test('stop a server that had loaded before without the key', async () => {
    const loaded = await load(2, {})
    const one = await join(1, { secretsKeys: [FIRST!] })
    await one.engine.execute(saveSession('a'))
    await expect
      .poll(() => String(loaded.failures[0]), { timeout: 30_000 })
      .toMatch(/MissingSecretsKey.*first\./)
  })

  test('that somebody has changed or moved are left out and named, and grant nothing', async () => {
    const one = await join(1, { secretsKeys: [FIRST!] })
    await one.secretsKey.take(FIRST!.id)
    await one.engine.execute(saveSession('a'))
    const { kvs } = await here.raw.range({ key: `${here.prefix}/r/session/a` })
    const put = { do: 'put', key: `${here.prefix}/r/session/b`, value: kvs[0]!.value } as const
    await here.raw.txn({ compare: [], success: [put] })
    const named = (server: typeof one): string =>
      server.store.damaged.map(({ key, problem }) => `${key}: ${problem}`).join()
    await expect.poll(() => named(one), { timeout: 30_000 }).toMatch(/session\/b: .*changed or moved/)
    const later = await load(2, { secretsKeys: [FIRST!] })
    expect(named(later)).toMatch(/session\/b: .*changed or moved/)
    for (const server of [one, later]) {
      const ids = [...server.state.records(SESSION)].map(([id]) => id)
      // The other server may have saved a session by now.
      expect(ids.filter((id) => !id.startsWith('after'))).toEqual(['a'])
      expect(await server.store.compare({ each: true })).toEqual([])
      await server.engine.execute(saveSession(`after ${server.id}`))
      expect(server.failures).toEqual([])
    }
    // A changed value: one byte of it is another one.
    const changed = Buffer.from(kvs[0]!.value)
    changed[changed.length - 2]! ^= 1
    await here.raw.txn({
      compare: [],
      success: [{ do: 'put', key: `${here.prefix}/r/session/a`, value: changed }],
    })
    await expect.poll(() => named(later), { timeout: 30_000 }).toMatch(/session\/a: .*changed or moved/)
    await here.raw.txn({ compare: [], success: [{ ...put, key: `${here.prefix}/r/session/a` }] })
    await expect.poll(() => named(later), { timeout: 30_000 }).not.toMatch(/session\/a/)
    const { unreadable } = await resealAll(one.client, one.sealing)
    expect(unreadable).toEqual([])
    one.sealing.writeWith(undefined)
    expect((await resealAll(one.client, one.sealing)).unreadable).toEqual([`${here.prefix}/r/session/b`])
  })

  test('that somebody has swapped are left out both, whatever their kind', async () => {
    const one = await join(1, { secretsKeys: [FIRST!] })
    await one.secretsKey.take(FIRST!.id)
    for (const id of ['a', 'b']) await one.engine.execute(saveSession(id))
    await one.store.remember('peer-secret', JSON.stringify({ origin: '0123456789ab', inUse: 'a'.repeat(43) }))
    const keys = ['r/session/a', 'r/session/b', 'k/peer-secret'].map((key) => `${here.prefix}/${key}`)
    const values = await Promise.all(keys.map(async (key) => (await here.raw.range({ key })).kvs[0]!.value))
    expect(values.map((value) => Buffer.from(value).toString().slice(0, 13))).toEqual(
      keys.map(() => 'sealed:first.'),
    )
    const success = keys.map((key, at) => ({ do: 'put', key, value: values[(at + 1) % 3]! }) as const)
    await here.raw.txn({ compare: [], success })
    const names = (server: typeof one): string[] => server.store.damaged.map(({ key }) => key).sort()
    await expect.poll(() => names(one), { timeout: 30_000 }).toEqual(keys.toSorted())
    const later = await load(2, { secretsKeys: [FIRST!] })
    for (const server of [one, later]) {
      expect(names(server)).toEqual(keys.toSorted())
      expect([...server.state.records(SESSION)]).toEqual([])
      expect(server.failures).toEqual([])
    }
  })

  test('are taken care of by the elected server, which says what it does', async () => {
    const two = await join(2, {})
    const one = await join(1, { secretsKeys: [FIRST!] })
    await one.engine.execute(saveSession('a'))
    let nowMs = 0
    const said: string[] = []
    const say = (_facts: object, text: string): void => void said.push(text)
    const care = new SealingCare({
      client: one.client,
      sealing: one.sealing,
      inUse: one.secretsKey,
      monotonicMs: () => nowMs,
      log: { info: say, warn: say, error: say },
      failed: say as never,
    })
    const pass = async (ms: number, isElected = true): Promise<void> => {
      for (const untilMs = nowMs + ms; nowMs < untilMs; nowMs += 1_000) await care.look(isElected)
    }
    await pass(30_000, false)
    await pass(30_000)
    expect(said).toEqual([expect.stringContaining('stay as they are until all servers have this key')])
    await two.membership.leave()
    await pass(60_000)
    expect(said.slice(1)).toEqual([
      expect.stringContaining('are sealed with another key from now on'),
      expect.stringContaining('that were in etcd before are sealed'),
      expect.stringContaining('all secrets in etcd are sealed with this key'),
    ])
    expect(await storedText('a')).toMatch(/^sealed:first\./)
  })
})
