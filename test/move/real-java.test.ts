/** Lessons from real Java servers: their answers are replayed. */
import { mkdtempSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, inject, test } from 'vitest'
import type { PlanInstance } from '../../src/plan/plan.ts'
import { readPlanLine } from '../../src/plan/read-plan.ts'
import type { Json } from '../interface/client.ts'
import { startManaged } from '../support/administrator.ts'
import { runWaypost } from '../support/waypost.ts'
import { type RecordedVersion, ReplayOfRecordedAnswers } from './replay-of-recorded-answers.ts'

const LIMIT_MS = 90_000
const PASSWORDS = { WAYPOST_FROM_PASSWORD: 'oldpassword', WAYPOST_PASSWORD: 'secret' }
/** The administrator has one password on both. */
const SAME = { WAYPOST_FROM_PASSWORD: 'secret', WAYPOST_PASSWORD: 'secret' }
const running: { stop(): Promise<unknown> }[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.stop()))
})

async function replayed(version: RecordedVersion = '3.0.3-clusters'): Promise<ReplayOfRecordedAnswers> {
  const replay = await ReplayOfRecordedAnswers.start(version)
  running.push(replay)
  return replay
}

/** A wrong password is answered with 500 there, and a right one with a token. */
function signIn(replay: ReplayOfRecordedAnswers): void {
  const wrong = '{"status":500,"error":"Internal Server Error","message":"No message available"}'
  const right = '{"accessToken":"t0ken","tokenTtl":18000,"globalAdmin":true,"username":"nacos"}'
  replay.instead.set('/v3/auth/user/login', (_, form) =>
    form.includes('password=oldpassword') ? { status: 200, body: right } : { status: 500, body: wrong },
  )
}

test('the instances of all clusters come, disabled ones too, and those of a service without DEFAULT', async () => {
  const replay = await replayed()
  const file = join(mkdtempSync(join(inject('temporaryDirectory'), 'plan-')), 'old.plan')
  const args = ['--from', replay.url, '--history', 'none', '--rate', '10000']
  const { code } = await runWaypost(['move', ...args, '--plan', file])
  expect(code).toBe(0)
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
  const all = lines.map((line, index) => readPlanLine(line, index + 1))
  const instances = all.filter((line): line is PlanInstance => line.kind === 'instance')
  const texts = instances.map(({ service, cluster, ip, enabled }) => `${service} ${cluster} ${ip} ${enabled}`)
  expect(texts.toSorted()).toEqual([
    'db DEFAULT 10.0.1.0 true',
    'db DEFAULT 10.0.2.0 false',
    'db c1 10.0.1.1 true',
    'db c1 10.0.2.1 false',
    'db c2 10.0.1.2 true',
    'db c2 10.0.2.2 false',
    'far c1 10.0.9.9 true',
  ])
})

test('a wrong password is named, though that server answers 500', async () => {
  const replay = await replayed()
  signIn(replay)
  const { stderr, code } = await runWaypost(
    ['move', '--from', replay.url, '--username', 'nacos', '--plan', join(inject('temporaryDirectory'), 'no')],
    { WAYPOST_FROM_PASSWORD: 'wrong' },
  )
  expect(code).toBe(2)
  expect(stderr).toContain('does not sign in nacos')
  expect(stderr).toContain('where the password is wrong')
  expect(replay.calls.filter(({ call }) => call.includes('login'))).toHaveLength(1)
})

