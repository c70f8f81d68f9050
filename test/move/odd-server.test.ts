/** A plan of an old server that answers oddly in the middle, and runs that meet or end early. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, inject, test, vi } from 'vitest'
import type { PlanLine } from '../../src/plan/plan.ts'
import { readPlanLine } from '../../src/plan/read-plan.ts'
import { MAIN, runWaypost } from '../support/waypost.ts'
import { type RecordedVersion, ReplayOfRecordedAnswers } from './replay-of-recorded-answers.ts'

const LIMIT_MS = 60_000
/** The list of items of the default namespace, of 1.x. */
const LIST = '/v1/cs/configs?search=accurate&dataId=&group=&tenant=&'
/** The code of a plan that lacks something: the answers to some calls, such as that for users, were not recorded. */
const INCOMPLETE = 1
const WITHOUT_HISTORY = ['--history', 'none'] as const

const running: ReplayOfRecordedAnswers[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((replay) => replay.stop()))
})

async function replayOf(version: RecordedVersion): Promise<ReplayOfRecordedAnswers> {
  const replay = await ReplayOfRecordedAnswers.start(version)
  running.push(replay)
  return replay
}

const newFile = (): string => join(mkdtempSync(join(inject('temporaryDirectory'), 'odd-')), 'plan')

async function planOf(args: readonly string[], file = newFile()) {
  const env = { WAYPOST_FROM_PASSWORD: 'secret' }
  const made = await runWaypost(['move', '--rate', '10000', ...args, '--plan', file], env, LIMIT_MS)
  const texts = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : []
  const lines = texts.map((text, index) => readPlanLine(text, index + 1))
  return { ...made, lines, of: (kind: PlanLine['kind']) => lines.filter((line) => line.kind === kind) }
}

/** The items of a list, and each by its name. */
function hasItems(replay: ReplayOfRecordedAnswers, names: readonly string[]): void {
  replay.instead.set(LIST, (call) => {
    const query = new URL(call, 'http://replay').searchParams
    const size = Number(query.get('pageSize'))
    const begin = (Number(query.get('pageNo')) - 1) * size
    const pageItems = names.slice(begin, begin + size).map((dataId) => ({ dataId, group: 'G' }))
    return { status: 200, body: JSON.stringify({ totalCount: names.length, pageItems }) }
  })
  for (const name of names)
    replay.instead.set(`show=all&dataId=${name}&`, () => ({ status: 200, body: '{"content":"x"}' }))
}

/** Reasons by the names of things that cannot come. */
function notComing(lines: readonly PlanLine[]): Record<string, string> {
  return Object.fromEntries(
    lines.flatMap((line) =>
      line.kind === 'cannot-come' && line.about === 'config' ? [[line.name, line.reason]] : [],
    ),
  )
}

