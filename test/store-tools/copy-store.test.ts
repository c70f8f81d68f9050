import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { DirectoryTarget } from '../../src/store/embedded/copy/directory-target.ts'
import { systemClock } from '@waypost/etcd-client/clock'
import { EtcdTarget } from '../../src/store/etcd/copy/etcd-target.ts'
import { Keys } from '../../src/store/etcd/keys/keys.ts'
import { openEtcd } from '../../src/store/etcd/open-etcd.ts'
import { copyParts, type StoredPart } from '../../src/store/stored-data.ts'
import { type Etcd, ETCD_HOOK_MS, etcdTools, startEtcd } from '../support/etcd.ts'
import { configLine, historyLine, planOf, sendPlan } from '../support/plan-lines.ts'
import {
  freePort,
  MAIN,
  runWaypost,
  startWaypost,
  temporaryDirectory,
  type Waypost,
} from '../support/waypost.ts'
import { alter, contentOf, sampleStore } from './damage.ts'
import { sampleSource } from './sample-source.ts'

const LIMIT_MS = 120_000
const PASSWORD = 'a long password of mine'
/** Sizes of the contents of imported items: small ones, and ones that etcd keeps in parts. */
const IMPORTED = [20, 300_000, 1_500_000]
let etcd: Etcd
let prefixes = 0
const started: Waypost[] = []

beforeAll(async () => {
  if (!etcdTools.skip) etcd = await startEtcd()
}, ETCD_HOOK_MS)
afterEach(async () => {
  for (const server of started.splice(0)) await server.kill()
})
afterAll(() => etcd?.stop())

interface Prefix {
  readonly name: string
  readonly flags: readonly string[]
}

function newPrefix(): Prefix {
  const name = `copied-${++prefixes}`
  return { name, flags: ['--etcd-endpoints', etcd.endpoints.join(','), '--etcd-prefix', name] }
}

async function onDirectory(dataDir = temporaryDirectory('data-'), settings = {}): Promise<Waypost> {
  const server = await startWaypost({ dataDir, settings: { auth: 'off', ...settings } })
  started.push(server)
  return server
}

async function onEtcd({ name }: Prefix): Promise<Waypost> {
  const place = { 'etcd-endpoints': etcd.endpoints.join(','), 'etcd-prefix': name }
  const server = await startWaypost({
    settings: { auth: 'off', store: 'etcd', ...place, 'peer-port': await freePort() },
  })
  started.push(server)
  return server
}

async function run(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runWaypost(args, {}, LIMIT_MS / 2)
  expect([code, stderr.includes('waypost:') ? stderr : ''], stderr + stdout).toEqual([0, expect.any(String)])
  return stdout
}

async function post(
  url: string,
  path: string,
  form: Record<string, string | number | boolean>,
): Promise<void> {
  const body = new URLSearchParams(
    Object.fromEntries(Object.entries(form).map(([name, value]) => [name, String(value)])),
  )
  const answer = await fetch(`${url}/svc/v1${path}`, { method: 'POST', body })
  expect([answer.status, answer.status === 200 ? '' : await answer.text()]).toEqual([200, ''])
}

/** Items with cut history, large contents, gray versions, deletions and new creations; services, instances, a namespace. */
async function fillServer({ url }: Waypost): Promise<void> {
  const publish = (dataId: string, content: string, more = {}): Promise<void> =>
    post(url, '/cs/configs', { dataId, group: 'g', content, ...more })
  const remove = async (dataId: string): Promise<void> => {
    await fetch(`${url}/svc/v1/cs/configs?dataId=${dataId}&group=g`, { method: 'DELETE' })
  }
  for (const name of ['z', 'a', 'm:e-e_x', 'b'])
    await publish(name, `first of ${name}`, { desc: 'd', config_tags: 't,u' })
  for (let version = 0; version < 30; version++)
    await publish('cut', `${version} `.padEnd(200_000, 'x'), { type: 'json' })
  for (const letter of ['l', 'L', 'l']) await publish('large', letter.repeat(1_500_000))
  for (const [grayName, text] of [
    ['small', 'one'],
    ['small', 'two'],
    ['large', 'ä'.repeat(700_000)],
    ['large', 'ö'.repeat(900_000)],
    ['ended', 'x'.repeat(100_000)],
  ]) {
    const rule = { grayType: 'tagv2', grayMatchRuleExp: `env=${grayName}`, comment: 'why' }
    await post(url, '/cs/configs/gray', {
      dataId: 'b',
      group: 'g',
      content: text!,
      grayName: grayName!,
      ...rule,
    })
  }
  await fetch(`${url}/svc/v1/cs/configs/gray?dataId=b&group=g&grayName=ended`, { method: 'DELETE' })
  await publish('gone', 'g'.repeat(400_000))
  await publish('gone', 'before the end')
  await remove('gone')
  await remove('a')
  await publish('a', 'again', { appName: 'app' })
  await post(url, '/console/namespaces', {
    customNamespaceId: 'other',
    namespaceName: 'Other',
    namespaceDesc: 'x',
  })
  await publish('z', 'in another namespace', { tenant: 'other' })
  await post(url, '/ns/service', { serviceName: 'made', protectThreshold: 0.5, metadata: '{"k":"v"}' })
  for (const port of [9, 1, 5])
    await post(url, '/ns/instance', {
      serviceName: 'kept',
      ip: '10.0.0.1',
      port,
      ephemeral: false,
      metadata: '{"b":"1","a":"2"}',
    })
  await post(url, '/ns/instance', { serviceName: 'short', ip: '10.0.0.2', port: 80 })
}

