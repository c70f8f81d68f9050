import { spawn } from 'node:child_process'
import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startWaypost, temporaryDirectory, type Waypost } from './support/waypost.ts'

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url))

/** Runs a command with these lines on its standard input. */
async function run(args: readonly string[], lines: readonly string[] = [], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: {
      PATH: process.env['PATH'],
      WAYPOST_CLIENT_FILE: '/nowhere/client.json',
      WAYPOST_PASSWORD_RULE: 'off',
      ...env,
    },
  })
  child.stdin.on('error', () => undefined).end(lines.map((line) => `${line}\n`).join(''))
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
  return { code, stdout, stderr }
}

async function login(url: string, username: string, password: string) {
  const body = new URLSearchParams({ username, password })
  const response = await fetch(`${url}/svc/v1/auth/login`, { method: 'POST', body })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

/** The actions of tools, the oldest first. */
async function auditOf(url: string, username: string, password: string): Promise<string[]> {
  const { accessToken } = (await login(url, username, password)).body
  const answer = await fetch(`${url}/svc/v1/audit?pageSize=100`, {
    headers: { Authorization: `Bearer ${String(accessToken)}` },
  })
  const { events } = (await answer.json()) as { events: Record<string, string>[] }
  const byTool = events.filter(({ by }) => by === 'tool').toReversed()
  return byTool.map(({ operation, item, result }) => `${operation} ${item} ${result}`)
}

describe('in the directory of a stopped server', () => {
  let dataDir: string

  beforeAll(async () => {
    const server = await startWaypost({ dataDir: temporaryDirectory('users-') })
    dataDir = server.dataDir
    await server.stop()
  })

  test('users are made, listed, changed and removed, and the next start asks for sign-in', async () => {
    const at = ['--data-dir', dataDir]
    expect(await run(['user', 'add', 'ann', '--admin', ...at], ['first'])).toMatchObject({
      code: 0,
      stderr: '',
    })
    expect(await run(['user', 'add', 'bob', ...at], ['second'])).toMatchObject({ code: 0 })
    expect(await run(['user', 'add', 'bob', ...at], ['second'])).toMatchObject({ code: 2 })
    const listed = await run(['user', 'list', '--json', ...at])
    expect(JSON.parse(listed.stdout)).toEqual([
      { username: 'ann', roles: ['ROLE_ADMIN'] },
      { username: 'bob', roles: [] },
    ])
    expect(await run(['user', 'password', 'ann', ...at], ['third'])).toMatchObject({ code: 0 })
    expect(await run(['key', 'rotate', ...at])).toMatchObject({ code: 0 })
    expect((await run(['user', 'remove', 'ann', ...at])).stderr).toContain('last administrator')
    const server = await startWaypost({ dataDir })
    expect((await login(server.url, 'ann', 'first')).status).toBe(403)
    expect((await login(server.url, 'ann', 'third')).body).toMatchObject({ globalAdmin: true })
    expect((await run(['user', 'list', ...at])).stderr).toMatch(/in use|running/i)
    expect(await auditOf(server.url, 'ann', 'third')).toEqual([
      'create user user ann done',
      'add role role ROLE_ADMIN of user ann done',
      'create user user bob done',
      'create user user bob refused',
      'set password user ann done',
      'rotate keys access done',
      'remove user user ann refused',
    ])
    await server.stop()
    expect(await run(['user', 'remove', 'bob', ...at])).toMatchObject({ code: 0 })
  })

  test('leave the store sound, and its files with the owner alone', async () => {
    expect(await run(['doctor', '--data-dir', dataDir])).toMatchObject({ code: 0 })
    expect(statSync(join(dataDir, 'waypost.db')).mode & 0o777).toBe(0o600)
  })

  test.each([
    ['without a name', ['user', 'add'], "missing required argument 'name'"],
    ['with a password as an argument', ['user', 'add', 'x', 'secret'], 'too many arguments'],
    [
      'in two places',
      ['user', 'add', 'x', '--server', 'http://127.0.0.1:1', '--data-dir'],
      'Give one of --server',
    ],
    ['with a name that no user may have', ['user', 'add', 'a\tb', '--data-dir'], 'NAME must be'],
    ['that is none', ['user', 'rename', 'x'], "unknown command 'rename'"],
  ])('a command %s is refused', async (_, args, message) => {
    const given = args.at(-1) === '--data-dir' ? [...args, dataDir] : args
    const { code, stderr } = await run(given, ['password'])
    expect(code).not.toBe(0)
    expect(stderr).toContain(message)
    if (!/^(?:Give|NAME)/.test(message)) expect(stderr).toContain('Add --help')
  })

  test('an empty password, and a missing one, change nothing', async () => {
    const args = ['user', 'password', 'ann', '--data-dir', dataDir]
    expect((await run(args, [''])).stderr).toContain('1 to 256 characters')
    expect((await run(args)).stderr).toContain('standard input')
  })

  test('a missing or empty directory becomes a store by `user add`, whose server then asks for sign-in', async () => {
    const empty = temporaryDirectory('empty-')
    mkdirSync(join(empty, 'lost+found'))
    for (const directory of [join(empty, 'a', 'b'), empty].toReversed()) {
      const made = await run(['user', 'add', 'ann', '--admin', '--data-dir', directory], ['a good password'])
      expect([made.code, made.stderr]).toEqual([0, ''])
      expect(made.stdout).toContain(`The store in ${directory} is new.`)
      expect(statSync(join(directory, 'waypost.db')).mode & 0o777).toBe(0o600)
      const again = await run(['user', 'add', 'bob', '--data-dir', directory], ['a good password'])
      expect(again.stdout).toBe('The user bob is made and may do nothing yet.\n')
      const server = await startWaypost({ dataDir: directory })
      expect(server.output()).not.toContain('there is no administrator yet')
      expect((await login(server.url, 'ann', 'a good password')).body).toMatchObject({ globalAdmin: true })
      expect((await fetch(`${server.url}/svc/v1/ns/operator/switches`)).status).toBe(403)
      await server.stop()
    }
  })

  test('the first administrator is made once, with the password in a file', async () => {
    const directory = join(temporaryDirectory('first-'), 'data')
    const file = join(temporaryDirectory('secret-'), 'password')
    writeFileSync(file, 'a good password\n')
    const args = (name: string) => ['user', 'add', name, '--first', '--data-dir', directory]
    const made = await run([...args('ann'), '--password-file', file])
    expect(made).toMatchObject({
      code: 0,
      stdout: `The user ann is the first administrator. The store in ${directory} is new.\n`,
    })
    writeFileSync(file, '')
    for (const name of ['ann', 'bob'])
      expect(await run([...args(name), '--password-file', file])).toMatchObject({
        code: 0,
        stdout: 'There is an administrator already: nothing was changed.\n',
      })
    const bob = ['user', 'add', 'bob', '--password-file', file, '--data-dir', directory]
    expect((await run(bob)).stderr).toContain('1 to 256 characters')
    const listed = await run(['user', 'list', '--json', '--data-dir', directory])
    expect(JSON.parse(listed.stdout)).toEqual([{ username: 'ann', roles: ['ROLE_ADMIN'] }])
    const remote = await run(['user', 'add', 'ann', '--first', '--server', 'http://127.0.0.1:1'], ['x'])
    expect([remote.code, remote.stderr]).toEqual([2, expect.stringContaining('--first works on a store')])
  })

  test('a directory with other files does not become one', async () => {
    const used = temporaryDirectory('used-')
    writeFileSync(join(used, 'waypost.json'), '{}')
    const { code, stderr } = await run(['user', 'add', 'ann', '--data-dir', used], ['a good password'])
    expect([code, stderr]).toEqual([1, expect.stringContaining('its database waypost.db is missing')])
  })

  test('a directory without a store is not made into one by other commands', async () => {
    const { code, stderr } = await run(['user', 'list', '--data-dir', join(dataDir, 'none')])
    expect([code, stderr]).toEqual([1, expect.stringContaining('holds no Waypost store')])
  })
})

test('on a server without sign-in, a refusal says how that begins, and not how to sign in', async () => {
  const server = await startWaypost()
  const expected =
    'waypost: The server refuses this: Users and keys are managed by administrators who sign in: start with --auth.'
  for (const words of [
    ['user', 'list'],
    ['key', 'rotate'],
    ['role', 'list'],
  ]) {
    const { code, stderr } = await run([...words, '--server', server.url])
    expect([code, stderr.trimEnd()]).toEqual([2, expected])
  }
  await server.stop()
})

describe('on a running server', () => {
  let server: Waypost
  const signedIn = { WAYPOST_PASSWORD: 'secret' }

  beforeAll(async () => {
    server = await startWaypost({ settings: { auth: 'on' } })
    const code = /code=([\w-]+)/.exec(server.output())![1]!
    const body = new URLSearchParams({ code, password: 'secret' })
    await fetch(`${server.url}/svc/v1/auth/users/admin`, { method: 'POST', body })
  })
  afterAll(() => server.stop())

  test('an administrator manages users, with the own password first', async () => {
    const at = ['--url', server.url, '--username', 'nacos']
    expect(await run(['user', 'add', 'ann', '--admin', ...at], ['secret', 'first'])).toMatchObject({
      code: 0,
    })
    expect(await run(['user', 'password', 'ann', ...at], ['other'], signedIn)).toMatchObject({ code: 0 })
    expect((await login(server.url, 'ann', 'other')).status).toBe(200)
    const { stdout } = await run(['user', 'list', ...at], [], signedIn)
    expect(stdout).toBe('USER   ROLES\nnacos  ROLE_ADMIN\nann    ROLE_ADMIN\n')
    expect(await run(['user', 'remove', 'ann', ...at], [], signedIn)).toMatchObject({ code: 0 })
  })

  test('a user changes the own password, and nothing else', async () => {
    const asAdministrator = ['--url', server.url, '--username', 'nacos']
    await run(['user', 'add', 'bob', ...asAdministrator], ['old'], signedIn)
    const asBob = ['--url', server.url, '--username', 'bob']
    const changed = await run(['user', 'password', 'bob', ...asBob], ['old', 'new'])
    expect(changed).toMatchObject({ code: 0, stderr: '' })
    expect((await login(server.url, 'bob', 'new')).status).toBe(200)
    const refused = await run(['user', 'password', 'nacos', ...asBob], ['new', 'mine'])
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining(
        'bob may not write users, roles and permissions. This is for administrators only.',
      ),
    ])
    expect((await run(['user', 'list', ...asBob], ['wrong'])).stderr).toContain(
      'does not sign in bob: the password is wrong',
    )
  })

  test('a rotated key lets tokens be, and a leaked one ends them', async () => {
    const { accessToken } = (await login(server.url, 'nacos', 'secret')).body
    const byToken = { WAYPOST_ACCESS_TOKEN: String(accessToken) }
    const at = ['--url', server.url]
    expect(await run(['key', 'rotate', ...at], [], byToken)).toMatchObject({ code: 0 })
    expect(await run(['user', 'list', ...at], [], byToken)).toMatchObject({ code: 0 })
    const leaked = ['key', 'rotate', '--leaked', ...at, '--username', 'nacos']
    expect((await run(leaked, ['secret'])).stdout).toContain('everybody signs in again')
    expect(await run(['user', 'list', ...at], [], byToken)).toMatchObject({ code: 2 })
  })

  test('export and backup sign in, by a password or a token', async () => {
    const to = temporaryDirectory('export-')
    const exported = (name: string) => ['export', '--url', server.url, '--to', join(to, name)]
    expect((await run(exported('a.zip'))).stderr).toContain('--username')
    expect(await run([...exported('b.zip'), '--username', 'nacos'], [], signedIn)).toMatchObject({ code: 0 })
    const { accessToken } = (await login(server.url, 'nacos', 'secret')).body
    const byToken = { WAYPOST_ACCESS_TOKEN: String(accessToken) }
    expect(await run(exported('c.zip'), [], byToken)).toMatchObject({ code: 0 })
    expect(await run(['backup', '--url', server.url], [], byToken)).toMatchObject({ code: 0 })
    expect((await run(['backup', '--url', server.url])).stderr).toContain('--username')
  })
})
