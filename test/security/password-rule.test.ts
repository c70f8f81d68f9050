/** The rule for new passwords is at every door, and nowhere else. */
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startWaypost, temporaryDirectory, type Waypost } from '../support/waypost.ts'

const GOOD = 'correct horse'
const DOORS = [
  ['POST /svc/v1/auth/users', 'password'],
  ['POST /nacos/v1/auth/users', 'password'],
  ['PUT /svc/v1/auth/users', 'newPassword'],
  ['PUT /nacos/v1/auth/users', 'newPassword'],
] as const
const WEAK = ['short', 'Password123', 'nacosnacosn']

let server: Waypost
let token: string

async function ask(operation: string, form: Record<string, string>, bearer = token) {
  const [method, path] = operation.split(' ')
  const answer = await fetch(`${server.url}${path}`, {
    method: method!,
    body: new URLSearchParams(form),
    headers: { Authorization: `Bearer ${bearer}` },
  })
  return { status: answer.status, text: await answer.text() }
}

async function login(username: string, password: string): Promise<string> {
  const { text } = await ask('POST /svc/v1/auth/login', { username, password }, '')
  return (JSON.parse(text) as { accessToken: string }).accessToken
}

beforeAll(async () => {
  server = await startWaypost({ settings: { auth: 'on', 'password-rule': 'on' } })
}, 30_000)
afterAll(() => server?.stop())

describe('with the rule', () => {
  test('the first administrator has a good password, and a refused one leaves the code as it was', async () => {
    const code = /code=([\w-]+)/.exec(server.output())![1]!
    const make = (password: string) => ask('POST /svc/v1/auth/users/admin', { code, password }, '')
    for (const password of ['short', 'Password123']) {
      const refused = await make(password)
      expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('weak-password')])
    }
    expect((await make(GOOD)).status).toBe(200)
    token = await login('nacos', GOOD)
  })

  test.each(DOORS)('%s takes no weak password', async (operation, parameter) => {
    const username = parameter === 'password' ? 'nacosnacosn' : 'nacos'
    for (const password of parameter === 'password' ? WEAK : WEAK.slice(0, 2)) {
      const { status, text } = await ask(operation, { username, [parameter]: password })
      expect([status, text], password).toEqual([400, expect.stringMatching(/password/i)])
    }
  })

  test('the operations with a new password are these', () => {
    const named = /^(password|newPassword)$/
    const { paths } = JSON.parse(
      readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8'),
    ) as { paths: Record<string, Record<string, { parameters?: { name: string }[] }>> }
    const found = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, { parameters = [] }]) => parameters.some(({ name }) => named.test(name)))
        .map(([method]) => `${method.toUpperCase()} ${path}`),
    )
    const others = found.filter((name) => !/\/login$|\/session$|\/users\/admin$/.test(name))
    expect(others.toSorted()).toEqual(DOORS.map(([operation]) => operation).toSorted())
  })

  test('a user changes the own password to a good one only', async () => {
    await ask('POST /svc/v1/auth/users', { username: 'bob', password: GOOD })
    const change = async (newPassword: string) => {
      const form = { username: 'bob', newPassword, oldPassword: GOOD }
      return ask('PUT /svc/v1/auth/users', form, await login('bob', GOOD))
    }
    expect((await change('short')).status).toBe(400)
    expect((await change('another good one')).status).toBe(200)
  })
})

test('without the rule any password is taken', async () => {
  const open = await startWaypost({ settings: { auth: 'on', 'password-rule': 'off' } })
  const body = new URLSearchParams({ code: /code=([\w-]+)/.exec(open.output())![1]!, password: 'x' })
  expect((await fetch(`${open.url}/svc/v1/auth/users/admin`, { method: 'POST', body })).status).toBe(200)
  await open.stop()
}, 30_000)

test.each([
  ['on', 2],
  ['off', 0],
])('the command for a stopped server follows the rule of the environment (%s)', async (rule, code) => {
  const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
  const args = [main, 'user', 'add', 'ann', '--data-dir', temporaryDirectory('rule-')]
  const env = { ...process.env, WAYPOST_PASSWORD_RULE: rule }
  const child = spawn(process.execPath, args, { env })
  child.stdin.end('short\n')
  expect(await new Promise((resolve) => child.on('close', resolve))).toBe(code)
})

/** A door that hashes past the rule would take any password. */
test('only the renewal of an old hash passes by the rule', () => {
  const src = fileURLToPath(new URL('../../src', import.meta.url))
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.includes('.test'),
  )
  const past = files.filter((file) => /asswords\.hash\(/.test(readFileSync(join(src, file), 'utf8')))
  expect(past).toEqual(['sign-in/password-sign-in.ts'])
})
