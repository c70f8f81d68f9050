import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import type { PlanLine } from '../../src/plan/plan.ts'
import { readPlanLine } from '../../src/plan/read-plan.ts'
import { type TemporaryMariadb, startMariadb } from '../probes/temporary-mariadb.ts'
import { fakeMysql, greeting, moreData, switchTo } from '../probes/fake-mysql.ts'
import { Authority } from '../support/certificates.ts'
import { needTool } from '../support/need-tool.ts'
import { runWaypost } from '../support/waypost.ts'
import { schemaOf, type SchemaVersion } from './old-schemas.ts'

const mariadb = needTool('mariadbd', 'mariadb-install-db')
const HASH = '$2a$10$hc4KIvHxDmggTuVyU58KI.9nULWu5PRXlfnSpdMRamCGntKXmYtNq'
const PUBLISHED = '$2a$10$EuWPZHzz32dJN7jexM34MOeYirDdFAZm2kuWj7VEOJhhZkDrxfvUu'
const MD5_OF_A2 = '9de2a49d06deb9c0194660123ef188d8'

/** The content of every version. */
const ROWS = [
  "INSERT INTO tenant_info (kp, tenant_id, tenant_name, tenant_desc) VALUES ('1', 'dev', 'Dev', '开发')",
  `INSERT INTO users VALUES ('nacos', '${PUBLISHED}', 1), ('ann', '${HASH}', 1), ('bob', '${HASH}', 0), ('LDAP_eve', '${HASH}', 1), ('old', '${HASH.replace('$10$', '$14$')}', 1)`,
  "INSERT INTO roles VALUES ('ann', 'ROLE_ADMIN'), ('nacos', 'ROLE_ADMIN'), ('bob', 'R'), ('gone', 'R')",
  "INSERT INTO permissions VALUES ('R', ':*:*', 'rw'), ('R', 'console/users', 'r'), ('S', 'dev:*:*', 'r')",
  `INSERT INTO config_info (data_id, group_id, tenant_id, content, md5, gmt_create, gmt_modified, src_ip, src_user, c_desc, type) VALUES
    ('a.yml', 'G', '', 'a: 2', '${MD5_OF_A2}', '2026-01-02 03:04:05', '2026-01-02 03:04:06', '10.0.0.1', 'ann', 'd', 'yaml'),
    ('b', 'G', 'dev', '日本 ⚙\\r\\n\\\\ \\'q\\'', '1234567890123456789012345678901', '2026-01-02 03:04:05', '2026-01-02 03:04:05', NULL, NULL, NULL, NULL),
    ('c', NULL, 'dev', 'x', NULL, '2026-01-02 03:04:05', '2026-01-02 03:04:05', NULL, NULL, NULL, NULL),
    ('d', 'G', '', 'old', 'x', '2026-01-02 03:04:05', '2026-01-02 03:04:05', NULL, NULL, NULL, NULL),
    ('d', 'G', 'public', 'new', 'y', '2026-01-02 03:04:05', '2026-01-03 03:04:05', NULL, NULL, NULL, NULL)`,
  "INSERT INTO config_tags_relation (id, tag_name) SELECT id, 't2' FROM config_info WHERE data_id = 'a.yml'",
  "INSERT INTO config_tags_relation (id, tag_name) SELECT id, 't1' FROM config_info WHERE data_id = 'a.yml'",
  `INSERT INTO his_config_info (id, nid, data_id, group_id, tenant_id, content, md5, gmt_create, gmt_modified, src_ip, op_type) VALUES
    (0, 1, 'a.yml', 'G', '', 'a: 1', NULL, '2010-05-05 00:00:00', '2026-01-02 03:04:05', '10.0.0.1', 'I         '),
    (1, 1099225348278587392, 'a.yml', 'G', '', 'a: 1', NULL, '2010-05-05 00:00:00', '2026-01-02 03:04:06', '10.0.0.1', 'U'),
    (9, 1099225348278587393, 'deleted', 'G', 'dev', 'x', 'no', '2010-05-05 00:00:00', '2026-01-02 03:04:07', '10.0.0.1', 'D')`,
  "INSERT INTO config_info_beta (data_id, group_id, content, gmt_create, gmt_modified, beta_ips) VALUES ('a.yml', 'G', 'beta', NOW(), NOW(), '10.0.0.9'), ('gone', 'G', 'x', NOW(), NOW(), '')",
  "INSERT INTO config_info_tag (data_id, group_id, content, gmt_create, gmt_modified, tag_id) VALUES ('a.yml', 'G', 'tagged', NOW(), NOW(), 'blue')",
  "INSERT INTO tenant_capacity (tenant_id, quota, `usage`, max_size) VALUES ('dev', 10, 1, 0)",
]
const ROWS_OF_25 = [
  `INSERT INTO config_info_gray (data_id, group_id, content, gmt_create, gmt_modified, gray_name, gray_rule) VALUES
    ('a.yml', 'G', 'beta of gray', NOW(), NOW(), 'beta', '{"type":"beta","expr":"10.0.0.8","version":"1.0.0","priority":"2147483647"}')`,
  `INSERT INTO his_config_info (id, data_id, group_id, content, gmt_create, gmt_modified, op_type, publish_type) VALUES
    (1, 'a.yml', 'G', 'beta', NOW(), NOW(), 'I', 'gray')`,
  `UPDATE his_config_info SET ext_info = '{"type":"yaml"}' WHERE nid = 1`,
]

