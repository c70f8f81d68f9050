/** `POST /svc/v1/operator/import`: what another server had comes over, once, and what is here stays. */
import { hashSync } from 'bcryptjs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ManagedWaypost, startManaged } from '../support/administrator.ts'
import {
  configLine,
  grayLine,
  historyLine,
  instanceLine,
  namespaceLine,
  planOf,
  sendPlan,
  serviceLine,
} from '../support/plan-lines.ts'
import type { Waypost } from '../support/waypost.ts'

const AT_MS = Date.UTC(2026, 0, 2, 3, 4, 5)
const SECOND = 1_000

let managed: ManagedWaypost
let waypost: Waypost
let token = ''

const sent = (body: string | Buffer, as = token) =>
  sendPlan({ waypost, tokenOf: managed.tokenOf }, body, { token: as })
const importing = (lines: readonly object[], query: Record<string, string> = {}) =>
  sendPlan({ waypost, tokenOf: managed.tokenOf }, planOf(lines), { query, token })

async function asked(path: string, query: Record<string, string>) {
  const response = await fetch(`${waypost.url}${path}?${new URLSearchParams(query)}`, {
    headers: { authorization: `Bearer ${token}` },
  })
  const text = await response.text()
  expect(response.status, text).toBe(200)
  return JSON.parse(text)
}

const detailOf = (dataId: string, tenant = '') =>
  asked('/nacos/v1/cs/configs', { show: 'all', dataId, group: 'G', tenant })

async function historyOf(dataId: string) {
  const { pageItems } = await asked('/svc/v1/cs/history', {
    search: 'accurate',
    dataId,
    group: 'G',
    pageNo: '1',
    pageSize: '100',
  })
  return pageItems as {
    id: string
    opType: string
    srcUser: string
    lastModifiedTime: string
    importedId?: string
  }[]
}

async function textOf(dataId: string, id: string): Promise<string> {
  return (await asked('/svc/v1/cs/history', { dataId, group: 'G', nid: id })).content
}

async function published(dataId: string, content: string): Promise<void> {
  const response = await fetch(`${waypost.url}/svc/v1/cs/configs`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: new URLSearchParams({ dataId, group: 'G', content }),
  })
  expect(response.status).toBe(200)
}

const config = (dataId: string, content: string, more: object = {}) =>
  configLine(dataId, {
    content,
    appName: 'shop',
    type: 'yaml',
    desc: 'what it is for',
    use: 'u',
    effect: 'e',
    tags: 'a,b',
    createdMs: AT_MS,
    modifiedMs: AT_MS + 9 * SECOND,
    ...more,
  })

function record(
  dataId: string,
  op: string,
  { oldId, content, at = 0 }: { oldId: string; content: string; at?: number },
) {
  const by = { type: null, user: `by${oldId}`, ip: '10.0.0.2' }
  return historyLine(dataId, oldId, { ...by, op, content, atMs: AT_MS + at * SECOND })
}

beforeAll(async () => {
  managed = await startManaged()
  waypost = managed.waypost
  token = await managed.tokenOf('nacos')
})
afterAll(() => waypost.stop())

