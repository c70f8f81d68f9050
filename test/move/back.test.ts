/** `waypost move --to` a server of another kind: the way back. */
import { mkdtempSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import type { PlanLine } from '../../src/plan/plan.ts'
import { readPlanLine } from '../../src/plan/read-plan.ts'
import { type Client, clientsOf, type Json } from '../interface/client.ts'
import { type ManagedWaypost, startManaged } from '../support/administrator.ts'
import { runWaypost, startWaypost, type Waypost } from '../support/waypost.ts'
import { DisguisedWaypost } from './disguised-waypost.ts'
import { ReplayOfRecordedAnswers } from './replay-of-recorded-answers.ts'

const LIMIT_MS = 90_000
const QUICK = ['--rate', '10000'] as const
const ENV = { WAYPOST_FROM_PASSWORD: 'secret', WAYPOST_PASSWORD: 'secret' }
const newFile = (): string => join(mkdtempSync(join(inject('temporaryDirectory'), 'back-')), 'plan')

describe('the way back to a server that is a Waypost and says that it is Nacos 1.4.8', () => {
  let source: ManagedWaypost
  let old: Waypost
  let disguised: DisguisedWaypost
  let client: Client
  beforeAll(async () => {
    source = await startManaged()
    old = await startWaypost()
    disguised = await DisguisedWaypost.of(old)
    client = clientsOf(old.url).nacos
    await source.addUser({ username: 'ann', password: 'p', permissions: { 'dev:*:*': 'r' } })
    const put = (path: string, form: Record<string, string>) => source.ask('PUT', `/nacos/v1${path}`, form)
    const post = (path: string, form: Record<string, string>) => source.ask('POST', `/nacos/v1${path}`, form)
    // Otherwise the probes of each server find the instance ill at times of their own.
    for (const set of [put, (path: string, form: Record<string, string>) => client.put(path, form)])
      await set('/ns/operator/switches', { entry: 'healthCheckEnabled', value: 'false' })
    await post('/console/namespaces', {
      customNamespaceId: 'dev',
      namespaceName: 'Dev Größe',
      namespaceDesc: 'd',
    })
    const notes = { type: 'yaml', desc: 'a: "b"', appName: 'shop', config_tags: 'x,y', use: 'u', effect: 'e' }
    for (const version of ['1', '2'])
      for (const tenant of ['', 'dev'])
        await post('/cs/configs', {
          tenant,
          group: 'Größe',
          dataId: '日本.yml',
          content: `ключ: ⚙ +% ${version}\r\n`,
          ...notes,
        })
    const service = { namespaceId: 'dev', serviceName: 'db', groupName: 'G', protectThreshold: '0.5' }
    await post('/ns/service', { ...service, metadata: '{"a":"b"}' })
    const cluster = { namespaceId: 'dev', serviceName: 'G@@db', clusterName: 'c' }
    const instance = { ...cluster, ip: '10.0.0.1', port: '80', weight: '2.5' }
    await post('/ns/instance', { ...instance, ephemeral: 'false', metadata: '{"k":"v"}' })
    await post('/ns/instance', { ...instance, ip: '10.0.0.2' })
    const healthChecker = '{"type":"HTTP","path":"/up","headers":"x-token:secret","expectedResponseCode":200}'
    await put('/ns/cluster', {
      ...cluster,
      checkPort: '99',
      useInstancePort4Check: 'false',
      healthChecker,
      metadata: '{}',
    })
  })
  afterAll(async () => {
    client?.close()
    await disguised?.stop()
    await Promise.all([source?.waypost.stop(), old?.stop()])
  })

  const move = async (...more: readonly string[]) => {
    const args = ['move', ...QUICK, ...more, '--to', disguised.url]
    return runWaypost([...args, '--output', 'json'], ENV, LIMIT_MS)
  }
  const fromSource = () => ['--from', source.waypost.url, '--username', 'nacos']

  test('a plan for it has what it takes, and says what cannot go', async () => {
    const file = newFile()
    expect(await move(...fromSource(), '--plan', file, '--ephemeral')).toMatchObject({ code: 0 })
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
    const all = lines.map((line, index): PlanLine => readPlanLine(line, index + 1))
    expect(all.map(({ kind }) => kind).filter((kind) => !['cannot-come', 'remark'].includes(kind))).toEqual([
      'plan',
      'namespace',
      'config',
      'config',
      'service',
      'instance',
      'end',
    ])
    const notes = all.flatMap((line) => ('reason' in line ? [`${line.kind} ${line.about} ${line.name}`] : []))
    expect(notes).toEqual(
      expect.arrayContaining([
        'cannot-come history all records',
        'cannot-come switch healthCheckEnabled',
        'cannot-come user ann',
        'cannot-come role ann anns',
        'cannot-come permission anns dev:*:* r',
        'cannot-come instance dev/G@@db 10.0.0.2:80#c',
        'remark service dev/G@@db',
      ]),
    )
  })

  test('what it takes arrives, and is there the second time', async () => {
    const { code, stdout } = await move(...fromSource())
    expect({ code, ...JSON.parse(stdout).apply }).toMatchObject({ code: 0, taken: 5, refused: 0, kept: 0 })
    const again = await move(...fromSource())
    expect(JSON.parse(again.stdout).apply).toMatchObject({ taken: 0, unchanged: 5, kept: 0, refused: 0 })
    const url = source.waypost.url
    const args = ['parity', '--old', url, '--new', old.url, '--username', 'nacos', '--settle', '0', ...QUICK]
    const compared = await runWaypost(
      [...args, '--skip', 'user,role,permission', '-o', 'json'],
      ENV,
      LIMIT_MS,
    )
    const { differences, notFoundOut } = JSON.parse(compared.stdout) as Json
    // The value of the header field of the checker is a secret of the source.
    expect(differences.filter(({ kind }: Json) => !/sign-in/.test(kind))).toMatchObject([
      { kind: 'service', name: 'dev/G@@db', field: 'clusters', old: expect.stringContaining('x-token') },
    ])
    expect(notFoundOut).toEqual([])
  })

  test('what was changed there is kept, and --overwrite replaces it', async () => {
    const item = { group: 'Größe', dataId: '日本.yml' }
    await client.post('/cs/configs', { ...item, content: 'changed there', type: 'text' })
    await client.put('/console/namespaces', {
      namespace: 'dev',
      namespaceShowName: 'Other',
      namespaceDesc: 'd',
    })
    const kept = JSON.parse((await move(...fromSource())).stdout).apply
    expect(kept).toMatchObject({ taken: 0, unchanged: 3, kept: 2, refused: 0 })
    expect(kept.lines).toMatchObject([
      { kind: 'namespace', name: 'dev', reason: expect.stringContaining('another name (--overwrite') },
      { kind: 'config', reason: expect.stringContaining('another content, type') },
    ])
    expect((await client.get('/cs/configs', item)).text).toBe('changed there')
    const replaced = JSON.parse((await move(...fromSource(), '--overwrite')).stdout).apply
    expect(replaced).toMatchObject({ taken: 2, unchanged: 3, kept: 0 })
    expect((await client.get('/cs/configs', item)).text).toBe('ключ: ⚙ +% 2\r\n')
  })

  test('what is there as it was when it was moved from is replaced by a plan with --base, and nothing else', async () => {
    const base = newFile()
    await runWaypost(['move', ...QUICK, '--from', disguised.url, '--plan', base], ENV, LIMIT_MS)
    const item = { group: 'Größe', dataId: '日本.yml' }
    await source.ask('POST', '/nacos/v1/cs/configs', { ...item, content: 'of here' })
    await source.ask('POST', '/nacos/v1/cs/configs', { ...item, tenant: 'dev', content: 'of here' })
    await client.post('/cs/configs', { ...item, tenant: 'dev', content: 'of there' })
    const { apply } = JSON.parse((await move(...fromSource(), '--base', base)).stdout) as Json
    expect(apply).toMatchObject({ taken: 1, unchanged: 3, kept: 1, lines: [{ name: 'dev/Größe/日本.yml' }] })
    expect((await client.get('/cs/configs', item)).text).toBe('of here')
    expect((await client.get('/cs/configs', { ...item, tenant: 'dev' })).text).toBe('of there')
  })

  test('what it refuses has a line, and so have things of a plan that was not made for it', async () => {
    const file = newFile()
    await runWaypost(['move', ...QUICK, ...fromSource(), '--plan', file], ENV, LIMIT_MS)
    await client.delete('/cs/configs', { group: 'Größe', dataId: '日本.yml', tenant: 'dev' })
    disguised.instead.set('POST /nacos/v1/cs/configs', { status: 403, body: 'not you' })
    const { code, stdout } = await move('--apply', file)
    disguised.instead.clear()
    expect({ code, ...JSON.parse(stdout) }).toMatchObject({
      code: 1,
      taken: 0,
      unchanged: 4,
      refused: 1,
      lines: [
        { name: 'dev/Größe/日本.yml', reason: expect.stringMatching(/cs\/configs answers 403: not you/) },
      ],
      left: { history: 6, user: 2, role: 1, permission: 1, switch: 1 },
    })
    disguised.instead.set('GET /nacos/v1/cs/configs?show=all', { status: 503, body: 'busy' })
    const refused = await move('--apply', file)
    disguised.instead.clear()
    expect(refused.code).toBe(1)
    expect(JSON.parse(refused.stdout).refused).toBe(2)
  })
})

test('what a Java server (replayed) has and differs is kept, and --overwrite publishes it with its notes', async () => {
  const [waypost, replay] = await Promise.all([startWaypost(), ReplayOfRecordedAnswers.start('1.4.8')])
  const sent: URLSearchParams[] = []
  replay.instead.set('/v1/cs/configs', (_, body) => {
    if (body === '') return undefined
    sent.push(new URLSearchParams(body))
    return { status: 200, body: 'true' }
  })
  const client = clientsOf(waypost.url).nacos
  const item = { dataId: 'sh.x', group: 'G', content: 'a: 3 + ⚙', type: 'yaml', desc: 'd', config_tags: 't1' }
  await client.post('/cs/configs', item)
  client.close()
  const back = (...more: readonly string[]) =>
    runWaypost(
      ['move', ...QUICK, '--from', waypost.url, '--to', replay.url, ...more, '-o', 'json'],
      ENV,
      LIMIT_MS,
    )
  try {
    const { apply } = JSON.parse((await back()).stdout) as Json
    expect(apply).toMatchObject({ taken: 0, kept: 1, lines: [{ name: 'public/G/sh.x' }] })
    expect(sent).toEqual([])
    expect(JSON.parse((await back('--overwrite')).stdout)).toMatchObject({ apply: { taken: 1, refused: 0 } })
    expect(sent.map((form) => Object.fromEntries(form))).toMatchObject([{ ...item, tenant: '' }])
    replay.instead.set('/v1/cs/configs', (_, body) =>
      body === '' ? undefined : { status: 200, body: 'false' },
    )
    const refused = await back('--overwrite')
    expect(refused.code).toBe(1)
    expect(JSON.parse(refused.stdout).apply.lines[0].reason).toMatch(/^POST .*configs answers 200: false$/)
  } finally {
    await Promise.all([waypost.stop(), replay.stop()])
  }
})

test('a Java server 3.x (replayed) gets what it takes by its admin interface, and what it refuses has a line', async () => {
  const [waypost, replay] = await Promise.all([startWaypost(), ReplayOfRecordedAnswers.start('3.0.3-admin')])
  replay.takesWrites = true
  const client = clientsOf(waypost.url).nacos
  await client.post('/console/namespaces', {
    customNamespaceId: 'new',
    namespaceName: 'New',
    namespaceDesc: 'd',
  })
  await client.post('/console/namespaces', {
    customNamespaceId: 'shn',
    namespaceName: 'Other',
    namespaceDesc: 'd',
  })
  const notes = { type: 'yaml', desc: 'd', config_tags: 't1', use: 'u', appName: 'shop' }
  await client.post('/cs/configs', {
    dataId: '日本',
    group: 'G',
    content: 'a: 3 + ⚙\r\n',
    tenant: 'new',
    ...notes,
  })
  await client.post('/cs/configs', { dataId: 'sh.x', group: 'G', content: 'changed' })
  const db = { serviceName: 'G@@db', namespaceId: 'new', clusterName: 'c' }
  await client.post('/ns/instance', {
    ...db,
    ip: '10.0.0.1',
    port: '80',
    ephemeral: 'false',
    weight: '2.5',
    metadata: '{"k":"v"}',
  })
  const cluster = {
    checkPort: '99',
    useInstancePort4Check: 'false',
    healthChecker: '{"type":"NONE"}',
    metadata: '{}',
  }
  await client.put('/ns/cluster', { ...db, ...cluster })
  client.close()
  const back = async (...more: readonly string[]) => {
    const args = ['move', ...QUICK, '--from', waypost.url, '--to', replay.url, ...more, '-o', 'json']
    const { code, stdout } = await runWaypost(args, ENV, LIMIT_MS)
    return { code, apply: (JSON.parse(stdout) as Json).apply }
  }
  try {
    expect(await back()).toMatchObject({ apply: { taken: 4, kept: 2, refused: 0 } })
    const names = { namespaceId: 'new', groupName: 'G', serviceName: 'db' }
    expect(replay.written).toEqual([
      {
        call: 'POST /nacos/v3/admin/core/namespace',
        form: { namespaceId: 'new', namespaceName: 'New', namespaceDesc: 'd' },
      },
      {
        call: 'POST /nacos/v3/admin/cs/config',
        form: expect.objectContaining({
          dataId: '日本',
          groupName: 'G',
          namespaceId: 'new',
          content: 'a: 3 + ⚙\r\n',
          type: 'yaml',
          desc: 'd',
          configTags: 't1',
          use: 'u',
          appName: 'shop',
        }),
      },
      {
        call: 'POST /nacos/v3/admin/ns/service',
        form: expect.objectContaining({ ...names, protectThreshold: '0', ephemeral: 'false' }),
      },
      {
        call: 'PUT /nacos/v3/admin/ns/cluster',
        form: expect.objectContaining({ ...names, clusterName: 'c', ...cluster }),
      },
      {
        call: 'POST /nacos/v3/admin/ns/instance',
        form: expect.objectContaining({ ...names, ip: '10.0.0.1', ephemeral: 'false', weight: '2.5' }),
      },
    ])
    expect(await back('--overwrite')).toMatchObject({ apply: { kept: 0, refused: 0 } })
    expect(
      replay.written.slice(5).map(({ call, form }) => [call, form['namespaceName'] ?? form['content']]),
    ).toEqual(
      expect.arrayContaining([
        ['PUT /nacos/v3/admin/core/namespace', 'Other'],
        ['POST /nacos/v3/admin/cs/config', 'changed'],
      ]),
    )
    // Notes that are not named are cleared there, but for the tags.
    const changed = replay.written.find(({ form }) => form['content'] === 'changed')
    expect(changed?.form).toMatchObject({ configTags: '' })
    // It answers some refusals with 200.
    replay.instead.set('POST /nacos/v3/admin/ns/instance', () => ({ status: 200, body: '{"code":21003}' }))
    const refused = await back()
    expect(refused).toMatchObject({ code: 1, apply: { refused: 1, lines: [{}, {}, { kind: 'instance' }] } })
  } finally {
    await Promise.all([waypost.stop(), replay.stop()])
  }
})

test('a plan for Waypost takes no --to', async () => {
  const waypost = await startWaypost()
  const planTo = (to: string) =>
    runWaypost(['move', '--from', waypost.url, '--to', to, '--plan', newFile()], ENV, LIMIT_MS)
  try {
    expect(await planTo(waypost.url)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--plan only reads'),
    })
  } finally {
    await waypost.stop()
  }
})