/** A text, and bytes that are none. */
const ROWS_OF_BYTES = [
  `INSERT INTO config_info (data_id, group_id, content, gmt_create, gmt_modified) VALUES
    ('text', 'G', '日本', NOW(), NOW()), ('bad', 'G', x'ff00fe41', NOW(), NOW())`,
  `INSERT INTO his_config_info (id, data_id, group_id, content, gmt_create, gmt_modified, op_type) VALUES
    (1, 'text', 'G', x'ff00fe41', NOW(), NOW(), 'U')`,
]

describe.skipIf(mariadb.skip)('the plan of a database', () => {
  let server: TemporaryMariadb
  beforeAll(async () => {
    server = await startMariadb([
      'SET NAMES utf8mb4',
      "CREATE USER moving@'127.0.0.1' IDENTIFIED BY 'moving'",
      "GRANT SELECT ON *.* TO moving@'127.0.0.1'",
      "CREATE USER writing@'127.0.0.1' IDENTIFIED BY 'moving'",
      ...(['1.4', '2.1', '2.5'] as const).flatMap((version) => [
        ...schemaOf(version, nameOf(version)),
        ...ROWS,
        ...(version === '2.5' ? ROWS_OF_25 : []),
      ]),
      ...schemaOf('2.1', 'blind').map((sql) => sql.replace('utf8mb4_bin', 'utf8mb4_general_ci')),
      ...schemaOf('2.1', 'bytes').map((sql) => sql.replaceAll('content longtext', 'content longblob')),
      ...ROWS_OF_BYTES,
    ])
  })
  afterAll(async () => server?.stop())

  const nameOf = (version: SchemaVersion): string => `nacos${version.replace('.', '')}`
  const planOf = async (database: string, args: readonly string[] = []) => {
    const file = join(mkdtempSync(join(inject('temporaryDirectory'), 'plan-')), 'old.plan')
    const from = `mysql://moving@127.0.0.1:${server.port}/${database}`
    const result = await runWaypost(['move', '--from', from, '--plan', file, ...args], {
      WAYPOST_MYSQL_PASSWORD: 'moving',
    })
    // One row has no group, and one is there twice.
    const code = database === 'blind' ? 0 : 1
    expect({ code: result.code, stderr: result.stderr }).toEqual({ code, stderr: '' })
    const texts = readFileSync(file, 'utf8').trimEnd().split('\n')
    const lines = texts.map((text, index) => readPlanLine(text, index + 1))
    return (kind: PlanLine['kind']) => lines.filter((line) => line.kind === kind)
  }

  test.each(['1.4', '2.1', '2.5'] as const)('of version %s has all that it holds', async (version) => {
    const of = await planOf(nameOf(version))
    expect(of('plan')).toMatchObject([
      { sources: [{ kind: 'mysql', version: expect.stringContaining('MariaDB') }] },
    ])
    expect(of('namespace')).toEqual([{ kind: 'namespace', id: 'dev', name: 'Dev', desc: '开发' }])
    expect(of('config')).toMatchObject([
      {
        namespace: '',
        dataId: 'a.yml',
        content: 'a: 2',
        tags: 't2,t1',
        desc: 'd',
        type: 'yaml',
        user: 'ann',
        createdMs: Date.parse('2026-01-02T03:04:05Z'),
        modifiedMs: Date.parse('2026-01-02T03:04:06Z'),
      },
      { namespace: 'dev', dataId: 'b', content: "日本 ⚙\r\n\\ 'q'", type: null },
      { namespace: '', dataId: 'd', content: 'new' },
    ])
    expect(of('history')).toMatchObject([
      { oldId: '1', op: 'I', content: 'a: 1', type: version === '2.5' ? 'yaml' : null },
      { oldId: '1099225348278587392', op: 'U', content: 'a: 1' },
      { oldId: '1099225348278587393', op: 'D', namespace: 'dev', dataId: 'deleted' },
    ])
    expect(of('gray')).toMatchObject([
      version === '2.5'
        ? { name: 'beta', expression: '10.0.0.8', content: 'beta of gray', priority: 2_147_483_647 }
        : { name: 'beta', rule: 'beta', expression: '10.0.0.9', content: 'beta' },
      { name: 'tag_blue', rule: 'tag', expression: 'blue', content: 'tagged' },
    ])
    expect(of('conflict')).toMatchObject([{ about: 'config', name: 'public/G/d' }])
    expect(of('cannot-come')).toMatchObject([
      { about: 'role', name: 'ann ROLE_ADMIN' },
      { about: 'role', name: 'nacos ROLE_ADMIN' },
      { about: 'permission', name: 'R console/users r' },
      { about: 'config', name: expect.stringMatching(/^dev\/\/c \(id \d+\)$/) },
      { about: 'gray', name: 'public/G/gone beta' },
      { about: 'config', name: 'quotas' },
    ])
    const remarks = of('remark').map((line) => ('about' in line ? `${line.about} ${line.name}` : ''))
    expect(remarks).toContain('config dev/G/b')
    expect(remarks).toContain('history all items')
  })

  test('has the hashes of passwords, but for those that everybody knows or that cost too much', async () => {
    const of = await planOf('nacos14', ['--administrators', 'ann'])
    expect(of('user')).toEqual([
      { kind: 'user', username: 'LDAP_eve', passwordHash: null, enabled: true },
      { kind: 'user', username: 'ann', passwordHash: HASH, enabled: true },
      { kind: 'user', username: 'bob', passwordHash: HASH, enabled: false },
      { kind: 'user', username: 'nacos', passwordHash: null, enabled: true },
      { kind: 'user', username: 'old', passwordHash: null, enabled: true },
    ])
    expect(of('role')).toMatchObject([
      { username: 'ann', role: 'ROLE_ADMIN' },
      { username: 'bob' },
      { username: 'gone' },
    ])
    const reasons = of('remark').map((line) => ('reason' in line ? line.reason : ''))
    expect(reasons).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/LDAP/),
        expect.stringMatching(/above 12/),
        expect.stringMatching(/is nacos/),
      ]),
    )
  })

  test('reads its times in the time zone of the server, and only the history that is asked for', async () => {
    const of = await planOf('nacos14', ['--mysql-time-zone', '+08:00', '--history', '1d'])
    expect(of('config')[0]).toMatchObject({ createdMs: Date.parse('2026-01-01T19:04:05Z') })
    expect(of('history')).toEqual([])
  })

  test('says that names are compared without case', async () => {
    const of = await planOf('blind')
    expect(of('remark')).toContainEqual(
      expect.objectContaining({ reason: expect.stringMatching(/utf8mb4_general_ci/) }),
    )
  })

  test('leaves bytes that are no text, and says so', async () => {
    const of = await planOf('bytes')
    expect(of('config')).toMatchObject([{ dataId: 'text', content: '日本' }])
    expect(of('history')).toEqual([])
    const why = { kind: 'cannot-come', reason: 'its content is not text in UTF-8', missed: true }
    expect(of('cannot-come')).toEqual([
      { ...why, about: 'history', name: 'public/G/text 1' },
      { ...why, about: 'config', name: 'public/G/bad' },
    ])
  })

  test('names what fails', async () => {
    const failureOf = async (from: string, env = { WAYPOST_MYSQL_PASSWORD: 'moving' }): Promise<string> => {
      const file = join(inject('temporaryDirectory'), 'none.plan')
      const { code, stderr } = await runWaypost(['move', '--from', from, '--plan', file], env)
      expect(code).toBe(2)
      return stderr
    }
    const host = `127.0.0.1:${server.port}`
    expect(await failureOf(`mysql://moving@${host}/mysql`)).toMatch(/has no table config_info/)
    expect(await failureOf(`mysql://moving:moving@${host}/nacos14`)).toMatch(/must be without a password/)
    expect(await failureOf(`mysql://moving@${host}/nacos14`, { WAYPOST_MYSQL_PASSWORD: 'no' })).toMatch(
      /mysql:\/\/127\.0\.0\.1:\d+\/nacos14: Access denied/,
    )
    expect(await failureOf('mysql://moving@127.0.0.1:1/nacos14')).toMatch(
      /mysql:\/\/127\.0\.0\.1:1\/nacos14: .*ECONNREFUSED/,
    )
  })
})

