/** Signing in from a terminal, contexts, and who may read the token. */
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { raw } from '../interface/transfer-support.ts'
import { startManaged, type ManagedWaypost } from '../support/administrator.ts'
import { needTool } from '../support/need-tool.ts'
import { startWaypost, temporaryDirectory } from '../support/waypost.ts'
import { Terminal } from './terminal.ts'

let managed: ManagedWaypost
let url: string

beforeAll(async () => {
  managed = await startManaged()
  url = managed.waypost.url
  const permissions = { 'public:*:config/*': 'r' } as const
  await managed.addUser({ username: 'ann', password: 'annas password', permissions })
})

afterAll(() => managed?.waypost.stop())

const login = (terminal: Terminal, ...flags: string[]) =>
  terminal.run(['login', '--server', url, '--username', 'nacos', ...flags], 'secret\n')

describe('login', () => {
  test('takes the address as a word, and needs no name where nobody signs in', async () => {
    const terminal = new Terminal()
    const open = await startWaypost()
    const address = `127.0.0.1:${open.port}`
    expect(await terminal.ok('login', address)).toMatch(/^http:\/\/127\.0\.0\.1:\d+ lets everybody in: /)
    expect(await terminal.ok('status')).toMatch(/^ {2}namespace {2}public$/m)
    await open.stop()
    const away = await terminal.run(['status'])
    expect(away.err).toMatch(/cannot be reached/)
    expect(away.err).toContain(`(of the context 127.0.0.1-${open.port}, the current one)`)
    const ran = await terminal.run(
      ['login', `127.0.0.1:${managed.waypost.port}`, '--username', 'nacos'],
      'secret\n',
    )
    expect(ran.out).toMatch(/^Signed in to /)
    expect((await terminal.run(['login', address, '--server', url])).err).toContain('named twice')
  }, 60_000)

  test('stores the token for the owner alone, and other commands use it', async () => {
    const terminal = new Terminal()
    expect(await terminal.run(['config', 'list', '--server', url])).toMatchObject({ code: 2 })
    const { code, out, err } = await login(terminal)
    expect([code, err]).toEqual([0, ''])
    const name = `127.0.0.1-${managed.waypost.port}`
    expect(out).toMatch(
      new RegExp(`^Signed in to ${url} as nacos, until .*\\. The context ${name} is the current one\\.\n`),
    )
    expect(statSync(terminal.clientFile).mode & 0o777).toBe(0o600)
    expect(statSync(dirname(terminal.clientFile)).mode & 0o777).toBe(0o700)
    expect(readFileSync(terminal.clientFile, 'utf8')).not.toContain('secret')
    expect((await terminal.run(['config', 'put', 'hello', '-'], 'world')).code).toBe(0)
    expect(await terminal.ok('config', 'get', 'hello')).toBe('world')
    const [json, same] = [['--json'], ['-o', 'json']].map((flags) => ['config', 'get', 'hello', ...flags])
    expect(JSON.parse(await terminal.ok(...json!))).toMatchObject({ content: 'world' })
    expect(await terminal.ok(...json!)).toBe(await terminal.ok(...same!))
    const users = JSON.parse(await terminal.ok('user', 'list', '-o', 'json')) as object[]
    expect(users).toEqual(expect.arrayContaining([{ username: 'nacos', roles: ['ROLE_ADMIN'] }]))
    expect(JSON.parse(await terminal.ok('context', 'list', '-o', 'json'))).toEqual([
      {
        name,
        current: true,
        server: url,
        namespaceId: '',
        username: 'nacos',
        signedInUntil: expect.any(Number),
      },
    ])
    await terminal.ok('logout')
    expect((await terminal.run(['config', 'get', 'hello'])).err).toContain('waypost login')
  })

  test('as a user without rights on servers, the status leaves them out and names the namespace', async () => {
    const terminal = new Terminal()
    await terminal.run(['login', '--server', url, '--username', 'ann'], 'annas password\n')
    const shown = await terminal.ok('status')
    expect(shown).toMatch(/^ {2}namespace {2}public$/m)
    expect(shown).not.toContain('servers')
  })

  test('with a wrong password stores nothing', async () => {
    const terminal = new Terminal()
    const { code, err } = await terminal.run(['login', '--server', url, '--username', 'nacos'], 'wrong\n')
    expect([code, err]).toEqual([
      2,
      expect.stringContaining('does not sign in nacos: the password is wrong, or there is no such user'),
    ])
    expect(() => statSync(terminal.clientFile)).toThrow('ENOENT')
  })

  test('at a server that lets everybody in stores no token', async () => {
    const open = await startWaypost()
    const terminal = new Terminal()
    const args = ['login', '--server', open.url, '--context', 'open', '--username', 'ann']
    expect((await terminal.run(args, 'x\n')).out).toContain('lets everybody in')
    expect(readFileSync(terminal.clientFile, 'utf8')).not.toContain('token')
    expect(await terminal.ok('config', 'list', '-o', 'name')).toBe('')
    await open.stop()
  })

  test('a token is renewed without a password while it counts, and stored', async () => {
    const terminal = new Terminal()
    await login(terminal, '--context', 'here')
    type Stored = { contexts: { here: { token: string; renewMs: number; expiresMs: number } } }
    const stored = (): Stored => JSON.parse(readFileSync(terminal.clientFile, 'utf8')) as Stored
    const before = stored()
    await terminal.ok('user', 'list')
    expect(stored()).toEqual(before)
    before.contexts.here.renewMs = Date.now()
    // Two tokens of one second are equal: their times are in seconds.
    await sleep(1_100)
    writeFileSync(terminal.clientFile, JSON.stringify(before))
    await terminal.ok('user', 'list')
    const { here } = stored().contexts
    expect(here.token).not.toBe(before.contexts.here.token)
    expect(here.renewMs).toBeGreaterThan(Date.now())
    // The audit is written a moment later.
    const audit = () => terminal.ok('audit', '--operation', 'renew token', '-o', 'json')
    await expect.poll(audit, { timeout: 15_000, interval: 250 }).toContain('"by":"token"')
    expect(statSync(terminal.clientFile).mode & 0o777).toBe(0o600)
  })

  test('a token that has ended is renewed with the password of the environment, and stored', async () => {
    const terminal = new Terminal()
    await login(terminal, '--context', 'here')
    const file = JSON.parse(readFileSync(terminal.clientFile, 'utf8')) as {
      contexts: { here: { token: string; expiresMs: number } }
    }
    const { here } = file.contexts
    const ended = { ...file, contexts: { here: { ...here, token: 'ended', expiresMs: Date.now() } } }
    writeFileSync(terminal.clientFile, JSON.stringify(ended))
    const refused = await terminal.run(['user', 'list'])
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('waypost login')])
    const renewed = await terminal.run(['user', 'list'], '', { WAYPOST_PASSWORD: 'secret' })
    expect(renewed).toMatchObject({ code: 0, err: '' })
    expect(await terminal.ok('user', 'list')).toContain('nacos')
  })

  test('a file that others may read is refused', async () => {
    const terminal = new Terminal()
    await login(terminal)
    chmodSync(terminal.clientFile, 0o640)
    const { code, err } = await terminal.run(['config', 'list'])
    expect([code, err]).toEqual([2, expect.stringContaining('chmod 600')])
  })
})

