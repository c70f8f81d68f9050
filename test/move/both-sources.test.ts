/** A plan of a database and of its server, which may have changed since the database was read. */
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest'
import { isThing, nameOf, type PlanLine } from '../../src/plan/plan.ts'
import { readPlanLine } from '../../src/plan/read-plan.ts'
import { startMariadb, type TemporaryMariadb } from '../probes/temporary-mariadb.ts'
import { startManaged } from '../support/administrator.ts'
import { needTool } from '../support/need-tool.ts'
import { runWaypost } from '../support/waypost.ts'
import { schemaOf } from './old-schemas.ts'
import { ReplayOfRecordedAnswers } from './replay-of-recorded-answers.ts'

const LIMIT_MS = 60_000
const mariadb = needTool('mariadbd', 'mariadb-install-db')
const [HASH, OTHER_HASH] = [
  '$2a$10$hc4KIvHxDmggTuVyU58KI.9nULWu5PRXlfnSpdMRamCGntKXmYtNq',
  '$2a$10$zASM0cMUQtSlt7CF.Qz.2OGYyFK/QkFr9KINmPC0GdRsspnMK4XGW',
]

/** Items as a server shows them: the texts by the names in group `G` of namespaces. */
type Texts = Readonly<Record<string, Readonly<Record<string, string>>>>

const DUMPED: Texts = {
  '': { same: 'text', differs: 'old text', deleted: 'x' },
  dev: { b: 'b: 1' },
  unlisted: { c: 'c: 1' },
}

const md5Of = (text: string): string => createHash('md5').update(text).digest('hex')

function rowsOf(texts: Texts): string[] {
  return Object.entries(texts).flatMap(([space, items]) =>
    Object.entries(items).map(
      ([dataId, text]) =>
        `INSERT INTO config_info (data_id, group_id, tenant_id, content, md5, gmt_create, gmt_modified, c_schema) VALUES
          ('${dataId}', 'G', '${space}', '${text}', '${md5Of(text)}', '2026-01-02 03:04:05', '2026-01-02 03:04:05', 's')`,
    ),
  )
}

const ROWS = [
  "INSERT INTO tenant_info (kp, tenant_id, tenant_name, tenant_desc) VALUES ('1', 'dev', 'Dev', 'd')",
  `INSERT INTO users VALUES ('ann', '${HASH}', 1), ('bob', '${HASH}', 0)`,
  "INSERT INTO roles VALUES ('bob', 'R')",
  ...rowsOf(DUMPED),
  `INSERT INTO his_config_info (id, nid, data_id, group_id, content, gmt_create, gmt_modified, op_type) VALUES
    (0, 1, 'differs', 'G', 'older text', NOW(), NOW(), 'I'), (1, 2, 'differs', 'G', 'older text', NOW(), NOW(), 'U'),
    (0, 3, 'deleted', 'G', 'x', NOW(), NOW(), 'I')`,
  ...['beta', 'deleted'].map(
    (text) =>
      `INSERT INTO config_info_beta (data_id, group_id, content, gmt_create, gmt_modified, beta_ips) VALUES ('${text === 'beta' ? 'differs' : text}', 'G', '${text}', NOW(), NOW(), '10.0.0.9')`,
  ),
  "INSERT INTO config_info_tag (data_id, group_id, content, gmt_create, gmt_modified, tag_id) VALUES ('differs', 'G', 'tagged', NOW(), NOW(), 'blue')",
]

const json = (value: unknown) => ({ status: 200, body: JSON.stringify(value) })
const paged = (pageItems: readonly unknown[]) => json({ totalCount: pageItems.length, pageItems })

/** A list as such a server sends it: with the contents, and no md5. */
const listOf = (items: Readonly<Record<string, string>> = {}) =>
  paged(Object.entries(items).map(([dataId, content]) => ({ dataId, group: 'G', content, md5: null })))