const tools = needTool('mariadbd', 'mariadb-install-db', 'openssl')

test('a database whose certificate is of another address is not read', async ({ skip }) => {
  skip(tools.skip, tools.reason)
  const authority = new Authority()
  for (const names of ['DNS:localhost', 'IP:127.0.0.2']) {
    const { cert, key } = authority.forNames(names)
    const server = await startMariadb(
      [
        "CREATE USER safe@'127.0.0.1' IDENTIFIED BY 's'",
        "GRANT SELECT ON *.* TO safe@'127.0.0.1'",
        ...schemaOf('2.1', 'nacos'),
      ],
      [`--ssl-cert=${cert}`, `--ssl-key=${key}`],
    )
    try {
      const from = `safe@127.0.0.1:${server.port}`
      expect(await failureOrNot(from, ['--mysql-tls', authority.caFile])).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/does not match certificate's altnames/),
      })
    } finally {
      await server.stop()
    }
  }
})

test('a database that requires TLS gets the password over TLS that is verified', async ({ skip }) => {
  skip(tools.skip, tools.reason)
  const authority = new Authority()
  const { cert, key } = authority.forServer()
  const server = await startMariadb(
    [
      "CREATE USER safe@'127.0.0.1' IDENTIFIED BY 's' REQUIRE SSL",
      "GRANT SELECT ON *.* TO safe@'127.0.0.1'",
      ...schemaOf('2.1', 'nacos'),
    ],
    [`--ssl-cert=${cert}`, `--ssl-key=${key}`],
  )
  try {
    const plan = (...more: readonly string[]) => failureOrNot(`safe@127.0.0.1:${server.port}`, more)
    expect(await plan('--mysql-tls', authority.caFile)).toMatchObject({ code: 0 })
    expect(await plan('--mysql-tls', new Authority().caFile)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/certificate|self.signed/i),
    })
    expect(await plan()).toMatchObject({ code: 2, stderr: expect.stringContaining('Access denied') })
  } finally {
    await server.stop()
  }
})

