/** Users, roles and permissions on both dialects (http-compat.md section 7). */
import { beforeEach, describe, expect, test } from 'vitest'
import { ADMINISTRATOR_ROLE, USER } from '../../src/core/access/access-records.ts'
import type { AuditEntry } from '../../src/core/audit/audit-event.ts'
import type { Authorisation } from '../../src/operations/authorisation.ts'
import { type Asked, startFixture } from './fixture.ts'

const EVERYBODY: Authorisation = { isOn: true, allows: () => true }
const DIALECTS = ['svc', 'nacos'] as const
type Dialect = (typeof DIALECTS)[number]

let entries: AuditEntry[]
let at: ReturnType<typeof startFixture>
beforeEach(() => {
  entries = []
  const trail = { record: (entry: AuditEntry) => void entries.push(entry), tallyOf: () => ({ count: 0 }) }
  at = startFixture({ authorisation: EVERYBODY, trail })
})

type Params = Record<string, string>

function ask(dialect: Dialect, [method, path]: [string, string], params: Params = {}) {
  return at[dialect](method, `/auth${path}`, { params })
}

function done(message: string): object {
  return { status: 200, json: { code: 200, message, data: null } }
}

function seen({ answer, text }: Asked): object {
  return { status: answer?.status, json: JSON.parse(text) as unknown }
}

/** The status, and the text or the detail of a refusal. */
function refusal({ answer, text }: Asked): unknown[] {
  return [answer?.status, text.startsWith('{') ? JSON.parse(text).detail : text]
}

async function addUser(username: string, role?: string): Promise<void> {
  await ask('svc', ['POST', '/users'], { username, password: `password of ${username}` })
  if (role !== undefined) await ask('svc', ['POST', '/roles'], { username, role })
}

/** The entries of a list. */
async function listed(path: string, params: Params = {}): Promise<Params[]> {
  const { text } = await ask('svc', ['GET', path], params)
  return (JSON.parse(text) as { pageItems: Params[] }).pageItems
}