describe('an import', () => {
  test('brings namespaces, items with their notes, services and instances, and answers unchanged for all of it again', async () => {
    const lines = [
      namespaceLine('dev', { name: 'Development', desc: 'for tests' }),
      { kind: 'switch', name: 'pushEnabled', value: 'true' },
      config('whole.yml', 'a: 1\r\n', { namespace: 'dev' }),
      serviceLine('db', {
        namespace: 'dev',
        metadata: { owner: 'ann' },
        clusters: [
          {
            name: 'c1',
            checker: { type: 'NONE' },
            checkPort: 81,
            useInstancePort: false,
            metadata: { a: 'b' },
          },
        ],
        ephemeral: false,
      }),
      instanceLine('db', {
        namespace: 'dev',
        cluster: 'c1',
        ip: '10.0.0.7',
        port: 3306,
        weight: 2.5,
        enabled: false,
        metadata: { zone: 'z' },
        seenMs: AT_MS,
      }),
    ]
    const first = await importing(lines)
    expect(first).toEqual({ status: 200, json: { taken: 5, unchanged: 0, kept: 0, refused: 0, lines: [] } })
    const again = await importing(lines)
    expect(again.json).toEqual({ taken: 0, unchanged: 5, kept: 0, refused: 0, lines: [] })

    expect(await detailOf('whole.yml', 'dev')).toMatchObject({
      content: 'a: 1\r\n',
      type: 'yaml',
      desc: 'what it is for',
      use: 'u',
      effect: 'e',
      configTags: 'a,b',
      appName: 'shop',
      createTime: AT_MS,
      modifyTime: AT_MS + 9 * SECOND,
      createUser: 'ann',
      createIp: '10.0.0.1',
    })
    const service = await asked('/svc/v1/ns/service', {
      namespaceId: 'dev',
      serviceName: 'db',
      groupName: 'G',
    })
    expect(service).toMatchObject({ protectThreshold: 0.5, metadata: { owner: 'ann' } })
    expect(service.clusters).toMatchObject([
      { name: 'c1', healthChecker: { type: 'NONE' }, metadata: { a: 'b' } },
    ])
    const instance = await asked('/svc/v1/ns/instance', {
      namespaceId: 'dev',
      serviceName: 'db',
      groupName: 'G',
      cluster: 'c1',
      ip: '10.0.0.7',
      port: '3306',
    })
    expect(instance).toMatchObject({ weight: 2.5, metadata: { zone: 'z' } })
  })

  test('keeps what was changed here, unless it overwrites', async () => {
    expect((await importing([config('mine', 'old: 1')])).json.taken).toBe(1)
    expect(
      (await importing([config('mine', 'old: 2', { modifiedMs: AT_MS + 20 * SECOND })])).json.taken,
    ).toBe(1)
    await published('mine', 'here: 1')
    const line = config('mine', 'old: 3', { modifiedMs: AT_MS + 30 * SECOND })
    const kept = await importing([line])
    expect(kept.json).toMatchObject({ taken: 0, kept: 1 })
    expect(kept.json.lines).toEqual([
      { line: 2, outcome: 'kept', reason: 'the item was made or changed here since the last import' },
    ])
    expect((await detailOf('mine')).content).toBe('here: 1')
    expect((await importing([line], { overwrite: 'true' })).json.taken).toBe(1)
    expect((await detailOf('mine')).content).toBe('old: 3')
  })

  test('takes what has changed there since the last import of services and namespaces, and keeps what changed here', async () => {
    const space = (name: string) => namespaceLine('later', { name })
    const service = (protectThreshold: number) => serviceLine('db', { namespace: 'later', protectThreshold })
    expect((await importing([space('one'), service(0.1)])).json.taken).toBe(2)
    expect((await importing([space('two'), service(0.2)])).json.taken).toBe(2)
    const url = `${waypost.url}/svc/v1/ns/service?namespaceId=later&groupName=G&serviceName=db&protectThreshold=0.7`
    await fetch(url, { method: 'PUT', headers: { authorization: `Bearer ${token}` } })
    const { json } = await importing([space('three'), service(0.3)])
    expect(json).toMatchObject({ taken: 1, kept: 1 })
    expect(json.lines).toEqual([{ line: 3, outcome: 'kept', reason: 'the service has other settings here' }])
  })

  test('brings history with its times, authors and old ids, in rising order', async () => {
    const lines = [
      record('past', 'I', { oldId: '1099225348278587392', content: 'v1' }),
      record('past', 'U', { oldId: '1099225348278587393', content: 'v1', at: 5 }),
      record('past', 'U', { oldId: '1099225348278587394', content: 'v2', at: 5 }),
      config('past', 'v3'),
    ]
    expect((await importing(lines)).json).toEqual({ taken: 4, unchanged: 0, kept: 0, refused: 0, lines: [] })
    expect((await importing(lines)).json).toEqual({ taken: 0, unchanged: 4, kept: 0, refused: 0, lines: [] })
    const entries = (await historyOf('past')).toReversed()
    expect(entries.map(({ opType, importedId }) => [opType.trim(), importedId])).toEqual([
      ['I', '1099225348278587392'],
      ['U', '1099225348278587393'],
      ['U', '1099225348278587394'],
      ['I', ''],
    ])
    const ids = entries.map(({ id }) => Number(id))
    expect(ids).toEqual(ids.toSorted((a, b) => a - b))
    expect(entries[1]).toMatchObject({
      srcUser: 'by1099225348278587393',
      lastModifiedTime: '2026-01-02T03:04:10.000+0000',
    })
    expect(await Promise.all(ids.map((id) => textOf('past', String(id))))).toEqual(['v1', 'v1', 'v2', 'v3'])
  })

  test('brings the changes since the last import, each with its own author', async () => {
    expect((await importing([config('grows', 'v1')])).json.taken).toBe(1)
    const lines = [
      record('grows', 'U', { oldId: '7', content: 'v1', at: 20 }),
      record('grows', 'U', { oldId: '8', content: 'v2', at: 30 }),
      config('grows', 'v3', { modifiedMs: AT_MS + 30 * SECOND, user: 'by8', ip: '10.0.0.2' }),
    ]
    expect((await importing(lines)).json).toMatchObject({ kept: 0, refused: 0 })
    const entries = (await historyOf('grows')).toReversed()
    expect(entries.map(({ opType, importedId, srcUser }) => [opType.trim(), importedId, srcUser])).toEqual([
      ['I', '', 'ann'],
      ['U', '7', 'by7'],
      ['U', '8', 'by8'],
    ])
    expect(await Promise.all(entries.map(({ id }) => textOf('grows', id)))).toEqual(['v1', 'v1', 'v2'])
    expect((await importing(lines)).json).toMatchObject({ taken: 0, unchanged: 3 })
  })

  test('leaves the history of an item that has one here', async () => {
    await published('own', 'here')
    const { json } = await importing([
      record('own', 'I', { oldId: '1', content: 'there' }),
      config('own', 'there'),
    ])
    expect(json).toMatchObject({ taken: 0, kept: 2 })
    expect(json.lines[0]).toEqual({
      line: 2,
      outcome: 'kept',
      reason: 'the item has a history of its own here',
    })
    expect(await historyOf('own')).toHaveLength(1)
  })

  test('names the lines that are not allowed, and takes the others', async () => {
    const conditions = Array.from({ length: 65 }, (_, index) => `l${index}=a`)
    const { json } = await importing([
      config('bad name', 'x'),
      config('blank', '  '),
      config('fine', 'x'),
      grayLine('fine', { name: 'beta', rule: 'unknown', expression: '10.0.0.9' }),
      namespaceLine('public'),
      grayLine('fine', { rule: 'tagv2', expression: conditions.join('||') }),
    ])
    expect(json).toMatchObject({ taken: 1, refused: 5 })
    expect(json.lines.map(({ line, outcome }: { line: number; outcome: string }) => [line, outcome])).toEqual(
      [
        [2, 'refused'],
        [3, 'refused'],
        [5, 'refused'],
        [6, 'refused'],
        [7, 'refused'],
      ],
    )
    expect(json.lines[2].reason).toMatch(/unknown/)
    expect(json.lines[4].reason).toMatch(/at most 64 conditions/)
  })

  test('is named by the audit, with its counts', async () => {
    await importing([config('audited', 'x')])
    const newest = async () =>
      (await asked('/svc/v1/audit', { operation: 'import state', result: 'done' })).events[0]
    const detail = 'taken 1, unchanged 0, kept 0, refused 0'
    await expect.poll(newest, { timeout: 30_000 }).toMatchObject({ username: 'nacos', detail })
  })
})