test('after a move the lists of all clusters are equal, and an administrator of one name has two passwords', async () => {
  const [replay, { waypost }] = await Promise.all([replayed(), startManaged()])
  running.push(waypost)
  signIn(replay)
  const flags = ['--rate', '10000', '--output', 'json']
  const moving = ['--from', replay.url, '--username', 'nacos', '--to', waypost.url, '--to-username', 'nacos']
  const moved = await runWaypost(['move', ...moving, ...flags], PASSWORDS, LIMIT_MS)
  // The administrator has a password here already.
  expect(JSON.parse(moved.stdout).apply).toMatchObject({ refused: 0, kept: 1 })
  const sides = ['--old', replay.url, '--new', waypost.url, '--settle', '0']
  const accounts = ['--username', 'nacos', '--new-username', 'nacos']
  const compared = await runWaypost(['parity', ...sides, ...accounts, ...flags], PASSWORDS, LIMIT_MS)
  const { differences, notFoundOut, counts, concerns } = JSON.parse(compared.stdout) as Json
  expect(differences).toMatchObject([])
  expect(notFoundOut).toEqual([])
  const countOf = (kind: string) => counts.find((one: Json) => one.kind === kind)
  expect(countOf('instance')).toMatchObject({ old: 7, new: 7 })
  expect(countOf('list of instances')).toMatchObject({ old: 2, differences: 0 })
  expect(countOf('sign-in')).toMatchObject({ old: 2, differences: 0 })
  expect(concerns).toContainEqual(expect.objectContaining({ because: '2 services have other clusters' }))
  // An answer of 500 to a wrong password is no reason to try again.
  const wrong = replay.calls.filter(({ call, status }) => call.includes('login') && status === 500)
  expect(wrong).toHaveLength(1)
})

test('the way back writes nothing that is as it was, and keeps the secrets of checkers', async () => {
  const [replay, { waypost, ask }] = await Promise.all([replayed(), startManaged()])
  running.push(waypost)
  const checker = { type: 'HTTP', path: '/up', headers: 'X-A:1|B:2', expectedResponseCode: 204 }
  const cluster = { clusterName: 'c1', healthChecker: checker, healthyCheckPort: 80, metadata: {} }
  const detail = { serviceName: 'db', groupName: 'G', metadata: {}, clusterMap: { c1: cluster } }
  replay.instead.set('/v3/admin/ns/service?serviceName=db&', () => ({
    status: 200,
    body: JSON.stringify({ code: 0, data: { ...detail, protectThreshold: 0, ephemeral: false } }),
  }))
  const written: string[] = []
  for (const path of ['service', 'cluster'])
    replay.instead.set(`PUT /nacos/v3/admin/ns/${path}`, (_, form) => {
      written.push(
        `${path} ${new URLSearchParams(form).get(path === 'service' ? 'protectThreshold' : 'healthChecker')}`,
      )
      return { status: 200, body: '{"code":0,"data":"ok"}' }
    })
  replay.takesWrites = true
  const base = join(mkdtempSync(join(inject('temporaryDirectory'), 'base-')), 'old.plan')
  const moved = (...args: readonly string[]) =>
    runWaypost(['move', ...args, '--rate', '10000', '--output', 'json'], SAME, LIMIT_MS)
  await moved('--from', replay.url, '--plan', base, '--history', 'none')
  expect(await moved('--apply', base, '--to', waypost.url, '--username', 'nacos')).toMatchObject({ code: 0 })
  const back = async () => {
    const { stdout } = await moved(
      '--from',
      waypost.url,
      '--username',
      'nacos',
      '--to',
      replay.url,
      '--base',
      base,
    )
    return (JSON.parse(stdout) as Json).apply
  }
  expect(await back()).toMatchObject({ taken: 0, kept: 0, refused: 0 })
  expect(written).toEqual([])
  await ask('PUT', '/nacos/v1/ns/service', { serviceName: 'G@@db', protectThreshold: '0.5' })
  expect(await back()).toMatchObject({ taken: 1, kept: 0, refused: 0 })
  expect(written[0]).toBe('service 0.5')
  expect(JSON.parse(written[1]!.slice('cluster '.length))).toEqual(checker)
})

