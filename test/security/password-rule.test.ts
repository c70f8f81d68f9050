/** The rule for new passwords is at every door, and nowhere else. */
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sourceFiles } from '../support/sources.ts'
import { startWaypost, temporaryDirectory, type Waypost } from '../support/waypost.ts'
import { apiDocument } from '../../src/server/doors/api-document.ts'
import { withoutReferences } from '../support/without-references.ts'

const GOOD = 'correct horse'
/** A user whose name has the length of a password. */
const NAME = 'nacosnacosn'
const WEAK = [
  ['short', 'at least 10 characters'],
  ['Password123', 'among the commonest'],
  ['NacosNacosN', 'besides the name of its user'],
] as const
const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

/** The answer of an interface to a new password of the user {@link NAME}. */
interface Said {
  readonly taken: boolean
  readonly text: string
}

let server: Waypost
let token: string

async function ask(operation: string, form: Record<string, string>, bearer = token): Promise<Said> {
  const [method, path] = operation.split(' ')
  const query = new URLSearchParams(form)
  const isDelete = method === 'DELETE'
  const answer = await fetch(`${server.url}${path}${isDelete ? `?${query}` : ''}`, {
    method: method!,
    ...(isDelete ? {} : { body: query }),
    headers: { Authorization: `Bearer ${bearer}` },
  })
  const text = await answer.text()
  expect([200, 400], text).toContain(answer.status)
  return { taken: answer.status === 200, text }
}

async function login(username: string, password: string): Promise<string> {
  const { text } = await ask('POST /svc/v1/auth/login', { username, password }, '')
  return (JSON.parse(text) as { accessToken: string }).accessToken
}

/** Runs `waypost` with a password on its standard input. */
async function command(words: readonly string[], password: string, rule = 'on'): Promise<Said> {
  const env = { ...process.env, WAYPOST_PASSWORD_RULE: rule, WAYPOST_ACCESS_TOKEN: token }
  const child = spawn(process.execPath, [MAIN, ...words], { env })
  child.stdin.end(`${password}\n`)
  let text = ''
  child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()))
  const code = await new Promise((resolve) => child.on('close', resolve))
  return { taken: code === 0, text }
}

const onServer = (...words: string[]): readonly string[] => [...words, '--server', server.url]

/** A user whom nobody has, and one with a good password. */
const nobody = () => ask('DELETE /nacos/v1/auth/users', { username: NAME })
async function somebody(): Promise<void> {
  await nobody()
  await ask('POST /svc/v1/auth/users', { username: NAME, password: GOOD })
}

async function directoryWithUser(): Promise<string> {
  const directory = temporaryDirectory('rule-')
  await command(['user', 'add', NAME, '--data-dir', directory], GOOD)
  return directory
}

function inFile(password: string): string {
  const file = join(temporaryDirectory('password-'), 'password')
  writeFileSync(file, password)
  return file
}

/** The doors by their names: what comes before, and how a new password goes through. */
type Door = readonly [name: string, before: () => Promise<unknown>, open: (password: string) => Promise<Said>]

const creating = (path: string): Door => [
  `POST ${path}`,
  nobody,
  (password) => ask(`POST ${path}`, { username: NAME, password }),
]
const setting = (path: string): Door => [
  `PUT ${path} of an administrator`,
  somebody,
  (newPassword) => ask(`PUT ${path}`, { username: NAME, newPassword }),
]
const changing = (path: string): Door => [
  `PUT ${path} of the user`,
  somebody,
  async (newPassword) => {
    const form = { username: NAME, newPassword, oldPassword: GOOD }
    return ask(`PUT ${path}`, form, await login(NAME, GOOD))
  },
]
const adding = (flags: readonly string[] = []): Door => [
  ['user add --data-dir', ...flags].join(' '),
  async () => undefined,
  (password) => command(['user', 'add', NAME, '--data-dir', temporaryDirectory('rule-'), ...flags], password),
]