const user = (username: string, passwordHash: string | null, enabled = true) => ({
  kind: 'user',
  username,
  passwordHash,
  enabled,
})
const role = (username: string, name: string) => ({ kind: 'role', username, role: name })

describe('an import of users', () => {
  test('keeps passwords, roles and permissions, and rewrites a hash at the first sign-in', async () => {
    const hash = hashSync('sesame-71', 4)
    const lines = [
      user('ben', hash),
      role('ben', 'devs'),
      { kind: 'permission', role: 'devs', resource: ':*:*', action: 'r' },
    ]
    expect((await importing(lines)).json).toMatchObject({ taken: 3, refused: 0 })
    expect((await importing(lines)).json).toMatchObject({ unchanged: 3 })
    await expect(managed.tokenOf('ben', 'sesame-72')).rejects.toThrow('unknown-user')
    const own = await managed.tokenOf('ben', 'sesame-71')
    const read = await fetch(`${waypost.url}/svc/v1/cs/configs?dataId=fine&group=G`, {
      headers: { authorization: `Bearer ${own}` },
    })
    expect(read.status).toBe(200)
    // The hash is one of this server now: another import does not replace it.
    expect((await importing([user('ben', hash)])).json.lines).toEqual([
      { line: 2, outcome: 'kept', reason: 'the user has a password of this server' },
    ])
    expect(await managed.tokenOf('ben', 'sesame-71')).toBeTypeOf('string')
  })

  test('refuses passwords that everybody would try, and hashes that cannot be checked', async () => {
    const { json } = await importing([
      user('nat', hashSync('nacos', 4)),
      user('sam', hashSync('sam', 4)),
      user('LDAP_tom', hashSync('x', 4)),
      user('eve', '$2a$13$' + 'x'.repeat(53)),
      user('kim', null),
      user('dan', hashSync('x', 4), false),
      role('nat', 'devs'),
    ])
    expect(json).toMatchObject({ taken: 0, refused: 7 })
    expect(json.lines[0].reason).toBe(
      'nat cannot come: its password is nacos. Make the user here, or give it another password there.',
    )
    await expect(managed.tokenOf('nat', 'nacos')).rejects.toThrow('unknown-user')
  })

  test('makes administrators only of the users that the parameter names', async () => {
    const lines = [
      user('ada', hashSync('x71', 4)),
      user('bob', hashSync('x72', 4)),
      role('ada', 'ROLE_ADMIN'),
      role('bob', 'ROLE_ADMIN'),
    ]
    const { json } = await importing(lines, { administrators: 'ada,nobody' })
    expect(json).toMatchObject({ taken: 2, unchanged: 1, refused: 1 })
    expect(json.lines).toMatchObject([{ line: 5, outcome: 'refused' }])
    const codes = await Promise.all(
      [managed.tokenOf('ada', 'x71'), managed.tokenOf('bob', 'x72')].map(
        async (one) => (await sent(planOf([]), await one)).status,
      ),
    )
    expect(codes).toEqual([200, 403])
  })
})

test('what was answered survives a kill', async () => {
  expect(
    (await importing([record('kill', 'I', { oldId: '1', content: 'v1' }), config('kill', 'v2')])).json.taken,
  ).toBe(2)
  await waypost.kill()
  waypost = await waypost.restart()
  expect((await detailOf('kill')).content).toBe('v2')
  expect((await historyOf('kill')).map(({ importedId }) => importedId)).toEqual(['', '1'])
})
