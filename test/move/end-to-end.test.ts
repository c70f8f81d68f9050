import { mkdtempSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { isThing, type PlanThing } from '../../src/plan/plan.ts'
import { readPlanLine } from '../../src/plan/read-plan.ts'
import { type Client, clientsOf } from '../interface/client.ts'
import { type ManagedWaypost, startManaged } from '../support/administrator.ts'
import { runWaypost, startWaypost, type Waypost } from '../support/waypost.ts'
import { ReplayOfRecordedAnswers } from './replay-of-recorded-answers.ts'

const newFile = (): string => join(mkdtempSync(join(inject('temporaryDirectory'), 'move-')), 'plan')

/** The plan of a server, as things by what names them: without what differs from server to server. */
async function planOf(url: string, file: string, more: readonly string[] = []): Promise<Map<string, object>> {
  const made = await runWaypost(['move', '--from', url, '--rate', '10000', '--plan', file, ...more], {
    WAYPOST_FROM_PASSWORD: 'secret',
  })
  expect(made).toMatchObject({ code: 0 })
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
  const things = lines.map((line, index) => readPlanLine(line, index + 1)).filter(isThing)
  return new Map(things.map((thing) => [keyOf(thing), withoutIds(thing)]))
}

function keyOf(thing: PlanThing): string {
  const names = { ...thing, content: '', oldId: '', seenMs: 0 } as Record<string, unknown>
  const { kind, namespace, group, dataId, id, name, service, ip, port, username, role, resource, atMs, op } =
    names
  return JSON.stringify([
    kind,
    namespace,
    group,
    dataId,
    id,
    name,
    service,
    ip,
    port,
    username,
    role,
    resource,
    atMs,
    op,
  ])
}

/** Health is what the probes of each server find. */
function withoutIds(thing: PlanThing): object {
  const own = { oldId: '', seenMs: 0, passwordHash: '', healthy: true, ...thing }
  const { oldId: _id, seenMs: _seen, passwordHash: _hash, healthy: _health, ...rest } = own
  return rest
}

describe('a move from one server to another', () => {
  let target: ManagedWaypost
  beforeAll(async () => {
    target = await startManaged()
  })
  afterAll(async () => target?.waypost.stop())

  const apply = (file: string, ...more: readonly string[]) =>
    runWaypost(
      [
        'move',
        '--apply',
        file,
        '--to',
        target.waypost.url,
        '--username',
        'nacos',
        '--output',
        'json',
        ...more,
      ],
      {
        WAYPOST_PASSWORD: 'secret',
      },
    )

  describe('of this kind', () => {
    let source: Waypost
    let old: Client
    beforeAll(async () => {
      source = await startWaypost()
      old = clientsOf(source.url).nacos
      await old.post('/console/namespaces', {
        customNamespaceId: 'dev',
        namespaceName: 'Dev',
        namespaceDesc: 'd',
      })
      const notes = {
        type: 'yaml',
        desc: 'a: "b"',
        appName: 'shop',
        config_tags: 'x,y',
        schema: 's',
        use: 'u',
        effect: 'e',
      }
      for (let index = 0; index < 30; index++)
        for (const version of [1, 2, 3])
          await old.post('/cs/configs', {
            tenant: index % 2 === 0 ? 'dev' : '',
            group: 'Größe',
            dataId: `日本-${index}.yml`,
            content: `ключ: ⚙ ${version}\r\n`,
            ...notes,
          })
      const service = { namespaceId: 'dev', serviceName: 'db', groupName: 'G' }
      const selector = '{"type":"label","expression":"CONSUMER.label.a = PROVIDER.label.a"}'
      await old.post('/ns/service', { ...service, protectThreshold: 0.5, metadata: '{"a":"b"}', selector })
      const instance = { namespaceId: 'dev', serviceName: 'G@@db', clusterName: 'c' }
      await old.post('/ns/instance', {
        ...instance,
        ip: '10.0.0.1',
        port: 80,
        ephemeral: false,
        weight: 2.5,
        enabled: false,
        metadata: '{"k":"v"}',
      })
      await old.put('/ns/cluster', {
        ...instance,
        checkPort: 99,
        useInstancePort4Check: false,
        healthChecker: '{"type":"HTTP","path":"/up","headers":"","expectedResponseCode":200}',
        metadata: '{"x":"y"}',
      })
      await old.put('/ns/operator/switches', { entry: 'checkTimes', value: 5 })
    })
    afterAll(async () => {
      old?.close()
      await source?.stop()
    })

    test('brings everything over, and once more nothing', async () => {
      const file = newFile()
      const before = await planOf(source.url, file)
      expect(JSON.parse((await apply(file)).stdout)).toMatchObject({
        taken: before.size,
        kept: 0,
        refused: 0,
      })
      const after = await planOf(target.waypost.url, newFile(), ['--username', 'nacos'])
      for (const [key, thing] of before) expect(after.get(key), key).toEqual(thing)
      expect(JSON.parse((await apply(file)).stdout)).toMatchObject({
        taken: 0,
        unchanged: before.size,
        kept: 0,
      })
    })

    test('takes what has changed there, and keeps what was changed here', async () => {
      const item = { group: 'Größe', dataId: '日本-1.yml' }
      await old.post('/cs/configs', { ...item, content: 'changed there' })
      await target.ask('POST', '/nacos/v1/cs/configs', {
        group: 'Größe',
        dataId: '日本-3.yml',
        content: 'changed here',
      })
      await old.post('/cs/configs', { group: 'Größe', dataId: '日本-3.yml', content: 'changed there, too' })
      const file = newFile()
      await planOf(source.url, file)
      expect(JSON.parse((await apply(file)).stdout)).toMatchObject({
        refused: 0,
        lines: expect.arrayContaining([
          expect.objectContaining({ kind: 'config', name: 'public/Größe/日本-3.yml' }),
        ]),
      })
      const contentOf = (dataId: string) =>
        target.ask('GET', `/nacos/v1/cs/configs?${new URLSearchParams({ group: 'Größe', dataId })}`)
      expect(await contentOf('日本-1.yml')).toBe('changed there')
      expect(await contentOf('日本-3.yml')).toBe('changed here')
      await apply(file, '--overwrite')
      expect(await contentOf('日本-3.yml')).toBe('changed there, too')
    })
  })

  test('of the Java server (replayed) keeps the passwords', async () => {
    const replay = await ReplayOfRecordedAnswers.start('3.0.3-admin')
    const file = newFile()
    try {
      const made = await runWaypost(['move', '--from', replay.url, '--rate', '10000', '--plan', file])
      // Some answers were not recorded.
      expect(made).toMatchObject({ code: 1 })
    } finally {
      await replay.stop()
    }
    const applied = await apply(file)
    // The one who applies it has this name.
    expect({ code: applied.code, ...JSON.parse(applied.stdout) }).toMatchObject({
      code: 0,
      lines: [{ outcome: 'kept', kind: 'user', name: 'nacos' }],
      left: { user: [] },
    })
    // A client of the address has the beta version, as there.
    const item = new URLSearchParams({ dataId: 'sh.x', group: 'G' })
    expect(await target.ask('GET', `/nacos/v1/cs/configs?${item}`)).toBe('beta: 1')
    const client = clientsOf(target.waypost.url).nacos
    const signIn = (password: string) => client.post('/auth/login', { username: 'u1', password })
    expect((await signIn('Held-out-2')).status).toBe(200)
    expect((await signIn('Held-out-1')).status).not.toBe(200)
    client.close()
  })
})

test('what cannot come as it is has a line in one of the reports, and nothing is changed silently', async () => {
  const [replay, { waypost, ask }] = await Promise.all([
    ReplayOfRecordedAnswers.start('1.4.8'),
    startManaged({ settings: { 'max-content': '2KiB' } }),
  ])
  const short = '1234567890123456789012345678901'
  const contents: Record<string, object | Buffer> = {
    fine: { content: 'x', md5: null },
    'not allowed?': { content: 'x', md5: null },
    large: { content: 'x'.repeat(3_000), md5: null },
    blank: { content: '   ', md5: null },
    gbk: { content: '日本', md5: '66d1f9b2ce9e7f9a1dd1e5dd7a5fa2a4' },
    short: { content: 'x', md5: short },
    latin: Buffer.from('{"content":"\xe4"}', 'latin1'),
  }
  const pageItems = Object.keys(contents).map((dataId) => ({ dataId, group: 'G' }))
  replay.instead.set('/v1/cs/configs?search=accurate&dataId=&group=&tenant=&', () => ({
    status: 200,
    body: JSON.stringify({ totalCount: pageItems.length, pageItems }),
  }))
  for (const [dataId, content] of Object.entries(contents))
    replay.instead.set(`show=all&dataId=${dataId.replace(' ', '+')}&`, () => ({
      status: 200,
      body: Buffer.isBuffer(content) ? content : JSON.stringify(content),
    }))
  try {
    const file = newFile()
    const made = await runWaypost(['move', '--from', replay.url, '--plan', file, '--history', 'none'])
    expect(made.code).toBe(1)
    expect(made.stdout).toMatch(/cannot-come: config public\/G\/latin: .* is not UTF-8/)
    expect(made.stdout).toMatch(
      /remark: config public\/G\/gbk: the md5 of the source, 66d1\S+, is of other bytes/,
    )
    expect(made.stdout).toContain(`remark: config public/G/short: the md5 of the source, ${short}, is of`)
    const to = ['--to', waypost.url, '--username', 'nacos']
    const applied = await runWaypost(['move', '--apply', file, ...to], { WAYPOST_PASSWORD: 'secret' })
    expect(applied.code).toBe(1)
    for (const name of ['not allowed?', 'large', 'blank'])
      expect(applied.stdout).toMatch(
        new RegExp(`refused: config public/G/${name.replace('?', '\\?')} \\(line \\d+\\): `),
      )
    expect(applied.stdout).toMatch(/ 4 taken, 0 unchanged, 0 kept, 3 refused\n/)
    const list = await ask('GET', '/nacos/v1/cs/configs?search=accurate&dataId=&group=&pageNo=1&pageSize=9')
    const names = (JSON.parse(list) as { pageItems: { dataId: string }[] }).pageItems.map(
      ({ dataId }) => dataId,
    )
    expect(names.toSorted()).toEqual(['fine', 'gbk', 'short'])
  } finally {
    await Promise.all([replay.stop(), waypost.stop()])
  }
})