let directory: string
const DOORS: readonly Door[] = [
  creating('/svc/v1/auth/users'),
  creating('/nacos/v1/auth/users'),
  setting('/svc/v1/auth/users'),
  setting('/nacos/v1/auth/users'),
  changing('/svc/v1/auth/users'),
  changing('/nacos/v1/auth/users'),
  ['user add --server', nobody, (password) => command(onServer('user', 'add', NAME), password)],
  [
    'user add --password-file',
    nobody,
    (password) => command(onServer('user', 'add', NAME, '--password-file', inFile(password)), ''),
  ],
  ['user password --server', somebody, (password) => command(onServer('user', 'password', NAME), password)],
  adding(),
  adding(['--admin']),
  adding(['--first']),
  [
    'user password --data-dir',
    async () => (directory = await directoryWithUser()),
    (password) => command(['user', 'password', NAME, '--data-dir', directory], password),
  ],
]

beforeAll(async () => {
  server = await startWaypost({ settings: { auth: 'on', 'password-rule': 'on' } })
})
afterAll(() => server?.stop())

describe('with the rule', () => {
  test('the first administrator has a good password, and a refused one leaves the code as it was', async () => {
    const code = /code=([\w-]+)/.exec(server.output())![1]!
    const paths = ['/svc/v1/auth/users/admin', '/nacos/v1/auth/users/admin']
    for (const path of paths)
      for (const password of ['short', 'Password123'])
        expect(await ask(`POST ${path}`, { code, password }, '')).toEqual({
          taken: false,
          text: expect.stringMatching(/A new password has|commonest/),
        })
    expect(await ask(`POST ${paths[0]}`, { code, password: GOOD }, '')).toMatchObject({ taken: true })
    token = await login('nacos', GOOD)
  })

  describe.each(DOORS)('%s', (name, before, open) => {
    test('takes a good new password, and says what is wrong with others', async () => {
      await before()
      // All doors have the same rule. A command starts a process for each password.
      const weak = name.startsWith('user') ? WEAK.slice(-1) : WEAK
      for (const [password, problem] of weak)
        expect(await open(password)).toEqual({ taken: false, text: expect.stringContaining(problem) })
      expect(await open('another good one')).toMatchObject({ taken: true })
    }, 60_000)
  })

  test('the operations with a new password are these', () => {
    const named = /^(password|newPassword)$/
    const { paths } = withoutReferences(JSON.parse(apiDocument())) as {
      paths: Record<string, Record<string, { parameters?: { name: string }[] }>>
    }
    const found = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, { parameters = [] }]) => parameters.some(({ name }) => named.test(name)))
        .map(([method]) => `${method.toUpperCase()} ${path}`),
    )
    // The login of 3.x is there, and only signs in.
    expect(found).toContain('POST /nacos/v3/auth/user/login')
    const others = found.filter((name) => !/\/login$|\/session$|\/users\/admin$/.test(name))
    const doors = DOORS.flatMap(([name]) => /^(?:POST|PUT) [^ ]+/.exec(name) ?? [])
    expect(others.toSorted()).toEqual([...new Set(doors)].toSorted())
  })
})

test('without the rule any password is taken', async () => {
  const open = await startWaypost({ settings: { auth: 'on', 'password-rule': 'off' } })
  const body = new URLSearchParams({ code: /code=([\w-]+)/.exec(open.output())![1]!, password: 'x' })
  expect((await fetch(`${open.url}/svc/v1/auth/users/admin`, { method: 'POST', body })).status).toBe(200)
  const words = ['user', 'add', 'ann', '--data-dir', temporaryDirectory('rule-')]
  expect(await command(words, 'short', 'off')).toMatchObject({ taken: true })
  await open.stop()
})

/** A door that hashes past the rule would take any password. */
test('only the renewal of an old hash passes by the rule', () => {
  const past = sourceFiles().filter(({ code }) => /asswords\.hash\(/.test(code))
  expect(past.map(({ file }) => file)).toEqual(['src/sign-in/password-sign-in.ts'])
})
