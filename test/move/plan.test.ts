import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, inject, test } from 'vitest'
import { isThing, type PlanLine } from '../../src/plan/plan.ts'
import { readPlanLine } from '../../src/plan/read-plan.ts'
import { runWaypost } from '../support/waypost.ts'
import { ReplayOfRecordedAnswers, type RecordedVersion } from './replay-of-recorded-answers.ts'

const running: ReplayOfRecordedAnswers[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((replay) => replay.stop()))
})

async function replayOf(version: RecordedVersion): Promise<ReplayOfRecordedAnswers> {
  const replay = await ReplayOfRecordedAnswers.start(version)
  running.push(replay)
  return replay
}

interface MadePlan {
  readonly lines: readonly PlanLine[]
  readonly of: (kind: PlanLine['kind']) => readonly PlanLine[]
  readonly code: number | null
  readonly stdout: string
}

/** Some plans make thousands of calls. By default, 100 are made in a second. */
const QUICK = ['--rate', '10000'] as const
const LIMIT_MS = 60_000

async function planOf(args: readonly string[], env: Record<string, string> = {}): Promise<MadePlan> {
  const file = join(mkdtempSync(join(inject('temporaryDirectory'), 'plan-')), 'old.plan')
  const { code, stdout, stderr } = await runWaypost(
    ['move', ...QUICK, ...args, '--plan', file],
    env,
    LIMIT_MS,
  )
  expect(withoutProgress(stderr)).toBe('')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const texts = readFileSync(file, 'utf8').trimEnd().split('\n')
  const lines = texts.map((text, index) => readPlanLine(text, index + 1))
  expect(code).toBe(
    lines.some((line) => line.kind === 'conflict' || ('missed' in line && line.missed)) ? 1 : 0,
  )
  return { lines, of: (kind) => lines.filter((line) => line.kind === kind), code, stdout }
}

/** A command that takes longer than five seconds says how far it is. */
function withoutProgress(stderr: string): string {
  return stderr
    .replaceAll(/^waypost: waiting for \S+, \d+ s\n/gm, '')
    .replaceAll(/^waypost: [a-z ]+(: [\d,]+( of [\d,]+(, about \S+ \S+ left)?)?)?\n/gm, '')
}