describe.each(DIALECTS)('/%s', (dialect) => {
  test('makes, changes and removes users', async () => {
    const pair = { username: 'ann', password: 'one' }
    expect(seen(await ask(dialect, ['POST', '/users'], pair))).toEqual(done('create user ok!'))
    expect(at.state.record(USER, 'ann')?.passwordHash).toBe('hash of one')
    const changed = await ask(dialect, ['PUT', '/users'], { username: 'ann', newPassword: 'two' })
    expect(seen(changed)).toEqual(done('update user ok!'))
    expect(at.state.record(USER, 'ann')?.passwordHash).toBe('hash of two')
    expect(seen(await ask(dialect, ['DELETE', '/users'], { username: 'ann' }))).toEqual(
      done('delete user ok!'),
    )
    expect(at.state.recordCount(USER)).toBe(0)
  })

  test('makes no user called like nobody in the audit', async () => {
    const asked = await ask(dialect, ['POST', '/users'], { username: '-', password: 'x' })
    expect(asked.answer?.status).toBe(400)
    expect(at.state.recordCount(USER)).toBe(0)
    expect((await ask(dialect, ['POST', '/users'], { username: '-a', password: 'x' })).answer?.status).toBe(
      200,
    )
  })

  test('lists users page by page, and no hash', async () => {
    for (const username of ['ann', 'bob', 'carl']) await addUser(username)
    const page = await ask(dialect, ['GET', '/users'], { pageNo: '2', pageSize: '2' })
    expect(seen(page)).toEqual({
      status: 200,
      json: {
        totalCount: 3,
        pageNumber: 2,
        pagesAvailable: 2,
        pageItems: [{ username: 'carl', password: '' }],
      },
    })
    expect((await ask(dialect, ['GET', '/users'])).text).not.toContain('hash')
  })

  test('gives and takes roles, also that of administrators', async () => {
    await addUser('ann')
    await addUser('bob', ADMINISTRATOR_ROLE)
    const role = { role: ADMINISTRATOR_ROLE, username: 'ann' }
    expect(seen(await ask(dialect, ['POST', '/roles'], role))).toEqual(done('add role ok!'))
    expect(await listed('/roles')).toEqual([{ role: ADMINISTRATOR_ROLE, username: 'bob' }, role])
    expect(seen(await ask(dialect, ['DELETE', '/roles'], role))).toEqual(done('delete role of user ann ok!'))
    expect(await listed('/roles')).toEqual([{ role: ADMINISTRATOR_ROLE, username: 'bob' }])
  })

  test('gives and takes permissions', async () => {
    await addUser('ann', 'devs')
    const permission = { role: 'devs', resource: 'dev:*:*', action: 'rw' }
    expect(seen(await ask(dialect, ['POST', '/permissions'], permission))).toEqual(done('add permission ok!'))
    expect(await listed('/permissions')).toEqual([permission])
    expect(seen(await ask(dialect, ['DELETE', '/permissions'], permission))).toEqual(
      done('delete permission ok!'),
    )
    expect(await listed('/permissions')).toEqual([])
  })

  test('suggests the users and roles whose name contains a text', async () => {
    await addUser('ann', 'devs')
    await addUser('joanne', 'devs')
    await addUser('bob', 'ops')
    expect(seen(await ask(dialect, ['GET', '/users/search'], { username: 'ann' }))).toEqual({
      status: 200,
      json: ['ann', 'joanne'],
    })
    expect(seen(await ask(dialect, ['GET', '/roles/search'], { role: 'dev' }))).toEqual({
      status: 200,
      json: ['devs'],
    })
    expect(seen(await ask(dialect, ['GET', '/roles/search']))).toEqual({ status: 200, json: ['devs', 'ops'] })
  })

  test.each([
    [{ username: '' }, 'username'],
    [{ username: 'an\u0007n' }, 'username'],
    [{ username: 'ann\u200b' }, 'username'],
    [{ username: 'a'.repeat(129) }, 'username'],
    [{ password: '' }, 'password'],
    [{ password: 'p'.repeat(257) }, 'password'],
  ])('refuses a new user with %j', async (wrong, parameter) => {
    const { answer, text } = await ask(dialect, ['POST', '/users'], {
      username: 'ann',
      password: 'p',
      ...wrong,
    })
    expect([answer?.status, text]).toEqual([400, expect.stringContaining(parameter)])
    expect(text).not.toContain('ppp')
  })

  test.each([
    ['resource', 'dev'],
    ['resource', 'dev:G:config/'],
    ['action', 'x'],
  ])('refuses a permission with the %s %s', async (name, value) => {
    await addUser('ann', 'devs')
    const wrong = { role: 'devs', resource: 'dev:*:*', action: 'r', [name]: value }
    const { answer, text } = await ask(dialect, ['POST', '/permissions'], wrong)
    expect([answer?.status, text]).toEqual([400, expect.stringContaining(name)])
  })
})

describe('refusals', () => {
  beforeEach(() => addUser('u1', ADMINISTRATOR_ROLE))

  test.each([
    ['POST', '/users', { username: 'u1', password: 'p' }, "caused: user 'u1' already exist!;"],
    ['DELETE', '/users', { username: 'u1' }, 'caused: cannot delete admin: u1;'],
    ['DELETE', '/roles', { username: 'u1', role: ADMINISTRATOR_ROLE }, 'caused: cannot delete admin: u1;'],
    ['DELETE', '/roles', { role: ADMINISTRATOR_ROLE }, 'caused: cannot delete admin: u1;'],
    ['PUT', '/users', { username: 'x', newPassword: 'p' }, 'caused: user x not exist!;'],
    ['POST', '/roles', { username: 'x', role: 'r' }, 'caused: user x not exist!;'],
    ['POST', '/permissions', { role: 'rx', resource: 'dev:*:*', action: 'r' }, 'caused: role rx not found!;'],
  ])(
    'of %s %s with %j have the texts of the reference server on /nacos',
    async (...[method, path, params, text]) => {
      const before = await Promise.all(['/users', '/roles', '/permissions'].map((each) => listed(each)))
      expect(refusal(await ask('nacos', [method, path], params as Params))).toEqual([400, text])
      const after = await Promise.all(['/users', '/roles', '/permissions'].map((each) => listed(each)))
      expect(after).toEqual(before)
    },
  )

  test.each([
    ['POST', '/users', { username: 'u1', password: 'p' }, 400, 'There is a user u1 already.'],
    ['DELETE', '/users', { username: 'u1' }, 400, 'u1 is the last administrator.'],
    ['PUT', '/users', { username: 'x', newPassword: 'p' }, 404, 'There is no user x.'],
    ['DELETE', '/users', { username: 'x' }, 404, 'There is no user x.'],
    [
      'POST',
      '/permissions',
      { role: 'rx', resource: 'dev:*:*', action: 'r' },
      404,
      'No user has the role rx.',
    ],
  ])('of %s %s with %j are problem details on /svc', async (...[method, path, params, status, detail]) => {
    expect(refusal(await ask('svc', [method, path], params as Params))).toEqual([status, detail])
  })

  test('tools of the reference server may remove a user that is not there', async () => {
    expect(seen(await ask('nacos', ['DELETE', '/users'], { username: 'x' }))).toEqual(done('delete user ok!'))
  })
})

