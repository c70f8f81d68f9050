import { mkdtempSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest'
import type { PlanLine } from '../../src/plan/plan.ts'
import { readPlanLine } from '../../src/plan/read-plan.ts'
import type { Json } from '../interface/client.ts'
import { startManaged } from '../support/administrator.ts'
import { runWaypost } from '../support/waypost.ts'
import { PEER, RUST_START_MS, type RustServer, startRustServer } from './rust-server.ts'

const LIMIT_MS = 90_000

describe('the plan of the Rust server', () => {
  let server: RustServer
  beforeAll(async () => {
    if (!PEER.skip) server = await startRustServer()
  }, RUST_START_MS)
  beforeEach(({ skip }) => skip(PEER.skip, PEER.reason))
  afterAll(() => server?.stop())

  test('has its items, services and persistent instances, and says what it does not give', async () => {
    const { client } = server
    await client.post('/console/namespaces', {
      customNamespaceId: 'dev',
      namespaceName: 'Dev',
      namespaceDesc: '',
    })
    await client.post('/cs/configs', {
      tenant: 'dev',
      dataId: 'a.json',
      group: 'G',
      content: '{"日": "⚙"}\r\n',
      type: 'json',
    })
    for (let index = 0; index < 20; index++)
      await client.post('/cs/configs', { dataId: `item-${index}`, group: 'G', content: `${index}` })
    await client.post('/ns/service', {
      serviceName: 'db',
      groupName: 'G',
      protectThreshold: 0.5,
      metadata: '{"a":"b"}',
      namespaceId: 'dev',
    })
    const instance = { serviceName: 'G@@db', ip: '10.0.0.1', port: 3306, namespaceId: 'dev' }
    await client.post('/ns/instance', { ...instance, ephemeral: false, metadata: '{"k":"v"}', weight: 2.5 })
    await client.post('/ns/instance', { serviceName: 'G@@app', ip: '10.0.0.2', port: 80 })

    const file = join(mkdtempSync(join(inject('temporaryDirectory'), 'plan-')), 'old.plan')
    const from = `http://127.0.0.1:${server.port}`
    expect(await runWaypost(['move', '--from', from, '--ephemeral', '--plan', file])).toMatchObject({
      code: 0,
      stderr: '',
    })
    const lines = readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((text, index) => readPlanLine(text, index + 1))
    const of = (kind: PlanLine['kind']) => lines.filter((line) => line.kind === kind)
    expect(of('plan')).toMatchObject([{ sources: [{ kind: 'r-nacos' }] }])
    expect(of('namespace')).toContainEqual({ kind: 'namespace', id: 'dev', name: 'Dev', desc: '' })
    expect(of('config')).toHaveLength(22)
    expect(of('config')).toContainEqual(
      expect.objectContaining({
        namespace: 'dev',
        dataId: 'a.json',
        content: '{"日": "⚙"}\r\n',
        type: 'json',
      }),
    )
    expect(of('service')).toContainEqual(
      expect.objectContaining({
        namespace: 'dev',
        group: 'G',
        name: 'db',
        protectThreshold: 0.5,
        metadata: { a: 'b' },
      }),
    )
    expect(of('instance')).toMatchObject(
      expect.arrayContaining([
        expect.objectContaining({
          service: 'db',
          ip: '10.0.0.1',
          ephemeral: false,
          weight: 2.5,
          metadata: { k: 'v' },
        }),
        expect.objectContaining({ service: 'app', ip: '10.0.0.2', ephemeral: true }),
      ]),
    )
    const missing = of('cannot-come').map((line) => ('about' in line ? line.about : ''))
    expect(missing).toEqual(['history', 'config', 'user', 'switch'])
  })
  test(
    'and what has moved from it is equal, and goes back to it',
    async () => {
      const from = `http://127.0.0.1:${server.port}`
      const { waypost, ask } = await startManaged()
      const env = { WAYPOST_FROM_PASSWORD: 'secret', WAYPOST_PASSWORD: 'secret' }
      const run = (...args: readonly string[]) =>
        runWaypost([...args, '--rate', '10000', '--output', 'json'], env, LIMIT_MS)
      try {
        const to = ['--to', waypost.url, '--to-username', 'nacos']
        expect(await run('move', '--from', from, ...to)).toMatchObject({ code: 0 })
        const sides = ['--old', from, '--new', waypost.url, '--new-username', 'nacos', '--settle', '0']
        const { stdout } = await run('parity', ...sides, '--skip', 'user,role,permission')
        const { differences, notFoundOut } = JSON.parse(stdout) as Json
        expect(notFoundOut).toEqual([])
        // The answers that differ on this server: things and contents are equal.
        const places = differences.map(({ kind, field }: Json) => `${kind}: ${field}`)
        expect(places.toSorted()).toEqual(['read without sign-in: status'])
        await ask('POST', '/nacos/v1/cs/configs', {
          group: 'G',
          dataId: 'item-1',
          content: 'newer',
          desc: 'd',
        })
        await ask('POST', '/nacos/v1/cs/configs', { group: 'G', dataId: 'new', content: 'n', type: 'yaml' })
        const back = ['--from', waypost.url, '--username', 'nacos', '--to', from]
        const { apply } = JSON.parse((await run('move', ...back)).stdout) as Json
        expect(apply).toMatchObject({ taken: 1, kept: 1, refused: 0, lines: [{ name: 'public/G/item-1' }] })
        const again = JSON.parse((await run('move', ...back, '--overwrite')).stdout) as Json
        expect(again.apply).toMatchObject({ kept: 0, refused: 0 })
        expect((await server.client.get('/cs/configs', { group: 'G', dataId: 'item-1' })).text).toBe('newer')
      } finally {
        await waypost.stop()
      }
    },
    2 * LIMIT_MS,
  )
})