describe('the plan of a server whose answers are replayed', () => {
  test('1.4.8: items with notes, history, beta, services and instances', async () => {
    const replay = await replayOf('1.4.8')
    const { lines, of, stdout } = await planOf(['--from', replay.url])
    expect(lines[0]).toMatchObject({
      sources: [{ url: replay.url, kind: 'java-1', version: '1.4.8' }],
      counts: { namespace: 1, config: 1, gray: 1 },
    })
    expect(of('namespace')).toEqual([{ kind: 'namespace', id: 'shn', name: 'shn', desc: 'd' }])
    expect(of('config')).toEqual([
      {
        kind: 'config',
        namespace: '',
        group: 'G',
        dataId: 'sh.x',
        content: 'a: 2',
        md5: '9de2a49d06deb9c0194660123ef188d8',
        encryptedDataKey: '',
        appName: '',
        type: 'yaml',
        desc: 'd',
        use: null,
        effect: null,
        schema: null,
        tags: 't1',
        createdMs: 1_795_504_574_784,
        modifiedMs: 1_795_504_574_784,
        user: null,
        ip: '127.0.0.1',
      },
    ])
    // Record 1 was not recorded: a server that does not show what it lists.
    expect(of('history')).toMatchObject([
      { oldId: '2', op: 'U', content: 'a: 1', atMs: Date.parse('2026-11-24T07:16:14.784Z'), ip: '127.0.0.1' },
    ])
    expect(of('gray')).toMatchObject([
      { name: 'beta', rule: 'beta', expression: '127.0.0.1,10.0.0.9', content: 'beta: 1', md5: null },
    ])
    expect(of('service')).toEqual([])
    expect(replay.calls.filter(({ call }) => call.includes('catalog/instances'))).toHaveLength(1)
    expect(of('cannot-come')).toMatchObject([
      { about: 'gray', name: 'tag versions' },
      { about: 'history', name: 'deleted items' },
      { about: 'user', reason: 'only shown to an administrator who signs in; give --username' },
      {
        about: 'history',
        name: 'public/G/sh.x 1',
        reason: expect.stringContaining('does not show it'),
      },
      { about: 'service', name: 'public/DEFAULT_GROUP@@shp' },
      { about: 'service', name: 'public/DEFAULT_GROUP@@shs' },
    ])
    expect(stdout).toContain(' 1  config\n')
  })

  test('says what the clock of the server shows, also where it is ahead', async () => {
    const replay = await replayOf('2.5.1')
    replay.clockAheadMs = 30_000
    const { lines } = await planOf(['--from', replay.url])
    const [head] = lines
    if (head?.kind !== 'plan') throw new Error('no head')
    expect(head.endedMs).toBeGreaterThanOrEqual(head.madeMs)
    expect(head.lastRefMs - head.endedMs).toBeGreaterThanOrEqual(30_000)
  })

  test('2.5.1: ephemeral instances where they are asked for, and no gray records', async () => {
    const replay = await replayOf('2.5.1')
    const { of } = await planOf(['--from', replay.url, '--ephemeral'])
    expect(of('instance')).toMatchObject([
      { service: 'sh', ip: '1.1.1.1', port: 80, ephemeral: true, metadata: { k: 'v' }, enabled: true },
      { service: 'sh', ip: '1.1.1.2', port: 80, ephemeral: true, weight: 2.5, enabled: false },
    ])
    expect(of('history')).toMatchObject([{ oldId: '2', op: 'U', type: 'yaml' }])
    expect(of('remark')).toMatchObject([
      { about: 'history', name: 'public/G/sh.x', reason: '2 records of gray versions are left out' },
    ])
    expect(of('gray')).toMatchObject([{ name: 'beta', md5: '3085aac3f057c5dcaf2fe3df1e012707' }])
    const without = await planOf(['--from', replay.url])
    expect(without.of('instance')).toEqual([])
    expect(without.stdout).toContain('are left out: 2 of public/DEFAULT_GROUP@@sh: their clients register')
  })

  test('3.0.3: the admin interface, with users and their hashes', async () => {
    const replay = await replayOf('3.0.3-admin')
    const { of } = await planOf(['--from', replay.url, '--administrators', 'u1,ann'])
    expect(of('config')).toMatchObject([{ dataId: 'sh.x', content: 'a: 2', appName: 'app', tags: 't1' }])
    expect(of('gray')).toMatchObject([
      { rule: 'beta', expression: '127.0.0.1,10.0.0.9', priority: 2_147_483_647 },
    ])
    expect(of('service')).toMatchObject([
      { group: 'G', name: 'sh', protectThreshold: 0.5, metadata: { a: 'b' }, ephemeral: true, clusters: [] },
    ])
    expect(of('user')).toEqual([
      { kind: 'user', username: 'nacos', passwordHash: expect.stringMatching(/^\$2a\$10\$/), enabled: true },
      { kind: 'user', username: 'u1', passwordHash: expect.stringMatching(/^\$2a\$10\$/), enabled: true },
    ])
    expect(of('role')).toEqual([
      { kind: 'role', username: 'u1', role: 'R' },
      { kind: 'role', username: 'u1', role: 'ROLE_ADMIN' },
    ])
    expect(of('cannot-come')).toContainEqual(
      expect.objectContaining({ about: 'role', name: 'ann ROLE_ADMIN', missed: true }),
    )
    expect(of('permission')).toEqual([{ kind: 'permission', role: 'R', resource: 'public:*:*', action: 'r' }])
    expect(of('cannot-come')).toContainEqual(
      expect.objectContaining({ about: 'role', name: 'nacos ROLE_ADMIN' }),
    )
  })
})