describe('searches', () => {
  beforeEach(async () => {
    for (const username of ['ann', 'anna', 'bob']) await addUser(username, `${username}s`)
    await ask('svc', ['POST', '/permissions'], { role: 'anns', resource: 'dev:*:*', action: 'r' })
    await ask('svc', ['POST', '/permissions'], { role: 'bobs', resource: 'dev:*:*', action: 'r' })
  })

  test.each([
    [{ username: 'ann' }, ['ann']],
    [{ username: 'ann', search: 'accurate' }, ['ann']],
    [{ username: 'ann*', search: 'accurate' }, []],
    [{ username: 'ann', search: 'blur' }, ['ann']],
    [{ username: 'ann*', search: 'blur' }, ['ann', 'anna']],
    [{ username: '*n*', search: 'blur' }, ['ann', 'anna']],
    [{ search: 'blur' }, ['ann', 'anna', 'bob']],
  ])('of users with %j find %j', async (params, expected) => {
    expect((await listed('/users', params as Params)).map(({ username }) => username)).toEqual(expected)
  })

  test('of roles are by role and by user', async () => {
    const rolesOf = async (params: Params) => (await listed('/roles', params)).map(({ role }) => role)
    expect(await rolesOf({ username: 'ann' })).toEqual(['anns'])
    expect(await rolesOf({ role: 'ann*', search: 'blur' })).toEqual(['anns', 'annas'])
    expect(await rolesOf({ role: 'ann*', username: 'bob', search: 'blur' })).toEqual([])
  })

  test('of permissions are by role', async () => {
    expect((await listed('/permissions', { role: 'anns' })).map(({ role }) => role)).toEqual(['anns'])
    expect(await listed('/permissions', { role: 'ann*', search: 'blur' })).toHaveLength(1)
    expect(await listed('/permissions')).toHaveLength(2)
  })
})

test('the audit says who was changed, and no password', async () => {
  await addUser('ann', 'devs')
  await ask('svc', ['PUT', '/users'], { username: 'ann', newPassword: 'secret' })
  await ask('svc', ['PUT', '/users'], { username: 'ann', oldPassword: 'secret', newPassword: 'secret 2' })
  const permission = { role: 'devs', resource: 'dev:*:*', action: 'r' }
  await ask('svc', ['POST', '/permissions'], permission)
  await ask('svc', ['DELETE', '/permissions'], permission)
  await ask('svc', ['DELETE', '/roles'], { role: 'devs' })
  await ask('svc', ['DELETE', '/users'], { username: 'ann' })
  expect(entries.map(({ operation, item, result }) => `${operation} | ${item} | ${result}`)).toEqual([
    'create user | user ann | done',
    'add role | role devs of user ann | done',
    'set password | user ann | done',
    'change own password | user ann | done',
    'add permission | r dev:*:* of role devs | done',
    'remove permission | r dev:*:* of role devs | done',
    'remove role | role devs of all users | done',
    'remove user | user ann | done',
  ])
  expect(JSON.stringify(entries)).not.toMatch(/secret|password of/)
})

test('nobody manages users while authentication is off: who did would keep what they made', async () => {
  const open = startFixture()
  for (const dialect of DIALECTS) {
    const made = await open[dialect]('POST', '/auth/users', { params: { username: 'eve', password: 'p' } })
    expect(made.answer?.status).toBe(403)
    expect((await open[dialect]('GET', '/auth/users')).answer?.status).toBe(403)
  }
  expect(open.state.recordCount(USER)).toBe(0)
})