describe('an old server', () => {
  test('that has a page of large contents is asked for smaller ones, and no item is missed', async () => {
    const replay = await replayOf('1.4.8')
    const names = Array.from({ length: 62 }, (_, index) => `i${index}`)
    hasItems(replay, names)
    const list = replay.instead.get(LIST)!
    // Three of the items are large: only pages of one have not too much.
    replay.instead.set(LIST, (call, body) => {
      const size = Number(/pageSize=(\d+)/.exec(call)![1])
      const first = (Number(/pageNo=(\d+)/.exec(call)![1]) - 1) * size
      const isLarge = size > 1 && first + size > 53
      return isLarge ? { status: 413, body: 'too large' } : list(call, body)
    })
    const { code, of } = await planOf(['--from', replay.url, ...WITHOUT_HISTORY])
    expect(code).toBe(INCOMPLETE)
    expect(of('config').map((line) => 'dataId' in line && line.dataId)).toEqual(names)
  })

  test('whose body does not end has a line, and what else there is comes', async () => {
    const replay = await replayOf('1.4.8')
    hasItems(replay, ['whole', 'endless'])
    replay.instead.set('show=all&dataId=endless&', () => ({ status: 200, body: 'x', sent: 'endlessly' }))
    const { code, lines } = await planOf(['--from', replay.url, ...WITHOUT_HISTORY])
    expect(code).toBe(INCOMPLETE)
    expect(notComing(lines)).toEqual({
      'public/G/endless': expect.stringMatching(/answers more than 67108864 bytes$/),
    })
    replay.instead.set(LIST, () => ({ status: 200, body: 'x', sent: 'endlessly' }))
    const withoutList = await planOf(['--from', replay.url, ...WITHOUT_HISTORY])
    expect(notComing(withoutList.lines)).toEqual({
      'items of public': expect.stringContaining('answers more than'),
    })
    expect(withoutList.of('namespace')).toHaveLength(1)
  })

  test('that answers a page of HTML or sends elsewhere has a line with the call, and nobody else is asked', async () => {
    const [replay, elsewhere] = [await replayOf('1.4.8'), await replayOf('1.4.8')]
    hasItems(replay, ['whole', 'page', 'moved', 'forbidden'])
    replay.instead.set('show=all&dataId=page&', () => ({ status: 200, body: '<html>Sign in</html>' }))
    replay.instead.set('show=all&dataId=moved&', () => ({
      status: 302,
      body: '',
      headers: { location: `${elsewhere.url}/v1/cs/configs` },
    }))
    replay.instead.set('show=all&dataId=forbidden&', () => ({ status: 403, body: 'no' }))
    const { of, lines } = await planOf(['--from', replay.url, ...WITHOUT_HISTORY])
    expect(of('config')).toMatchObject([{ dataId: 'whole' }])
    expect(notComing(lines)).toEqual({
      'public/G/page': expect.stringMatching(/dataId=page\S* answers no JSON: "<html>/),
      'public/G/moved': expect.stringMatching(/dataId=moved\S* answers 302/),
      'public/G/forbidden': expect.stringMatching(/dataId=forbidden\S* answers 403: no/),
    })
    expect(elsewhere.calls).toEqual([])
  })

  test('that says nothing about most things ends with 1, and with 0 where only what never comes is missing', async () => {
    const replay = await replayOf('2.5.1')
    hasItems(replay, ['one'])
    const none = { status: 200, body: '{"serviceList":[],"count":0}' }
    replay.instead.set('/v1/ns/catalog/services', () => none)
    const args = ['--from', replay.url, ...WITHOUT_HISTORY] as const
    const whole = await planOf([...args, '--output', 'json'])
    expect({ code: whole.code, ...JSON.parse(whole.stdout) }).toMatchObject({ code: 0, missed: 0 })
    expect(whole.of('cannot-come')).toHaveLength(2)
    replay.instead.set('/v1/ns/catalog/services', () => ({ status: 403, body: 'no' }))
    replay.instead.set('show=all&dataId=one&', () => ({ status: 500, body: 'no' }))
    const { code, stdout, of } = await planOf(args)
    expect(code).toBe(1)
    expect(stdout).toMatch(/not whole: 3 of these lines/)
    expect(of('cannot-come')).toMatchObject([
      {},
      {},
      { name: 'public/G/one' },
      { name: 'services of public' },
      {},
    ])
  })

  test.each([401, 403])(
    'that shows users and switches only to some (%s) ends with 1 for an account, and with 0 where none was given',
    async (status) => {
      const replay = await replayOf('2.5.1')
      hasItems(replay, [])
      replay.instead.set('/v1/ns/catalog/services', () => ({
        status: 200,
        body: '{"serviceList":[],"count":0}',
      }))
      const hidden = ['/v1/auth/users?', '/v1/ns/operator/switches']
      for (const path of hidden) replay.instead.set(path, () => ({ status, body: 'no' }))
      replay.instead.set('/v1/auth/login', () => ({
        status: 200,
        body: '{"accessToken":"t","tokenTtl":18000}',
      }))
      const ofHidden = (lines: readonly PlanLine[]) =>
        lines.filter((line) => 'about' in line && ['user', 'switch'].includes(line.about))
      const args = ['--from', replay.url, ...WITHOUT_HISTORY] as const
      const asNobody = await planOf(args)
      const reason = 'only shown to an administrator who signs in; give --username'
      expect(asNobody.code, asNobody.stdout).toBe(0)
      expect(ofHidden(asNobody.lines)).toEqual([
        { kind: 'cannot-come', about: 'switch', name: 'all', reason },
        { kind: 'cannot-come', about: 'user', name: 'users, roles and permissions', reason },
      ])
      const asUser = await planOf([...args, '--username', 'ann'])
      expect(asUser.code).toBe(1)
      const text = expect.stringContaining('the server does not show them to this account')
      expect(ofHidden(asUser.lines)).toMatchObject([
        { about: 'switch', missed: true, reason: text },
        { about: 'user', missed: true, reason: text },
      ])
    },
  )

  test('of Rust that has broken metadata of a service has a line for it, and the others come', async () => {
    const replay = await replayOf('1.4.8')
    hasItems(replay, [])
    replay.instead.set('/v1/console/server/state', () => ({ status: 404, body: '' }))
    replay.instead.set('/v1/ns/operator/switches', () => ({ status: 200, body: '{"name":"R-NACOS"}' }))
    const serviceList = ['{"a":', '{"a":"b"}'].map((metadata, index) => ({
      name: `s${index}`,
      groupName: 'G',
      metadata,
    }))
    replay.instead.set('/v1/ns/catalog/services', () => ({
      status: 200,
      body: JSON.stringify({ serviceList, count: 2 }),
    }))
    const { code, of } = await planOf(['--from', replay.url])
    expect(code).toBe(INCOMPLETE)
    expect(of('service')).toMatchObject(
      ['', 'shn'].map((namespace) => ({ namespace, name: 's1', metadata: { a: 'b' } })),
    )
    expect(of('cannot-come').filter((line) => 'missed' in line && line.missed)).toMatchObject([
      { name: 'public/G@@s0', reason: 'its metadata is no JSON: "{\\"a\\":"; nor do its instances' },
      { name: 'shn/G@@s0' },
    ])
  })

  test('with a node that was not given has a line, where ephemeral instances are asked for', async () => {
    const replay = await replayOf('2.5.1')
    const data = ['UP', 'UP', 'DOWN'].map((state, index) => ({ ip: `10.0.0.${index}`, port: 8848, state }))
    replay.instead.set('/v1/core/cluster/nodes', () => ({
      status: 200,
      body: JSON.stringify({ code: 200, data }),
    }))
    const lineOf = async (...more: readonly string[]) => {
      const { of } = await planOf(['--from', replay.url, ...WITHOUT_HISTORY, ...more])
      return of('remark').filter((line) => 'name' in line && line.name === 'servers of the cluster')
    }
    expect(await lineOf('--ephemeral')).toMatchObject([
      { reason: expect.stringContaining('the cluster has 2 servers, and 1 were given'), missed: true },
    ])
    expect(await lineOf()).toEqual([])
    expect(await lineOf('--ephemeral', '--from', replay.url)).toEqual([])
  })

  test('behind a proxy that has another clock shows its own by a list', async () => {
    const replay = await replayOf('2.5.1')
    replay.instead.set('/v1/ns/instance/list', () => ({
      status: 200,
      body: JSON.stringify({ hosts: [], lastRefTime: Date.now() + 45_000 }),
    }))
    const { lines } = await planOf(['--from', replay.url, ...WITHOUT_HISTORY])
    const [head] = lines
    if (head?.kind !== 'plan') throw new Error('no head')
    expect(head.lastRefMs - head.endedMs).toBeGreaterThanOrEqual(40_000)
  })

  test('of 3.x that answers a page of HTML has a line with the call too', async () => {
    const replay = await replayOf('3.0.3-admin')
    replay.instead.set('/v3/admin/cs/config?dataId=sh.x', () => ({ status: 200, body: '<html>' }))
    const { code, lines } = await planOf(['--from', replay.url, ...WITHOUT_HISTORY])
    expect(code).toBe(INCOMPLETE)
    expect(notComing(lines)).toMatchObject({
      'public/G/sh.x': expect.stringMatching(/dataId=sh.x\S* answers no JSON: "<html>"/),
    })
  })

  test('that forgets its tokens in the middle is signed in to again, once', async () => {
    const replay = await replayOf('1.4.8')
    hasItems(
      replay,
      Array.from({ length: 40 }, (_, index) => `i${index}`),
    )
    let signIns = 0
    replay.instead.set('/v1/auth/login', () => ({
      status: 200,
      body: JSON.stringify({ accessToken: `t${++signIns}`, tokenTtl: 18_000 }),
    }))
    let isForgotten = false
    replay.instead.set('show=all&dataId=i20&', () => {
      isForgotten = true
      return { status: 200, body: '{"content":"x"}' }
    })
    replay.refuses = (token) => isForgotten && token === 't1'
    const { code, of, lines } = await planOf([
      '--from',
      replay.url,
      '--username',
      'nacos',
      ...WITHOUT_HISTORY,
    ])
    expect(code).toBe(INCOMPLETE)
    expect(notComing(lines)).toEqual({})
    expect(of('config')).toHaveLength(40)
    expect(signIns).toBe(2)
  })

  test('that no longer signs the account in ends the run, and leaves no plan', async () => {
    const replay = await replayOf('1.4.8')
    hasItems(replay, ['one', 'two', 'three'])
    let signIns = 0
    replay.instead.set('/v1/auth/login', () =>
      signIns++ > 0
        ? { status: 403, body: 'no' }
        : { status: 200, body: '{"accessToken":"t","tokenTtl":18000}' },
    )
    let isForgotten = false
    replay.instead.set('show=all&dataId=one&', () => {
      isForgotten = true
      return { status: 200, body: '{"content":"x"}' }
    })
    replay.refuses = () => isForgotten
    const { code, lines, stderr } = await planOf([
      '--from',
      replay.url,
      '--username',
      'nacos',
      ...WITHOUT_HISTORY,
    ])
    expect({ code, lines }).toEqual({ code: 2, lines: [] })
    expect(stderr).toContain('does not sign in nacos: the password is wrong')
  })

  test('of whose nodes one is down is named, and no plan is left: its instances would be missing', async () => {
    const [replay, down] = [await replayOf('2.5.1'), await replayOf('2.5.1')]
    const { url } = down
    await down.stop()
    const { code, stderr, lines } = await planOf(['--from', replay.url, '--from', url, '--ephemeral'])
    expect({ code, lines }).toEqual({ code: 2, lines: [] })
    expect(stderr).toMatch(new RegExp(`${new URL(url).origin}\\S* has no answer after 4 tries`))
  })
})

describe('a run', () => {
  test('that meets another one of the same plan leaves it alone', async () => {
    const replay = await replayOf('1.4.8')
    const file = newFile()
    writeFileSync(`${file}.part`, 'of another run')
    const { code, stderr } = await planOf(['--from', replay.url], file)
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining('another run writes this plan, or one was killed'),
    })
    expect(readFileSync(`${file}.part`, 'utf8')).toBe('of another run')
  })

  test('that is interrupted leaves nothing, and can be repeated', async () => {
    const replay = await replayOf('1.4.8')
    const file = newFile()
    const args = ['move', '--from', replay.url, '--plan', file]
    let isAsked = false
    replay.instead.set(LIST, () => {
      isAsked = true
      return { status: 200, body: '', sent: 'never' }
    })
    const child = spawn(process.execPath, [MAIN, ...args], { stdio: 'ignore' })
    await vi.waitFor(() => expect(isAsked).toBe(true), { timeout: LIMIT_MS })
    const ended = once(child, 'exit')
    child.kill('SIGINT')
    expect(await ended).toEqual([2, null])
    expect(readdirSync(join(file, '..'))).toEqual([])
    replay.instead.clear()
    expect(await planOf(['--from', replay.url], file)).toMatchObject({ code: INCOMPLETE })
  })
})