describe('an old server that answers badly', () => {
  test('is asked again, and the error says which call has failed', async () => {
    const replay = await replayOf('1.4.8')
    let left = 2
    replay.instead.set(LIST, () => (left-- > 0 ? { status: 503, body: 'busy' } : { status: 200, body: PAGE }))
    const { of } = await planOf(['--from', replay.url])
    expect(of('config')).toHaveLength(1)
    replay.instead.set(LIST, () => ({ status: 503, body: 'busy' }))
    const missing = async (): Promise<unknown> => {
      const { of: those } = await planOf(['--from', replay.url])
      return those('cannot-come').find((line) => 'name' in line && line.name === 'items of public')
    }
    expect(await missing()).toMatchObject({
      reason: expect.stringMatching(/^GET http:\S+\/v1\/cs\/configs\?search=accurate\S* answers 503: busy$/),
      missed: true,
    })
    replay.instead.set(LIST, () => ({ status: 200, body: '{"totalCount":1,"pageItems":[{"dat' }))
    expect(await missing()).toMatchObject({
      reason: expect.stringMatching(/GET http:\S+search=accurate\S* answers no JSON/),
    })
  })

  test.each([429, 500, 502, 503, 504])('with %s is asked again after a pause', async (status) => {
    const replay = await replayOf('1.4.8')
    let left = 2
    replay.instead.set(LIST, () => (left-- > 0 ? { status, body: 'later' } : { status: 200, body: PAGE }))
    const { of } = await planOf(['--from', replay.url, '--history', 'none'])
    expect(of('config')).toMatchObject([{ dataId: 'sh.x' }])
    expect(replay.calls.filter(({ call }) => call.includes(LIST))).toHaveLength(3)
  })

  test('in halves or in small pieces is read whole, or not at all', async () => {
    const replay = await replayOf('1.4.8')
    let left = 2
    replay.instead.set(LIST, () =>
      left-- > 0 ? { status: 200, body: PAGE, sent: 'half' } : { status: 200, body: PAGE, sent: 'slowly' },
    )
    const { of } = await planOf(['--from', replay.url, '--history', 'none'])
    expect(of('config')).toMatchObject([{ dataId: 'sh.x', content: 'a: 2' }])
    replay.instead.set(LIST, () => ({ status: 200, body: PAGE, sent: 'half' }))
    const halves = await planOf(['--from', replay.url])
    expect(halves.of('cannot-come')).toContainEqual(
      expect.objectContaining({
        name: 'items of public',
        reason: expect.stringMatching(/search=accurate\S* has no answer after 4 tries/),
      }),
    )
  })

  test('that shows another item for a name, because its database is blind for case, has a line for it', async () => {
    const replay = await replayOf('1.4.8')
    const items = ['App', 'app'].map((dataId) => ({ dataId, group: 'G', tenant: '' }))
    const body = JSON.stringify({ totalCount: 2, pageItems: items })
    replay.instead.set(LIST, () => ({ status: 200, body }))
    replay.instead.set('show=all&dataId=', () => ({
      status: 200,
      body: '{"dataId":"App","group":"G","content":"x"}',
    }))
    const { of } = await planOf(['--from', replay.url, '--history', 'none'])
    expect(of('config')).toMatchObject([{ dataId: 'App', content: 'x' }])
    expect(of('cannot-come')).toContainEqual({
      kind: 'cannot-come',
      about: 'config',
      name: 'public/G/app',
      reason: 'the server shows G/App for it: its database compares names without case',
      missed: true,
    })
  })

  test('has a line for what it does not answer, for what is of other bytes, and for a short list', async () => {
    const replay = await replayOf('1.4.8')
    const names = ['sh.x', 'broken', 'latin', '日本']
    const items = names.map((dataId) => ({ dataId, group: 'G', tenant: '', content: '', md5: null }))
    replay.instead.set(LIST, () => ({
      status: 200,
      body: JSON.stringify({ totalCount: 9, pageItems: items }),
    }))
    replay.instead.set('show=all&dataId=broken', () => ({ status: 500, body: 'caused: SQL' }))
    replay.instead.set('show=all&dataId=latin', () => ({
      status: 200,
      body: Buffer.from('{"content":"\xe4"}', 'latin1'),
    }))
    replay.instead.set('show=all&dataId=日本', () => ({
      status: 200,
      body: JSON.stringify({ content: 'ä', md5: '1234567890123456789012345678901' }),
    }))
    const { of } = await planOf(['--from', replay.url, '--history', 'none'])
    expect(of('config')).toMatchObject([{ dataId: 'sh.x' }, { dataId: '日本', content: 'ä' }])
    expect(of('remark').slice(0, 2)).toMatchObject([
      { about: 'config', name: 'items of public', reason: 'the server says 9, and lists 4' },
      {
        about: 'config',
        name: 'public/G/日本',
        reason: expect.stringMatching(/^the md5 of the source, 12345/),
      },
    ])
    expect(of('cannot-come').filter((line) => 'about' in line && line.about === 'config')).toMatchObject([
      { name: 'public/G/broken', reason: expect.stringMatching(/dataId=broken.* answers 500: caused: SQL/) },
      { name: 'public/G/latin', reason: expect.stringMatching(/dataId=latin.* is not UTF-8/) },
    ])
  })

  test('keeps nothing of a plan that is not whole', async () => {
    const replay = await replayOf('1.4.8')
    replay.instead.set('/v1/console/namespaces', () => ({ status: 403, body: 'no' }))
    const directory = mkdtempSync(join(inject('temporaryDirectory'), 'plan-'))
    const { code, stderr } = await runWaypost(['move', '--from', replay.url, '--plan', join(directory, 'p')])
    expect(code).toBe(2)
    expect(stderr).toContain(`${replay.url} wants a sign-in: give --username`)
    expect(readdirSync(directory)).toEqual([])
  })

  test('that is none is named, with what was tried', async () => {
    const replay = await replayOf('1.4.8')
    replay.instead.set('/', () => ({ status: 404, body: '' }))
    expect(await failureOf(['--from', replay.url])).toMatch(
      /is no server that this command knows[^]*server\/state answers 404/,
    )
  })
})

