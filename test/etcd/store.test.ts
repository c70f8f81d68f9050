/** The store in etcd under the core of two servers (src/store/etcd). */
import { expect, test } from 'vitest'
import { deleteConfig } from '../../src/core/config/commands/publish-config.ts'
import { address, registration } from '../../src/core/core.test-support.ts'
import { deregisterInstance } from '../../src/core/naming/commands/instance-commands.ts'
import { createNamespace } from '../../src/core/namespaces/namespace-commands.ts'
import { NAMESPACE } from '../../src/core/namespaces/namespace.ts'
import { Draft } from '../../src/core/decisions/draft.ts'
import { State } from '../../src/core/engine/state.ts'
import { describeOnEtcd } from '../support/etcd.ts'
import { KEY, publish, register, type StoreServer } from './store-server.ts'
import { etcdForThisFile } from './etcd-of-file.ts'

const here = etcdForThisFile()
const NOBODY = { ip: '10.0.0.9', user: null }

const startServer = (port: number): Promise<StoreServer> => here.start(here.prefix, port)

/** Waits until a server shows this. */
async function seen<T>(shown: () => T, expected: T): Promise<void> {
  await expect.poll(shown, { timeout: 30_000 }).toEqual(expected)
}

describeOnEtcd('two servers on etcd', 90_000, () => {
  test('see what the other one writes, and what was there when they start', async () => {
    const one = await startServer(1)
    const two = await startServer(2)
    expect(await one.engine.execute(publish('x'))).toBe(true)
    expect(one.contentOf()).toBe('x')
    await seen(two.contentOf, 'x')
    await two.engine.execute(publish('y'))
    await seen(one.contentOf, 'y')
    const three = await startServer(3)
    expect(three.contentOf()).toBe('y')
    expect(three.state.config(KEY)).toEqual(one.state.config(KEY))
  })

  test('decide again on what the other one has changed', async () => {
    const one = await startServer(1)
    const two = await startServer(2)
    await one.engine.execute(publish('first'))
    await seen(two.contentOf, 'first')
    const casMd5 = 'md5 of first'
    const outcomes = await Promise.allSettled([
      one.engine.execute(publish('from one', { casMd5 })),
      two.engine.execute(publish('from two', { casMd5 })),
    ])
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    await seen(two.contentOf, one.contentOf())
    const { totalCount } = await two.store.reads('test').history([KEY], { pageNo: 1, pageSize: 10 })
    expect(totalCount).toBe(2)
  })

  test('keep the history of an item, by page and by id', async () => {
    const one = await startServer(1)
    for (const content of ['1', '2', '3']) await one.engine.execute(publish(content))
    await one.engine.execute(deleteConfig(KEY, NOBODY))
    const page = (pageNo: number) => one.store.reads('test').history([KEY], { pageNo, pageSize: 3 })
    const [first, second] = [await page(1), await page(2)]
    expect(first.entries.map(({ op }) => op)).toEqual(['D', 'U', 'U'])
    expect(second).toMatchObject({ totalCount: 4, entries: [{ op: 'I' }] })
    const [newest] = first.entries
    const record = await one.store.reads('test').historyRecord(newest!.id)
    expect(record?.content.toString()).toBe('3')
    const before = await one.store.reads('test').historyBefore(KEY, newest!.id)
    expect(before).toMatchObject({ op: 'U', key: KEY })
    expect(before?.content.toString()).toBe('2')
    expect(await one.store.reads('test').historyRecord(7)).toBeUndefined()
  })

  test('list instances in one order, whoever registered them', async () => {
    const one = await startServer(1)
    const two = await startServer(2)
    await Promise.all([one.engine.execute(register(1)), two.engine.execute(register(2))])
    await Promise.all([3, 4, 5].map((port) => one.engine.execute(register(port))))
    const target = { serviceKey: registration().serviceKey, address: address({ port: 4 }), ephemeral: true }
    await two.engine.execute(deregisterInstance(target))
    await seen(() => one.ports().length, 4)
    await seen(() => two.ports().length, 4)
    const three = await startServer(3)
    expect(two.ports()).toEqual(one.ports())
    expect(three.ports()).toEqual(one.ports())
    expect(one.failures).toEqual([])
  })

  test('say of what was removed whether it was silent', async () => {
    const one = await startServer(1)
    const two = await startServer(2)
    const { serviceKey } = registration()
    await Promise.all([1, 2, 3].map((port) => one.engine.execute(register(port))))
    await seen(() => two.ports().length, 3)
    const decidedAt = one.follower.revision
    await one.engine.execute(register(3, 2))
    const removal = (port: number, reason: 'expired' | 'deregistered') => {
      const about = { serviceKey, address: address({ port }), serial: 0 }
      return { reads: [], changes: [{ kind: 'instance-removed', ...about, reason, stamp: 1 } as const] }
    }
    const removals = [removal(1, 'expired'), removal(2, 'deregistered'), removal(3, 'expired')]
    const results = await one.store.commit(removals, decidedAt)
    expect(results.map(({ kind }) => kind)).toEqual(['held', 'held', 'conflict'])
    // The one that conflicted was not removed for silence.
    await one.store.commit([removal(3, 'deregistered')], one.follower.revision)
    await seen(two.ports, [])
    const reasons = two.seen.map((change) => change.kind === 'instance-removed' && change.reason)
    expect(reasons.filter(Boolean)).toEqual(['expired', 'deregistered', 'deregistered'])
  })

  test('give later ids to later changes of an item, also where the clock of one of them is behind', async () => {
    const one = await startServer(1)
    const two = await startServer(2)
    two.clock.aheadMs = 60_000
    const early = one.now()
    await two.engine.execute(publish('by two'))
    await two.engine.execute(deleteConfig(KEY, NOBODY))
    // As one decides that does not know of this yet: the item is not there for it, as it is not there now.
    const { changes } = publish('by one').decide(new Draft(new State(0)), early)
    expect(await one.store.commit([{ reads: [], changes }], two.follower.revision)).toEqual([
      { kind: 'conflict' },
    ])
    await one.engine.execute(publish('by one'))
    const { entries } = await one.store.reads('test').history([KEY], { pageNo: 1, pageSize: 10 })
    expect(entries.map(({ op }) => op)).toEqual(['I', 'D', 'I'])
  })

  test('make several records of a kind at once', async () => {
    const one = await startServer(1)
    const two = await startServer(2)
    const ids = ['a', 'b', 'c', 'd']
    const create = (id: string) => one.engine.execute(createNamespace({ id, showName: id, desc: '' }))
    expect(await Promise.all(ids.map(create))).toEqual([true, true, true, true])
    await seen(() => Array.from(two.state.records(NAMESPACE), ([id]) => id), ids)
  })

  test('keep a content of 10 MiB', async () => {
    const one = await startServer(1)
    const two = await startServer(2)
    const content = Buffer.alloc(10 * 1024 * 1024, 'é')
    await one.engine.execute(publish('x', { content }))
    await seen(() => two.state.config(KEY)?.content.length, content.length)
    expect(two.state.config(KEY)?.content.equals(content)).toBe(true)
  })

  test('remove chunks that no item and no history names, if they are not of a change that is underway', async () => {
    const one = await startServer(1)
    const content = Buffer.alloc(1024 * 1024, 'x')
    await one.engine.execute(publish('x', { content }))
    const nowMs = 1_900_000_000_000
    const chunk = (stamp: number, index = 0) => {
      const key = `${here.prefix}/x/${String(stamp).padStart(16, '0')}/00000${index}`
      return { do: 'put', key, value: Buffer.from('x') } as const
    }
    const orphans = [chunk(7), chunk(7, 1), chunk(nowMs * 1024)]
    await one.client.txn({ compare: [], success: orphans })
    expect(await one.store.cleanChunks(nowMs)).toEqual({ removed: 1, more: false })
    expect(await one.store.cleanChunks(nowMs)).toEqual({ removed: 0, more: false })
    const left = await Promise.all(orphans.map(({ key }) => one.client.range({ key })))
    expect(left.map(({ count }) => count)).toEqual([0, 0, 1])
    const two = await startServer(2)
    expect(two.state.config(KEY)?.content.equals(content)).toBe(true)
    // Those of the old version go with its history.
    await one.engine.execute(publish('small'))
    await one.store.cleanHistory({ beforeMs: 3e12, keep: 1, most: 100 })
    await one.engine.execute(publish('smaller'))
    await one.store.cleanHistory({ beforeMs: 3e12, keep: 1, most: 100 })
    const { kvs } = await one.client.range({
      key: `${here.prefix}/x/`,
      end: `${here.prefix}/z`,
      keysOnly: true,
    })
    expect(kvs.map(({ key }) => key)).toEqual([orphans[2]!.key])
  })

  test('leave no trace of a process that is forgotten', async () => {
    const one = await startServer(1)
    await one.engine.execute(publish('x'))
    await one.store.forget()
    expect((await one.client.range({ key: `${here.prefix}/b/${one.id}` })).count).toBe(0)
  })

  test('let a process write nothing after another one has taken its place', async () => {
    const frozen = await startServer(1)
    const restarted = await startServer(1)
    await restarted.engine.execute(publish('new'))
    await expect(Promise.resolve(frozen.engine.execute(publish('old')))).rejects.toThrow('place')
    expect(restarted.contentOf()).toBe('new')
  })
})