/** The answers of a server about everything that a copy keeps. */
async function answersOf(
  { url }: Waypost,
  imported: readonly string[] = [],
): Promise<Record<string, string>> {
  const answers: Record<string, string> = {}
  const ask = async (path: string): Promise<string> => {
    const text = await (await fetch(`${url}/svc/v1${path}`)).text()
    return (answers[path] = text.replaceAll(/"lastRefTime":\d+/g, ''))
  }
  for (const dataId of ['z', 'a', 'm:e-e_x', 'b', 'cut', 'large', 'gone', ...imported]) {
    const item = `dataId=${encodeURIComponent(dataId)}&group=g`
    await ask(`/cs/configs?${item}`)
    await ask(`/cs/configs?${item}&show=all`)
    const page = JSON.parse(await ask(`/cs/history?${item}&search=accurate&pageNo=1&pageSize=100`)) as {
      pageItems: { id: string }[]
    }
    expect(page, dataId).toHaveProperty('pageItems')
    for (const { id } of page.pageItems) await ask(`/cs/history?${item}&nid=${id}`)
  }
  await ask('/cs/configs?search=blur&dataId=*&group=*&pageNo=1&pageSize=50')
  await ask('/cs/configs?dataId=z&group=g&tenant=other')
  await ask('/cs/configs/gray?namespaceId=*')
  for (const name of ['small', 'large'])
    await ask(`/cs/configs/gray/version?dataId=b&group=g&grayName=${name}`)
  await ask('/console/namespaces')
  await ask('/ns/service?serviceName=made')
  await ask('/ns/instance/list?serviceName=kept')
  return answers
}

/** Items with the history of another server: small and large texts, and one that is deleted there. */
async function importHistory(waypost: Waypost): Promise<void> {
  const atMs = Date.now() - 60_000
  const lines = IMPORTED.flatMap((bytes, item) => {
    const dataId = `imported-${bytes}`
    const records = ['I', 'U', 'U'].map((op, at) =>
      historyLine(dataId, `${item * 10 + at + 1}`, {
        group: 'g',
        op,
        content: `${at}`.padEnd(bytes, 'y'),
        atMs: atMs + at,
      }),
    )
    const times = { createdMs: atMs, modifiedMs: atMs + 9 }
    return [...records, configLine(dataId, { group: 'g', content: 'now', ...times })]
  })
  const tokenOf = async (): Promise<string> => {
    const body = new URLSearchParams({ username: 'ada', password: PASSWORD })
    const login = await fetch(`${waypost.url}/svc/v1/auth/login`, { method: 'POST', body })
    return ((await login.json()) as { accessToken: string }).accessToken
  }
  expect(await sendPlan({ waypost, tokenOf }, planOf(lines))).toMatchObject({
    status: 200,
    json: { lines: [] },
  })
}

const namesOf = async ({ url }: Waypost, serviceName: string): Promise<number> =>
  (
    (await (await fetch(`${url}/svc/v1/ns/instance/list?serviceName=${serviceName}`)).json()) as {
      hosts: unknown[]
    }
  ).hosts.length

