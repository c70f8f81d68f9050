/** The memory of a server is compared with etcd (src/store/etcd/keys/known-keys.ts). */
import { beforeEach, expect, test } from 'vitest'
import { address, registration } from '../../src/core/core.test-support.ts'
import { deregisterInstance } from '../../src/core/naming/commands/instance-commands.ts'
import type { EtcdClient } from '@waypost/etcd-client/etcd-client'
import type { KeyChange } from '@waypost/etcd-client/whole-revisions'
import { describeOnEtcd } from '../support/etcd.ts'
import { etcdForThisFile } from './etcd-of-file.ts'
import { publish, register, type StoreServer } from './store-server.ts'

const LIMIT_MS = 30_000

const here = etcdForThisFile()
/** Which events the watch of the second server loses. */
let loses: (event: KeyChange) => boolean
let one: StoreServer
let two: StoreServer

/** Lets the watch of a client lose events. */
function losing(client: EtcdClient): void {
  const { watch } = client
  client.watch = (options, listener) =>
    watch.call(client, options, {
      ...listener,
      changed: ({ revision, changes }) =>
        listener.changed({ revision, changes: changes.filter((event) => !loses(event)) }),
    })
}

const ofKind = (letter: string, event: KeyChange): boolean =>
  (event.kind === 'put' ? event.kv.key : event.key).startsWith(`${here.prefix}/${letter}/`)

async function caughtUp(): Promise<void> {
  const { applied } = one.store.figures
  await expect.poll(() => two.store.figures.applied, { timeout: LIMIT_MS }).toBeGreaterThanOrEqual(applied)
}

describeOnEtcd('a comparison with etcd', 90_000, () => {
  beforeEach(async () => {
    loses = () => false
    one = await here.start(here.prefix, 1)
    two = await here.start(here.prefix, 2, { connected: losing })
    await one.engine.execute(publish('first'))
    for (const port of [1, 2, 3]) await one.engine.execute(register(port))
    await caughtUp()
  })

  test('finds nothing while nothing is lost, also beside changes', async () => {
    const changes = [4, 5, 6, 7, 8, 9].map(async (port) => one.engine.execute(register(port)))
    for (const each of [false, true, false, true])
      for (const { store } of [one, two]) expect(await store.compare({ each })).toEqual([])
    await Promise.all(changes)
    expect([one.store.figures.reloads, two.store.figures.drifts]).toEqual([0, 0])
  })

  test('finds by the number of keys that a new one was lost, and loads it again', async () => {
    loses = (event) => ofKind('i', event)
    await one.engine.execute(register(4))
    await caughtUp()
    expect(two.ports()).toEqual([1, 2, 3])
    expect(await two.store.compare({})).toEqual([{ kind: 'instance', known: 3, stored: 4 }])
    await expect.poll(() => two.ports(), { timeout: LIMIT_MS }).toEqual([1, 2, 3, 4])
    expect(two.store.figures).toMatchObject({ drifts: 1, mends: 1, reloads: 0 })
    expect(await two.store.compare({ each: true })).toEqual([])
  })

  test('finds by the revisions of keys that a change was lost', async () => {
    loses = (event) => ofKind('c', event)
    await one.engine.execute(publish('second'))
    await caughtUp()
    expect(two.contentOf()).toBe('first')
    expect(await two.store.compare({})).toEqual([])
    expect(await two.store.compare({ each: true })).toMatchObject([{ kind: 'config', known: 1, stored: 1 }])
    await expect.poll(() => two.contentOf(), { timeout: LIMIT_MS }).toBe('second')
  })

  test('finds that deletions were lost, beside changes that arrive', async () => {
    loses = (event) => event.kind === 'deleted'
    const { serviceKey } = registration()
    await one.engine.execute(
      deregisterInstance({ serviceKey, address: address({ port: 2 }), ephemeral: true }),
    )
    await caughtUp()
    expect(two.ports()).toContain(2)
    const changes = [5, 6, 7, 8].map(async (port) => one.engine.execute(register(port)))
    expect(await two.store.compare({})).toMatchObject([{ kind: 'instance' }])
    await Promise.all(changes)
    await caughtUp()
    expect(two.ports()).toEqual(one.ports())
    expect(await two.store.compare({ each: true })).toEqual([])
  })

  test('finds that the state has another number than the keys', async () => {
    const counts = { config: 1, instance: 2 }
    const expected = [{ kind: 'instance', known: 2, stored: 3 }]
    expect(await two.store.compare({ counts })).toEqual(expected)
    expect(two.store.figures.mends).toBe(1)
    // Loading again has not helped, so it is only reported.
    expect(await two.store.compare({ counts })).toEqual(expected)
    expect(two.store.figures).toMatchObject({ drifts: 2, mends: 1, reloads: 0 })
  })
})