/** The answers of the server beside its items. */
interface Said {
  readonly namespaces?: Readonly<Record<string, string>>
  readonly passwords?: Readonly<Record<string, string>>
  /** Items as they are shown instead, by their names. */
  readonly shown?: Readonly<Record<string, unknown>>
  /** The answer of the list of `public` instead. */
  readonly list?: ReturnType<typeof listOf> | { readonly status: number; readonly body: string }
}

/** The ids of records that the server lists, the newest first. The database has those up to 3. */
const RECORDS: Readonly<Record<string, readonly number[]>> = { differs: [5, 2, 1], deleted: [4, 3] }

/** Lets a replay of 2.5.1 answer with these items, as such a server does. */
function answers(replay: ReplayOfRecordedAnswers, texts: Texts, said: Said = {}): void {
  const { namespaces = { dev: 'Dev' }, passwords = { ann: HASH, bob: HASH }, list } = said
  const queryOf = (call: string) => new URL(call, 'http://replay').searchParams
  const textOf = (query: URLSearchParams) => texts[query.get('tenant') ?? '']?.[query.get('dataId') ?? '']
  replay.instead.set('/v1/console/namespaces', () => {
    const data = Object.entries(namespaces).map(([namespace, namespaceShowName]) => ({
      namespace,
      namespaceShowName,
      namespaceDesc: 'd',
    }))
    return json({ code: 200, data })
  })
  replay.instead.set('/v1/cs/configs?search=', (call) => {
    const space = queryOf(call).get('tenant') ?? ''
    return space === '' && list !== undefined ? list : listOf(texts[space])
  })
  replay.instead.set('/v1/cs/configs?show=all', (call) => {
    const shown = said.shown?.[queryOf(call).get('dataId') ?? '']
    if (shown !== undefined) return json(shown)
    const content = textOf(queryOf(call))
    return content === undefined ? { status: 404, body: '' } : json({ content, md5: md5Of(content) })
  })
  replay.instead.set('/v1/cs/configs?beta=', () => ({ status: 404, body: '' }))
  replay.instead.set('/v1/cs/history?search=', (call) =>
    paged(
      (RECORDS[queryOf(call).get('dataId') ?? ''] ?? []).map((id) => ({
        id: `${id}`,
        lastModifiedTime: 1_800_000_000_000 + id,
      })),
    ),
  )
  for (const [id, opType, content] of [
    [4, 'D', 'x'],
    [5, 'U', 'old text'],
  ])
    replay.instead.set(`/v1/cs/history?nid=${id}`, () =>
      json({ opType, lastModifiedTime: 1_800_000_000_000, content }),
    )
  replay.instead.set('/v1/auth/users', () =>
    paged(Object.entries(passwords).map(([username, password]) => ({ username, password }))),
  )
  replay.instead.set('/v1/auth/roles', () => paged([{ username: 'ann', role: 'R' }]))
  replay.instead.set('/v1/auth/permissions', () => paged([]))
}