describe('contexts', () => {
  test('choose the server, the namespace and the user', async () => {
    const other = await startWaypost()
    const terminal = new Terminal()
    await login(terminal, '--context', 'prod', '-n', 'shop')
    await terminal.ok('context', 'set', 'dev', '--server', other.url, '--namespace', 'dev')
    await terminal.run(['config', 'put', 'where', '-'], 'prod')
    await terminal.run(['config', 'put', 'where', '-', '--context', 'dev'], 'dev')
    expect(await terminal.ok('config', 'get', 'where')).toBe('prod')
    expect(await terminal.ok('config', 'get', 'where', '-n', 'dev', '--server', other.url)).toBe('dev')
    await terminal.ok('context', 'use', 'dev')
    expect(await terminal.ok('config', 'get', 'where')).toBe('dev')
    const chosen = await terminal.run(['config', 'get', 'where'], '', { WAYPOST_CONTEXT: 'prod' })
    expect(chosen.out).toBe('prod')
    // The token goes to the server that it is for, and to no other.
    expect(await terminal.ok('config', 'get', 'where', '--server', url, '-n', 'shop')).toBe('prod')
    expect(await terminal.run(['config', 'get', 'where', '--context', 'dev', '--server', url])).toMatchObject(
      { code: 2 },
    )
    await terminal.ok('context', 'remove', 'dev')
    expect(await terminal.run(['context', 'use', 'dev'])).toMatchObject({ code: 1 })
    expect(await terminal.ok('context', 'list')).not.toContain('dev')
    await other.stop()
  }, 60_000)

  test('change the server without the token', async () => {
    const terminal = new Terminal()
    await login(terminal, '--context', 'here')
    await terminal.ok('context', 'set', 'here', '--namespace', 'dev')
    expect(readFileSync(terminal.clientFile, 'utf8')).toContain('"token"')
    await terminal.ok('context', 'set', 'here', '--server', 'http://127.0.0.1:1')
    expect(readFileSync(terminal.clientFile, 'utf8')).not.toContain('"token"')
  })

  test.each(['__proto__', 'a b', '../x', ''])('may not have the name %j', async (name) => {
    const { code } = await new Terminal().run(['context', 'set', name, '--server', url])
    expect(code).toBe(2)
  })
})