test('a database that asks for the password itself does not get it without TLS and without its key', async () => {
  let gotMore = false
  const server = await fakeMysql(async (session) => {
    session.send(greeting(session.scramble))
    await session.next()
    session.send(switchTo('caching_sha2_password', session.scramble))
    await session.next()
    // The whole sign-in: the client asks for the key of the server, and gets one of somebody else.
    session.send(moreData(Buffer.of(4)))
    await session.next()
    session.send(moreData(Buffer.from(KEY_OF_SOMEBODY)))
    await session.next()
    gotMore = true
  })
  try {
    expect(await failureOrNot(`nacos@127.0.0.1:${server.port}`)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/asks for the password itself: use --mysql-tls, or --mysql-public-key/),
    })
    expect(gotMore).toBe(false)
  } finally {
    server.close()
  }
})

const KEY_OF_SOMEBODY = generateKeyPairSync('rsa', { modulusLength: 2_048 }).publicKey.export({
  type: 'spki',
  format: 'pem',
})

function failureOrNot(place: string, more: readonly string[] = []) {
  const file = join(mkdtempSync(join(inject('temporaryDirectory'), 'plan-')), 'old.plan')
  const from = `mysql://${place}/nacos`
  return runWaypost(['move', '--from', from, '--plan', file, ...more], { WAYPOST_MYSQL_PASSWORD: 's' })
}
