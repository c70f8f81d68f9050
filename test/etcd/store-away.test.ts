/** A server whose etcd is away for a while (src/store/etcd/following/following.ts, commits.ts). */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { deleteConfig } from '../../src/core/config/commands/publish-config.ts'
import { configKey } from '../../src/core/config/state/config-item.ts'
import { address, registration } from '../../src/core/core.test-support.ts'
import { deregisterInstance } from '../../src/core/naming/commands/instance-commands.ts'
import { describeOnEtcd } from '../support/etcd.ts'
import { type Gate, startGate } from './gate.ts'
import { etcdForThisFile } from './etcd-of-file.ts'
import { KEY, publish, register } from './store-server.ts'

const OTHER = configKey('public', 'G', 'other')
const NOBODY = { ip: '10.0.0.9', user: null }

let gate: Gate
// Ends after the servers: hooks run in the reverse order.
afterEach(() => gate.stop())
const here = etcdForThisFile()
const reasons: string[] = []

async function startServer(port: number, endpoint = here.etcd.endpoints[0]!, answerMs?: number) {
  const reloading = (why: unknown): void => void reasons.push(String(why))
  return here.start(here.prefix, port, { endpoints: [endpoint], reloading, ...(answerMs && { answerMs }) })
}

async function seen<T>(shown: () => T, expected: T): Promise<void> {
  await expect.poll(shown, { timeout: 30_000 }).toEqual(expected)
}

describeOnEtcd('a server without etcd for a while', 90_000, () => {
  beforeEach(async () => {
    gate = await startGate(here.etcd.endpoints[0]!)
    reasons.splice(0)
  })

  test('follows again from where it was', async () => {
    const one = await startServer(1)
    const away = await startServer(2, gate.endpoint)
    await one.engine.execute(publish('before'))
    await seen(away.contentOf, 'before')
    gate.cut()
    await one.engine.execute(publish('meanwhile'))
    gate.open()
    await seen(away.contentOf, 'meanwhile')
    expect(away.store.figures).toMatchObject({ reloads: 0, applied: one.follower.revision })
    expect(reasons).toEqual([])
  })

  test('loads everything again if what it has missed was compacted', async () => {
    const one = await startServer(1)
    const away = await startServer(2, gate.endpoint)
    await one.membership.join(one.facts)
    await one.engine.execute(publish('before'))
    await one.engine.execute(publish('x', { key: OTHER }))
    for (const port of [1, 2]) await one.engine.execute(register(port))
    await seen(away.ports, one.ports())
    gate.cut()
    const target = { serviceKey: registration().serviceKey, address: address({ port: 1 }), ephemeral: true }
    await one.engine.execute(deregisterInstance(target))
    await one.engine.execute(register(3))
    await one.engine.execute(deleteConfig(OTHER, NOBODY))
    await one.membership.leave()
    const three = await startServer(3)
    await three.membership.join(three.facts)
    await one.engine.execute(publish('after'))
    await one.client.compact(one.follower.revision)
    away.seen.splice(0)
    gate.open()
    await seen(away.contentOf, 'after')
    expect(away.store.figures).toMatchObject({ reloads: 1 })
    expect(reasons).toEqual([expect.stringContaining('compacted')])
    expect(away.ports()).toEqual([2, 3])
    expect(away.state.config(OTHER)).toBeUndefined()
    expect(away.state.config(KEY)).toEqual(one.state.config(KEY))
    expect(away.members()).toEqual(three.members())
    expect(away.seen.filter(({ kind }) => kind.startsWith('config-'))).toHaveLength(2)
    // It goes on from there, and writes again.
    await away.engine.execute(publish('by the one that was away'))
    await seen(one.contentOf, 'by the one that was away')
    expect([one, away].flatMap(({ failures }) => failures)).toEqual([])
  })

  test('refuses changes in time, says whether the result is known, and writes again afterwards', async () => {
    const server = await startServer(1, undefined, 1_900)
    await server.engine.execute(publish('before'))
    here.etcd.members[0]!.pause()
    const inTime = async (change: unknown) => {
      const refusal = Promise.resolve(change).then(
        () => 'made',
        (error: Error) => error.message,
      )
      // Timers fire in their order, also on a machine that is busy.
      return Promise.race([refusal, sleep(2_000).then(() => 'too late')])
    }
    const first = inTime(server.engine.execute(publish('first')))
    await sleep(50)
    const behind = inTime(server.engine.execute(publish('behind')))
    expect(await first).toMatch(/whether the change was made is not known/)
    expect(await behind).toMatch(/was not made, try again/)
    expect(await inTime(server.engine.execute(publish('second')))).toMatch(/try again/)
    // A 'no' must be confirmed.
    expect(await inTime(server.engine.execute(deleteConfig(OTHER, NOBODY)))).toMatch(/try again/)
    expect(server.contentOf()).toBe('before')
    here.etcd.members[0]!.resume()
    await expect.poll(() => inTime(server.engine.execute(publish('after'))), { timeout: 30_000 }).toBe('made')
    expect(server.contentOf()).toBe('after')
    expect(server.failures).toEqual([])
  })
})