describe.skipIf(etcdTools.skip)('copy-store', () => {
  test('from a directory into etcd and back, servers answer the same', { timeout: LIMIT_MS }, async () => {
    const first = await onDirectory(undefined, { 'history-max-bytes-item': '4MiB' })
    await fillServer(first)
    const expected = await answersOf(first)
    expect(
      JSON.parse(expected['/cs/history?dataId=cut&group=g&search=accurate&pageNo=1&pageSize=100']!)
        .totalCount,
    ).toBeLessThan(25)
    const backup = join(temporaryDirectory('backup-'), 'made')
    await run('backup', '--server', first.url, '--to', backup)
    await first.stop()
    addUser(first.dataDir, 'ada')

    const prefix = newPrefix()
    await run('copy-store', '--from', first.dataDir, '--to', 'etcd', ...prefix.flags)
    expect(JSON.parse(await run('doctor', '--store', 'etcd', ...prefix.flags, '--json')).findings).toEqual([])
    const second = await onEtcd(prefix)
    expect(await answersOf(second)).toEqual(expected)
    expect(await namesOf(second, 'short')).toBe(0)
    expect(await run('user', 'list', ...prefix.flags)).toContain('ada')
    await post(second.url, '/cs/configs', { dataId: 'b', group: 'g', content: 'later' })
    const later = await answersOf(second)
    const ofEtcd = join(temporaryDirectory('backup-'), 'of-etcd')
    await run('backup', ...prefix.flags, '--to', ofEtcd)
    await second.stop()

    const back = join(temporaryDirectory('data-'), 'back')
    await run('copy-store', '--from', 'etcd', '--to', back, ...prefix.flags)
    expect(JSON.parse(await run('doctor', '--data-dir', back, '--json')).findings).toEqual([])
    const third = await onDirectory(back)
    expect(await answersOf(third)).toEqual(later)
    await third.stop()
    expect(await run('user', 'list', '--data-dir', back)).toContain('ada')

    const again = join(temporaryDirectory('data-'), 'restored')
    await run('restore', '--from', ofEtcd, '--data-dir', again)
    const fourth = await onDirectory(again)
    expect(await answersOf(fourth)).toEqual(later)
    const restored = newPrefix()
    await run('restore', '--from', backup, ...restored.flags)
    expect(await answersOf(await onEtcd(restored))).toEqual(expected)
    expect(await secretOf(restored)).not.toBe(await secretOf(prefix))
  })

  test('the history that an import wrote is copied in both directions', { timeout: LIMIT_MS }, async () => {
    const dataDir = temporaryDirectory('data-')
    addUser(dataDir, 'ada')
    const names = IMPORTED.map((bytes) => `imported-${bytes}`)
    const importing = await onDirectory(dataDir, { auth: 'on' })
    await importHistory(importing)
    await importing.stop()
    const first = await onDirectory(dataDir)
    const expected = await answersOf(first, names)
    expect(
      JSON.parse(expected[`/cs/history?dataId=${names[0]}&group=g&search=accurate&pageNo=1&pageSize=100`]!),
    ).toHaveProperty('totalCount', 4)
    await first.stop()
    const prefix = newPrefix()
    await run('copy-store', '--from', dataDir, '--to', 'etcd', ...prefix.flags)
    expect(JSON.parse(await run('doctor', '--store', 'etcd', ...prefix.flags, '--json')).findings).toEqual([])
    const second = await onEtcd(prefix)
    expect(await answersOf(second, names)).toEqual(expected)
    await second.stop()
    const back = join(temporaryDirectory('data-'), 'back')
    await run('copy-store', '--from', 'etcd', '--to', back, ...prefix.flags)
    expect(JSON.parse(await run('doctor', '--data-dir', back, '--json')).findings).toEqual([])
    expect(await answersOf(await onDirectory(back), names)).toEqual(expected)
  })

  test(
    'a copy that was killed is continued, and no server starts before it is whole',
    { timeout: LIMIT_MS },
    async () => {
      const directory = await manyItems()
      const prefix = newPrefix()
      const there = ['copy-store', '--from', directory, '--to', 'etcd', ...prefix.flags]
      await killed(there, async () => (await keysOf(prefix)) > 6_000)
      expect((await onEtcd(prefix).catch(String)) as string).toContain('half filled')
      const other = await runWaypost([
        'copy-store',
        '--from',
        temporaryDirectory('data-'),
        '--to',
        'etcd',
        ...prefix.flags,
      ])
      expect(other.code).toBe(1)
      expect(await run(...there)).toContain('1500 items with 12000 history records')
      expect((await runWaypost(there)).stderr).toContain('already')

      const back = join(temporaryDirectory('data-'), 'back')
      const here = ['copy-store', '--from', 'etcd', '--to', back, ...prefix.flags]
      const log = join(back, '.copy', 'waypost.db-wal')
      await killed(here, () => Promise.resolve(existsSync(log) && statSync(log).size > 2_000_000))
      expect((await onDirectory(back).catch(String)) as string).toContain('half filled')
      expect(await run(...here)).toContain(
        '1500 items with 12000 history records, 0 services, 0 persistent instances and 0 small records, and verified them (continued)',
      )
      expect(JSON.parse(await run('doctor', '--data-dir', back, '--json')).findings).toEqual([])
    },
  )

  test('a copy for which etcd has no room is refused before it begins', { timeout: LIMIT_MS }, async () => {
    const small = await startEtcd({ quotaBytes: 16 * 1024 * 1024 })
    const flags = ['--etcd-endpoints', small.endpoints.join(',')]
    const args = ['copy-store', '--from', await manyItems(), '--to', 'etcd', ...flags]
    const { code, stderr } = await runWaypost(args).finally(() => small.stop())
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/needs about \d+ MiB, and .* has room for \d+ MiB/),
    ])
  })

  test('of two processes that continue a copy, only the last one writes', { timeout: LIMIT_MS }, async () => {
    const prefix = newPrefix()
    const { client, sealing, secretsKey } = opened(prefix)
    const whole = `${prefix.name}/`
    const place = { client, sealing, secretsKey, keys: new Keys(whole), prefix: whole, place: 'etcd' }
    const source = sampleSource({ items: 10, records: 2, bytes: 100 })
    const [part] = source.parts() as Iterable<StoredPart>
    const first = await EtcdTarget.begin(place, source)
    const second = await EtcdTarget.begin(place, source)
    await expect(first.write(part!, {})).rejects.toThrow('Somebody else writes')
    await second.write(part!, { items: { count: 10, sum: 1 } })
    expect((await EtcdTarget.begin(place, source)).written).toEqual({ items: { count: 10, sum: 1 } })
    const other = { ...source, revision: 2 }
    await expect(EtcdTarget.begin(place, other)).rejects.toThrow(
      'half filled by a copy of samples at revision 1',
    )
    client.close()
  })

  test(
    'the doctor of etcd names what is wrong, and a salvage leaves it out',
    { timeout: LIMIT_MS },
    async () => {
      const prefix = newPrefix()
      const server = await onEtcd(prefix)
      await fillServer(server)
      const answers = await answersOf(server)
      await server.stop()
      const { client } = opened(prefix)
      const keys = await client.range({ key: `${prefix.name}/`, end: `${prefix.name}0`, keysOnly: true })
      const oneOf = (start: string): string =>
        keys.kvs.find(({ key }) => key.startsWith(`${prefix.name}/${start}`))!.key
      const gone = [oneOf('v/'), oneOf('x/'), oneOf('s/public/DEFAULT_GROUP@@kept'), oneOf('c/public/g/b')]
      const value = Buffer.from('{"torn\nother')
      const damaged = { do: 'put', key: oneOf('c/public/g/z'), value } as const
      await client.txn({
        compare: [],
        success: [...gone.map((key) => ({ do: 'delete', key }) as const), damaged],
      })
      client.close()
      const { code, stdout } = await runWaypost(['doctor', '--store', 'etcd', ...prefix.flags])
      expect(code).toBe(1)
      for (const part of [
        'record',
        'parts are there',
        'Its service is not there',
        'there is no item',
        'cannot be read',
      ])
        expect(stdout).toContain(part)
      const place = temporaryDirectory('damaged-')
      for (const args of [
        ['backup', '--to', join(place, 'backup')],
        ['copy-store', '--from', 'etcd', '--to', join(place, 'data')],
        ['user', 'list'],
      ]) {
        const ran = await runWaypost([...args, ...prefix.flags])
        expect([args[0], ran.code, ran.stderr]).toEqual([args[0], 1, expect.stringMatching(/damaged/)])
      }
      const before = await entriesOf(prefix)
      const target = join(place, 'salvaged')
      const salvage = ['copy-store', '--salvage', '--from', 'etcd', '--to', target, '--json']
      const ran = await runWaypost([...salvage, ...prefix.flags])
      expect([ran.code, ran.stderr.includes('waypost:')], ran.stderr).toEqual([1, false])
      expect((await entriesOf(prefix)) === before).toBe(true)
      const examined = JSON.parse((await runWaypost(['doctor', '--json', '--data-dir', target])).stdout)
      expect(examined.findings).toEqual([])
      const { leftOut } = JSON.parse(ran.stdout) as {
        leftOut: { count: number; findings: { place: string }[] }
      }
      expect(leftOut.count).toBe(leftOut.findings.length)
      for (const key of [damaged.key, gone[2], gone[3]])
        expect(JSON.stringify(leftOut.findings)).toContain(
          /[^/]*$/.exec(key!)![0].replace('DEFAULT_GROUP@@', ''),
        )
      const after = await answersOf(await onDirectory(target))
      const isLost = (path: string): boolean =>
        /dataId=[zb]&|nid=|kept|search|dataId=large|gray|namespaces/.test(path)
      for (const [path, answer] of Object.entries(answers))
        if (!isLost(path)) expect([path, after[path]]).toEqual([path, answer])
      expect(after['/cs/configs?dataId=z&group=g']).toContain('config-not-found')
    },
  )

  test('a damaged directory is salvaged into etcd', { timeout: LIMIT_MS }, async () => {
    const directory = await sampleStore(20)
    alter(directory, 'DELETE FROM config_item WHERE name_id = 7; DELETE FROM meta')
    const prefix = newPrefix()
    const args = ['copy-store', '--salvage', '--from', directory, '--to', 'etcd', '--json', ...prefix.flags]
    const { code, stdout, stderr } = await runWaypost(args)
    expect([code, JSON.parse(stdout)], stderr).toMatchObject([
      1,
      { counts: { items: 19 }, leftOut: { count: 1 } },
    ])
    expect(JSON.parse(await run('doctor', '--store', 'etcd', ...prefix.flags, '--json')).findings).toEqual([])
    const { url } = await onEtcd(prefix)
    const item = async (at: number) =>
      (await fetch(`${url}/svc/v1/cs/configs?dataId=item-${at}&group=g`)).text()
    expect(await item(5)).toBe(contentOf(5, 3))
    expect(await item(6)).toContain('config-not-found')
  })
})