test('an encrypted item comes as plain text, or as ciphertext with its key, and the plan says which', async () => {
  const replay = await replayOf('2.5.1')
  const items = ['cipher-a', 'cipher-b'].map((dataId) => ({ dataId, group: 'G' }))
  replay.instead.set(LIST, () => ({
    status: 200,
    body: JSON.stringify({ totalCount: 2, pageItems: items }),
  }))
  const stored = createHash('md5').update('stored').digest('hex')
  for (const [dataId, content] of [
    ['cipher-a', 'plain'],
    ['cipher-b', 'stored'],
  ])
    replay.instead.set(`show=all&dataId=${dataId}`, () => ({
      status: 200,
      body: JSON.stringify({ content, md5: stored, encryptedDataKey: 'key' }),
    }))
  const { of } = await planOf(['--from', replay.url, '--history', 'none'])
  expect(of('config')).toMatchObject([
    { dataId: 'cipher-a', content: 'plain', encryptedDataKey: '', md5: null },
    { dataId: 'cipher-b', content: 'stored', encryptedDataKey: 'key', md5: stored },
  ])
  expect(of('remark').slice(0, 2)).toMatchObject([
    { name: 'public/G/cipher-a', reason: expect.stringContaining('plain text') },
    { name: 'public/G/cipher-b', reason: expect.stringContaining('with its key') },
  ])
})

test('a list is read to its end, whatever its total and its pages say', async () => {
  const replay = await replayOf('1.4.8')
  const names = Array.from({ length: 1_300 }, (_, index) => ({ dataId: `i\n${index}`, group: 'G' }))
  replay.instead.set(LIST, (call) => {
    const pageNo = Number(/pageNo=(\d+)/.exec(call)![1])
    return {
      status: 200,
      body: JSON.stringify({ totalCount: 3, pageItems: names.slice((pageNo - 1) * 500, pageNo * 500) }),
    }
  })
  replay.instead.set('show=all&dataId=i', () => ({ status: 404, body: '' }))
  const { of, stdout } = await planOf(['--from', replay.url, '--history', 'none'])
  expect(of('cannot-come').filter((line) => 'about' in line && line.about === 'config')).toHaveLength(1_300)
  // A name cannot make lines of its own.
  expect(stdout).toContain('config public/G/i\\x0a0: ')
  expect(stdout).toMatch(/… and 1,\d+ more such lines in the file/)
})