test('1.4.8: what it does not show of a list, and the media type of an item, are no differences', async () => {
  const [replay, { waypost }] = await Promise.all([replayed('1.4.8'), startManaged()])
  running.push(waypost)
  const answers = (part: string, body: unknown) =>
    replay.instead.set(part, () => ({ status: 200, body: JSON.stringify(body) }))
  const host = { ip: '10.9.9.9', port: 99, weight: 1, enabled: true, ephemeral: false, metadata: {} }
  const listed = { ...host, instanceId: '10.9.9.9#99#DEFAULT#G@@db', clusterName: 'DEFAULT' }
  answers('/v1/ns/catalog/services?', { count: 1, serviceList: [{ name: 'db', groupName: 'G' }] })
  answers('/v1/ns/catalog/service?', {
    service: { name: 'db', groupName: 'G' },
    clusters: [{ name: 'DEFAULT' }],
  })
  answers('/v1/ns/catalog/instances?', { count: 1, list: [{ ...host, clusterName: 'DEFAULT' }] })
  answers('/v1/ns/instance/list?', { name: 'G@@db', hosts: [{ ...listed, serviceName: 'G@@db' }] })
  answers('/v1/console/namespaces', { data: [] })
  const json = { dataId: 'j', group: 'G', content: '{}', type: 'json', md5: null }
  answers('/v1/cs/configs?search=', { totalCount: 1, pageItems: [json] })
  answers('/v1/cs/configs?show=all', json)
  replay.instead.set('/v1/cs/configs?dataId=j&group=G', () => ({
    status: 200,
    body: '{}',
    headers: {
      'config-type': 'json',
      'content-md5': '99914b932bd37a50b983c5e7c90ae93b',
      'content-type': 'application/json;charset=UTF-8',
    },
  }))
  replay.instead.set('/v1/cs/configs/listener', (_, body) => ({
    status: 200,
    body: body.includes('00000000') ? 'j%02G%01\n' : '',
  }))
  const flags = ['--rate', '10000', '--output', 'json']
  const moving = ['--from', replay.url, '--to', waypost.url, '--to-username', 'nacos', '--history', 'none']
  const moved = await runWaypost(['move', ...moving, ...flags], PASSWORDS, LIMIT_MS)
  expect(JSON.parse(moved.stdout).apply).toMatchObject({ refused: 0, kept: 0 })
  const sides = ['--old', replay.url, '--new', waypost.url, '--settle', '0', '--new-username', 'nacos']
  const skipped = ['--skip', 'user,role,permission,switch,gray']
  const compared = await runWaypost(['parity', ...sides, ...skipped, ...flags], PASSWORDS, LIMIT_MS)
  const { differences, counts, concerns } = JSON.parse(compared.stdout) as Json
  expect(differences).toMatchObject([{ kind: 'read without sign-in' }])
  expect(counts).toContainEqual({ kind: 'read of a configuration', old: 1, new: 1, differences: 0 })
  expect(counts).toContainEqual({ kind: 'list of instances', old: 1, new: 1, differences: 0 })
  expect(concerns).toContainEqual({
    text: 'A read of an item is `text/plain`',
    concerns: 'yes',
    because: '1 items are of such a type',
  })
})

test('2.5 on MySQL: a record a second after its version does not bring back the text before', async () => {
  const [replay, { waypost, ask }] = await Promise.all([replayed('2.5.1'), startManaged()])
  running.push(waypost)
  const answers = (part: string, body: unknown) =>
    replay.instead.set(part, () => ({ status: 200, body: JSON.stringify(body) }))
  // The recorded item has the time 07:13:51.298. MySQL keeps whole seconds, and rounds only what the server sends.
  const record = (id: string, opType: string, second: number) => ({
    id,
    dataId: 'sh.x',
    group: 'G',
    opType,
    publishType: 'formal',
    content: 'a: 1',
    lastModifiedTime: `2026-11-24T07:13:${second}.000+00:00`,
  })
  const records = [record('2', 'U', 52), record('1', 'I', 50)]
  answers('/v1/cs/history?search=accurate', { totalCount: 2, pageItems: records })
  for (const one of records) answers(`/v1/cs/history?nid=${one.id}&`, one)
  const file = join(mkdtempSync(join(inject('temporaryDirectory'), 'plan-')), 'old.plan')
  await runWaypost(['move', '--from', replay.url, '--plan', file, '--rate', '10000'], {}, LIMIT_MS)
  const apply = async () => {
    const args = ['move', '--apply', file, '--to', waypost.url, '--username', 'nacos', '-o', 'json']
    const { stdout } = await runWaypost(args, SAME, LIMIT_MS)
    return JSON.parse(stdout) as Json
  }
  const content = async () => {
    const shown = await ask('GET', '/nacos/v1/cs/configs?show=all&dataId=sh.x&group=G')
    return (JSON.parse(shown) as Json).content
  }
  expect(await apply()).toMatchObject({ kept: 0 })
  expect(await content()).toBe('a: 2')
  expect(await apply()).toMatchObject({ taken: 0, kept: 0 })
  expect(await content()).toBe('a: 2')
})