/** A data directory with 1,500 items and 12,000 records. */
async function manyItems(): Promise<string> {
  const directory = join(temporaryDirectory('data-'), 'many')
  const source = sampleSource({ items: 1_500, records: 8, bytes: 1_500 })
  const target = new DirectoryTarget(directory, source)
  await copyParts(source, target, { leaveOut: (part) => part, onProgress: () => undefined })
  await target.complete()
  await target.release()
  target.close()
  return directory
}

function addUser(dataDir: string, name: string): void {
  const args = ['user', 'add', name, '--admin', '--data-dir', dataDir]
  execFileSync(process.execPath, [MAIN, ...args], { input: `${PASSWORD}\n` })
}

function opened({ name: prefix }: Prefix) {
  const own = `test ${process.pid}`
  const place = { endpoints: etcd.endpoints, prefix, member: own, process: own }
  return openEtcd({ ...place, clock: systemClock, failed: () => undefined })
}

/** All keys, with the revisions of their last changes. */
async function entriesOf(prefix: Prefix): Promise<string> {
  const { client } = opened(prefix)
  const { kvs } = await client.range({ key: `${prefix.name}/`, end: `${prefix.name}0`, keysOnly: true })
  client.close()
  return JSON.stringify(kvs.map(({ key, modRevision }) => [key, modRevision]))
}

async function keysOf(prefix: Prefix): Promise<number> {
  const { client } = opened(prefix)
  const { count } = await client.range({ key: `${prefix.name}/`, end: `${prefix.name}0`, countOnly: true })
  client.close()
  return count
}

async function secretOf(prefix: Prefix): Promise<string | undefined> {
  const { store } = opened(prefix)
  const secret = await store.recall('peer-secret')
  await store.close()
  return secret
}

/** Runs a command, and kills it once the condition holds. */
async function killed(args: readonly string[], isReached: () => Promise<boolean>): Promise<void> {
  const child = spawn(process.execPath, [MAIN, ...args], { stdio: 'ignore' })
  const ended = once(child, 'exit')
  while (child.exitCode === null && !(await isReached())) await sleep(10)
  child.kill('SIGKILL')
  expect(await ended).toEqual([null, 'SIGKILL'])
}