test('a user who may only read is refused with exit code 2, as that user', async () => {
  const terminal = new Terminal({ WAYPOST_SERVER: url, WAYPOST_PASSWORD: 'annas password' })
  const flags = ['--username', 'ann']
  expect(await terminal.run(['config', 'put', 'x', '-', ...flags], 'x')).toMatchObject({
    code: 2,
    err: expect.stringMatching(
      /ann may not write public:DEFAULT_GROUP:config\/x\. An administrator gives the right: waypost permission add ROLE 'public:DEFAULT_GROUP:config\/x' w\n/,
    ),
  })
  expect(await terminal.run(['config', 'list', ...flags])).toMatchObject({ code: 0 })
  const zip = join(temporaryDirectory('session-'), 'a.zip')
  writeFileSync(zip, await raw({ 'G/a': 'x' }))
  const right =
    /ann may not write public:\S+\. An administrator gives the right: waypost permission add ROLE '\S+' w\n/
  for (const command of [['import'], ['config', 'import']])
    expect(await terminal.run([...command, '--from', zip, ...flags])).toMatchObject({
      code: 2,
      err: expect.stringMatching(right),
    })
  // A namespace without anything that the user may read would stay silent.
  for (const [what, named] of [
    ['config', 'dev:*:config/*'],
    ['service', 'dev:*:naming/*'],
  ] as const)
    expect(await terminal.run([what, 'watch', '-n', 'dev', ...flags])).toMatchObject({
      code: 2,
      err: expect.stringContaining(`ann may not read ${named}.`),
    })
  expect(await terminal.run(['config', 'watch', 'x', '-n', 'dev', ...flags])).toMatchObject({
    code: 2,
    err: expect.stringContaining('ann may not read dev:DEFAULT_GROUP:config/x.'),
  })
  const notSeen = 'dev  (not among the namespaces that you see)'
  expect(await terminal.ok('status', '-n', 'dev', ...flags)).toContain(notSeen)
  expect(await terminal.ok('status', ...flags)).toMatch(/^ {2}namespace {2}public$/m)
  const failed = await terminal.run(['audit', '-o', 'json', ...flags])
  expect(JSON.parse(failed.out)).toEqual({
    error: expect.stringContaining('ann may not read the audit. This is for administrators only.'),
  })
})

describe('users and rights', () => {
  test('are managed from a terminal', async () => {
    const terminal = new Terminal()
    await login(terminal)
    expect(await terminal.run(['user', 'add', 'bob'], 'a long password\n')).toMatchObject({ code: 0 })
    await terminal.ok('role', 'add', 'readers', 'bob')
    await terminal.ok('permission', 'add', 'readers', 'dev:*:config/*', 'r')
    expect(await terminal.ok('role', 'list', '--user', 'bob')).toBe('ROLE     USER\nreaders  bob\n')
    expect(JSON.parse(await terminal.ok('permission', 'list', '--role', 'readers', '-o', 'json'))).toEqual([
      { role: 'readers', resource: 'dev:*:config/*', action: 'r' },
    ])
    await terminal.ok('permission', 'remove', 'readers', 'dev:*:config/*', 'r')
    await terminal.ok('role', 'remove', 'readers', 'bob')
    await terminal.ok('user', 'remove', 'bob')
    expect(await terminal.ok('user', 'list', '-o', 'name')).not.toContain('bob')
    const audit = async (): Promise<unknown> =>
      JSON.parse(await terminal.ok('audit', '--operation', 'remove user', '-o', 'json'))
    await expect
      .poll(audit, { timeout: 15_000, interval: 250 })
      .toMatchObject([{ username: 'nacos', by: 'token', item: 'user bob', result: 'done' }])
  }, 60_000)
})

const script = needTool('script')

describe.skipIf(script.skip)('on a terminal', () => {
  test('passwords are asked for, and not shown', async () => {
    const terminal = new Terminal()
    const { out, code } = await terminal.onTerminal(
      ['login', '--server', url, '--username', 'nacos'],
      'secret\r',
    )
    expect([code, out]).toEqual([0, expect.stringContaining('Password of nacos: ')])
    expect(out.replace(/^secret\r\n/, '')).not.toContain('secret')
    // A token that has ended is renewed by asking.
    const file = readFileSync(terminal.clientFile, 'utf8')
    writeFileSync(terminal.clientFile, file.replace(/"expiresMs": \d+/, '"expiresMs": 1'))
    const asked = await terminal.onTerminal(['user', 'list'], 'secret\r')
    expect([asked.code, asked.out]).toEqual([0, expect.stringContaining('Password of nacos: ')])
    expect(await terminal.ok('user', 'list')).toContain('ROLE_ADMIN')
  })

  test('colours are shown there only, and not with NO_COLOR', async () => {
    const terminal = new Terminal({ WAYPOST_SERVER: url, WAYPOST_PASSWORD: 'secret' })
    const args = ['server', 'list', '--username', 'nacos']
    const coloured = await terminal.onTerminal(args)
    expect(coloured.out.startsWith('\u001b[1mSERVER')).toBe(true)
    expect((await terminal.onTerminal(args, '', { NO_COLOR: '1' })).out).toMatch(/^SERVER/)
    expect((await terminal.run(args)).out).toMatch(/^SERVER/)
    expect((await terminal.onTerminal(['help'])).out).toContain('\u001b[1mRun a server:')
    expect((await terminal.run(['help'])).out).not.toContain('\u001b')
  })
})