describe.skipIf(mariadb.skip)('the plan of a database and its server', () => {
  let server: TemporaryMariadb
  let replay: ReplayOfRecordedAnswers | undefined
  beforeAll(async () => {
    server = await startMariadb([
      'SET NAMES utf8mb4',
      "CREATE USER moving@'127.0.0.1' IDENTIFIED BY 'moving'",
      "GRANT SELECT ON *.* TO moving@'127.0.0.1'",
      ...schemaOf('2.1', 'dump'),
      ...ROWS,
      ...schemaOf('2.1', 'encrypted'),
      ...rowsOf({ '': { 'cipher-a': 'ciphertext', 'cipher-b': 'old ciphertext' } }),
    ])
  })
  afterEach(async () => {
    await replay?.stop()
    replay = undefined
  })
  afterAll(async () => server?.stop())

  async function replayOf(texts: Texts, said?: Said): Promise<ReplayOfRecordedAnswers> {
    replay = await ReplayOfRecordedAnswers.start('2.5.1')
    answers(replay, texts, said)
    return replay
  }

  async function planOf(more: readonly string[] = [], database = 'dump') {
    const file = join(mkdtempSync(join(inject('temporaryDirectory'), 'both-')), 'plan')
    const from = ['--from', `mysql://moving@127.0.0.1:${server.port}/${database}`, ...more]
    const env = { WAYPOST_MYSQL_PASSWORD: 'moving' }
    const made = await runWaypost(['move', ...from, '--plan', file, '--rate', '10000'], env, LIMIT_MS)
    const texts = readFileSync(file, 'utf8').trimEnd().split('\n')
    const lines = texts.map((text, index) => readPlanLine(text, index + 1))
    const of = (kind: PlanLine['kind']) => lines.filter((line) => line.kind === kind)
    return { ...made, file, lines, of, reasons: reasonsIn(lines) }
  }

  /** Notes about items, namespaces and users; those about services are of the recorded answers. */
  function reasonsIn(lines: readonly PlanLine[]): string[] {
    return lines.flatMap((line) =>
      'reason' in line && line.about !== 'service' && line.about !== 'instance'
        ? [`${line.kind} ${line.about} ${line.name}: ${line.reason}`]
        : [],
    )
  }

  const textsIn = (lines: readonly PlanLine[]) =>
    Object.fromEntries(
      lines.flatMap((line) => (line.kind === 'config' ? [[nameOf(line), line.content]] : [])),
    )

  test('says nothing more where both have the same, also in a namespace that no list has', async () => {
    const live = await replayOf(DUMPED, {})
    live.instead.set('/v1/auth/roles', () => paged([{ username: 'bob', role: 'R' }]))
    const both = await planOf(['--from', live.url])
    const alone = await planOf()
    expect(both.reasons).toEqual(alone.reasons)
    const things = (lines: readonly PlanLine[]) =>
      lines.filter((line) => isThing(line) && line.kind !== 'service' && line.kind !== 'instance')
    expect(things(both.lines)).toEqual(things(alone.lines))
    expect(live.calls.some(({ call }) => call.includes('show=all&dataId'))).toBe(false)
  })

  test('has what the server has, and a line for each item that differs', async () => {
    const { url } = await replayOf(
      {
        ...DUMPED,
        '': { same: 'text', differs: 'new text', onlyhttp: 'y' },
        ops: { new: 'n' },
      },
      { namespaces: { dev: 'Dev', ops: 'Ops' } },
    )
    const { code, lines, of } = await planOf(['--from', url])
    expect(code).toBe(1)
    expect(textsIn(lines)).toEqual({
      'public/G/same': 'text',
      'public/G/differs': 'new text',
      'public/G/onlyhttp': 'y',
      'dev/G/b': 'b: 1',
      'unlisted/G/c': 'c: 1',
      'ops/G/new': 'n',
    })
    expect(of('conflict')).toMatchObject([
      {
        about: 'config',
        name: 'public/G/differs',
        reason: expect.stringContaining('has that of the server'),
      },
      { about: 'config', name: 'public/G/deleted', reason: expect.stringContaining('does not come') },
    ])
    expect(of('remark')).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          name: 'public/G/onlyhttp',
          reason: expect.stringContaining('only the server'),
        }),
        expect.objectContaining({ name: 'ops/G/new' }),
      ]),
    )
    expect(of('namespace')).toMatchObject([{ id: 'dev' }, { id: 'ops', name: 'Ops' }])
    // Records of the database, and the later records; they come before their item.
    const differs = lines.filter((line) => 'dataId' in line && line.dataId === 'differs')
    expect(differs).toMatchObject([
      { kind: 'history', oldId: '1' },
      { kind: 'history', oldId: '2' },
      { kind: 'history', oldId: '5', content: 'old text' },
      { kind: 'config', content: 'new text' },
      { kind: 'gray', name: 'tag_blue' },
    ])
    const deleted = lines.filter((line) => 'dataId' in line && line.dataId === 'deleted')
    expect(deleted).toMatchObject([
      { kind: 'history', oldId: '3', op: 'I' },
      { kind: 'history', oldId: '4', op: 'D' },
    ])
    expect(of('gray')).toHaveLength(1)
  })

  test('has what each has where the server lists nothing of the database, as one for naming alone', async () => {
    const { url } = await replayOf({ '': { other: 'o' } }, { namespaces: {}, passwords: {} })
    const { lines, of, reasons } = await planOf(['--from', url])
    expect(textsIn(lines)).toEqual({
      'public/G/same': 'text',
      'public/G/differs': 'old text',
      'public/G/deleted': 'x',
      'dev/G/b': 'b: 1',
      'unlisted/G/c': 'c: 1',
      'public/G/other': 'o',
    })
    expect(of('conflict')).toEqual([])
    expect(of('namespace')).toMatchObject([{ id: 'dev' }])
    expect(reasons.filter((reason) => reason.includes('none of those of the database'))).toHaveLength(1)
  })

  test('is taken by a server, also once more', async () => {
    const changed = { ...DUMPED, '': { same: 'text', differs: 'new text', onlyhttp: 'y' } }
    const { url } = await replayOf(changed)
    const { file } = await planOf(['--from', url])
    const target = await startManaged()
    try {
      const to = ['--to', target.waypost.url, '--username', 'nacos', '--output', 'json']
      const apply = async () =>
        JSON.parse(
          (await runWaypost(['move', '--apply', file, ...to], { WAYPOST_PASSWORD: 'secret' })).stdout,
        )
      // A user who is disabled there is refused, with the role.
      const refused = { kept: 0, refused: 2, lines: [{ name: 'bob' }, { name: 'bob R' }] }
      expect(await apply()).toMatchObject(refused)
      expect(await apply()).toMatchObject({ taken: 0, ...refused })
      const read = (item: string) => target.ask('GET', `/nacos/v1/cs/${item}&group=G`)
      expect(await read('configs?dataId=differs')).toBe('new text')
      expect(await read('configs?dataId=onlyhttp')).toBe('y')
      const ofDeleted = JSON.parse(await read('history?search=accurate&dataId=deleted'))
      expect(ofDeleted).toMatchObject({
        pageItems: [{ opType: expect.stringMatching(/^D/) }, { opType: expect.stringMatching(/^I/) }],
      })
    } finally {
      await target.waypost.stop()
    }
  })

  test('compares with the md5s that 3.x lists, and has the notes that it does not show', async () => {
    replay = await ReplayOfRecordedAnswers.start('3.0.3-admin')
    const same = ['same', 'deleted'].map((dataId) => ({ dataId, md5: md5Of(DUMPED['']![dataId]!) }))
    const listed = [...same, { dataId: 'differs', md5: md5Of('new text') }]
    const found = (pageItems: readonly unknown[]) =>
      json({ code: 0, data: { totalCount: pageItems.length, pageItems } })
    replay.instead.set('/v3/admin/cs/config/list', (call) =>
      found(call.includes('namespaceId=public') ? listed.map((item) => ({ ...item, groupName: 'G' })) : []),
    )
    replay.instead.set('/v3/admin/cs/config?dataId=differs', () =>
      json({ code: 0, data: { content: 'new text' } }),
    )
    replay.instead.set('/v3/admin/cs/history/list', () => found([]))
    const { lines, of } = await planOf(['--from', replay.url])
    expect(textsIn(lines)).toEqual({
      'public/G/same': 'text',
      'public/G/deleted': 'x',
      'public/G/differs': 'new text',
    })
    expect(of('config')).toMatchObject(listed.map(() => ({ schema: 's' })))
    expect(of('conflict').map((line) => ('name' in line ? line.name : ''))).toEqual(
      expect.arrayContaining(['public/G/differs', 'dev/G/b', 'unlisted/G/c']),
    )
    expect(replay.calls.filter(({ call }) => call.includes('/v3/admin/cs/config?'))).toHaveLength(3)
  })

  test('compares encrypted items by the md5 of their ciphertext, which lists of 2.x do not show', async () => {
    const decrypting = await replayOf(
      {},
      {
        namespaces: {},
        list: listOf({ 'cipher-a': 'a', 'cipher-b': 'b' }),
        shown: {
          'cipher-a': { content: 'a', md5: md5Of('ciphertext'), encryptedDataKey: 'key' },
          'cipher-b': { content: 'b', md5: md5Of('new ciphertext'), encryptedDataKey: 'key' },
        },
      },
    )
    const { lines, of } = await planOf(['--from', decrypting.url], 'encrypted')
    expect(textsIn(lines)).toEqual({ 'public/G/cipher-a': 'ciphertext', 'public/G/cipher-b': 'b' })
    expect(of('conflict')).toMatchObject([{ name: 'public/G/cipher-b' }])
  })

  test('has namespaces and users as the server shows them, and all roles', async () => {
    const { url } = await replayOf(DUMPED, {
      namespaces: { dev: 'Development' },
      passwords: { ann: HASH, bob: OTHER_HASH, eve: OTHER_HASH },
    })
    const { of } = await planOf(['--from', url])
    expect(of('namespace')).toMatchObject([{ id: 'dev', name: 'Development' }])
    expect(of('user')).toMatchObject([
      { username: 'ann', passwordHash: HASH },
      { username: 'bob', passwordHash: OTHER_HASH, enabled: false },
      { username: 'eve', passwordHash: OTHER_HASH },
    ])
    expect(of('role')).toMatchObject([{ username: 'bob' }, { username: 'ann' }])
    expect(of('conflict')).toMatchObject([
      { about: 'namespace', name: 'dev' },
      { about: 'user', name: 'bob' },
    ])
  })

  test('has the users of the database where the server does not show its own', async () => {
    const hiding = await replayOf(DUMPED)
    hiding.instead.set('/v1/auth/users', () => ({ status: 403, body: 'authorization failed' }))
    const { reasons, of } = await planOf(['--from', hiding.url])
    expect(of('user')).toHaveLength(2)
    expect(reasons).toEqual((await planOf()).reasons)
  })

  test('has a namespace or a user that only the database has, and says so', async () => {
    const { url } = await replayOf(DUMPED, { namespaces: {}, passwords: { ann: HASH } })
    const { of } = await planOf(['--from', url])
    expect(of('namespace')).toMatchObject([{ id: 'dev' }])
    expect(of('user')).toHaveLength(2)
    expect(of('conflict')).toMatchObject([
      { about: 'namespace', name: 'dev' },
      { about: 'user', name: 'bob' },
    ])
  })

  test('has the rows of the database where a list fails', async () => {
    const failing = await replayOf({ ...DUMPED, '': {} }, { list: { status: 400, body: 'no' } })
    const { of, lines, code } = await planOf(['--from', failing.url])
    expect(code).toBe(1)
    expect(textsIn(lines)).toMatchObject({
      'public/G/same': 'text',
      'public/G/differs': 'old text',
      'public/G/deleted': 'x',
    })
    expect(of('conflict')).toEqual([])
    expect(of('cannot-come')).toContainEqual(
      expect.objectContaining({ about: 'config', name: 'items of public', missed: true }),
    )
  })

  test('does not take a publish in the middle for a difference', async () => {
    // The list was read before the publish, the database after it.
    const racing = await replayOf(DUMPED, { list: listOf({ same: 'text', differs: 'before' }) })
    const { of, lines } = await planOf(['--from', racing.url])
    expect(of('conflict')).toEqual([])
    expect(textsIn(lines)).toMatchObject({ 'public/G/differs': 'old text', 'public/G/deleted': 'x' })
  })
})