test('users come in pages, whatever the total says', async () => {
  const replay = await replayOf('3.0.3-admin')
  const hash = `$2a$10$${'a'.repeat(53)}`
  const users = Array.from({ length: 1_203 }, (_, index) => ({ username: `u${index}`, password: hash }))
  replay.instead.set('/v3/auth/user/list', (call) => {
    const pageNo = Number(/pageNo=(\d+)/.exec(call)![1])
    const pageItems = users.slice((pageNo - 1) * 500, pageNo * 500)
    return { status: 200, body: JSON.stringify({ code: 0, data: { totalCount: 600, pageItems } }) }
  })
  const { of } = await planOf(['--from', replay.url, '--history', 'none'])
  expect(of('user')).toHaveLength(1_203)
})

test('ephemeral instances of all nodes are united', async () => {
  const [first, second] = [await replayOf('2.5.1'), await replayOf('2.5.1')]
  const instance = { ip: '1.1.1.1', port: 80, clusterName: 'DEFAULT', ephemeral: true, weight: 3 }
  const other = { ...instance, ip: '1.1.1.9', weight: 1 }
  second.instead.set('catalog/instances', () => ({
    status: 200,
    body: JSON.stringify({ count: 2, list: [instance, other] }),
  }))
  const { of } = await planOf(['--from', first.url, '--from', second.url, '--ephemeral'])
  expect(of('instance')).toMatchObject([{ ip: '1.1.1.1', weight: 1 }, { ip: '1.1.1.2' }, { ip: '1.1.1.9' }])
  expect(of('conflict')).toMatchObject([
    { about: 'instance', name: 'public/DEFAULT_GROUP@@sh 1.1.1.1:80#DEFAULT' },
  ])
})

test('a password is not in arguments, and a token is not in URLs', async () => {
  const replay = await replayOf('1.4.8')
  expect(await failureOf(['--from', replay.url.replace('://', '://nacos:secret@')])).toMatch(
    /without a user, a password/,
  )
  replay.instead.set('/v1/auth/login', () => ({
    status: 200,
    body: '{"accessToken":"t0ken","tokenTtl":18000}',
  }))
  await planOf(['--from', replay.url, '--username', 'nacos'], { WAYPOST_FROM_PASSWORD: 'secret' })
  expect(replay.calls.filter(({ token }) => token === 't0ken').length).toBeGreaterThan(5)
  expect(replay.calls.filter(({ call }) => /t0ken|secret/.test(call))).toEqual([])
})

test('a second plan has only what has changed since the first, and does not read its records again', async () => {
  const replay = await replayOf('2.5.1')
  const first = join(mkdtempSync(join(inject('temporaryDirectory'), 'plan-')), 'first.plan')
  await runWaypost(['move', ...QUICK, '--from', replay.url, '--plan', first])
  const readRecords = () => replay.calls.filter(({ call }) => call.includes('nid=2')).length
  expect(readRecords()).toBe(1)
  replay.instead.set('/v1/console/namespaces', () => ({
    status: 200,
    body: '{"data":[{"namespace":"new","namespaceShowName":"n","namespaceDesc":"d"}]}',
  }))
  const { lines, stdout } = await planOf(['--from', replay.url, '--since', first])
  expect(lines.filter(isThing)).toEqual([{ kind: 'namespace', id: 'new', name: 'n', desc: 'd' }])
  expect(readRecords()).toBe(1)
  expect(stdout).toMatch(/ [1-9]\d* {2}as in the earlier plan, left out\n/)
})

/** The list of items of the default namespace. */
const LIST = '/v1/cs/configs?search=accurate&dataId=&group=&tenant=&'

/** The names of the one item, as a list has them. */
const PAGE = '{"totalCount":1,"pageItems":[{"dataId":"sh.x","group":"G"}]}'

async function failureOf(args: readonly string[]): Promise<string> {
  const file = join(mkdtempSync(join(inject('temporaryDirectory'), 'plan-')), 'old.plan')
  const { code, stderr } = await runWaypost(['move', ...args, '--plan', file])
  expect(code).toBe(2)
  return stderr
}
