/** The messages of commands where the server gives no answer, or does not know who asks. */
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Command } from 'commander'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeProgram } from '../../src/main/program.ts'
import { startManaged } from '../support/administrator.ts'
import { sampled } from '../support/sampled.ts'
import { temporaryDirectory, type Waypost } from '../support/waypost.ts'
import { Terminal } from './terminal.ts'

const unused = () => Promise.reject(new Error('no command runs here'))
const program = makeProgram({
  startServer: unused,
  directoryTools: unused,
  storeCopies: unused,
  storedAccounts: unused,
})

/** The words of each command that works with a server, without its own. */
const WORDS: Readonly<Record<string, string>> = {
  backup: '',
  'config get': 'a',
  'config put': 'a @file',
  'config edit': 'a --yes',
  'config delete': 'a',
  'config list': '',
  'config diff': 'a @file',
  'config history': 'a',
  'config listeners': 'a',
  'config restore': 'a 1',
  'config watch': '--once',
  'config gray list': '',
  'config gray explain': 'a',
  'config gray publish': 'a @file --tag t',
  'config gray grow': 'a v 50',
  'config gray promote': 'a v',
  'config gray stop': 'a v',
  'config apply': '-f @directory --set s --yes',
  'config export': '--to -',
  'config import': '--from @zip',
  export: '--to -',
  import: '--from @zip',
  'service list': '',
  'service show': 's',
  'service instances': 's',
  'service explain': 's',
  'service timeline': 's',
  'service dismiss': 's',
  'service disable': 's 10.0.0.1:80',
  'service enable': 's 10.0.0.1:80',
  'service lift': 's 10.0.0.1:80',
  'service weight': 's 1 10.0.0.1:80',
  'service watch': '--once',
  'namespace list': '',
  'namespace create': 'n',
  'namespace update': 'n',
  'namespace delete': 'n',
  'switch list': '',
  'switch get': 'pushEnabled',
  'switch set': 'pushEnabled true',
  'server list': '',
  'client list': '',
  status: '',
  audit: '',
  'user add': 'u --password-file @file',
  'user password': 'u',
  'user list': '',
  'user remove': 'u',
  'key rotate': '',
  'role list': '',
  'role add': 'r u',
  'role remove': 'r u',
  'permission list': '',
  'permission add': 'r *:*:* r',
  'permission remove': 'r *:*:* r',
}

function leavesOf(command: Command, words: readonly string[] = []): [string, Command][] {
  if (command.commands.length === 0) return [[words.join(' '), command]]
  return command.commands.flatMap((one) => leavesOf(one, [...words, one.name()]))
}

/** `move` and `login` have flags of their own; their tests are elsewhere and below. */
const OTHERS = ['move', 'login', 'context set']

test('every command with --server is in the table', () => {
  const withServer = leavesOf(program).filter(([, one]) =>
    one.options.some(({ long }) => long === '--server'),
  )
  const names = withServer.map(([name]) => name).filter((name) => !OTHERS.includes(name))
  expect(names.toSorted()).toEqual(Object.keys(WORDS).toSorted())
})

const place = temporaryDirectory('no-answer-')
const terminal = new Terminal()
let server: Waypost
let deadUrl: string

beforeAll(async () => {
  server = (await startManaged()).waypost
  deadUrl = await nobodysUrl()
  writeFileSync(join(place, 'file'), 'a password of the user')
  mkdirSync(join(place, 'directory'))
  const signedIn = { WAYPOST_SERVER: server.url, WAYPOST_PASSWORD: 'secret' }
  const asAdministrator = ['--username', 'nacos']
  await terminal.run(['config', 'put', 'a', join(place, 'file'), ...asAdministrator], '', signedIn)
  await terminal.run(['export', '--to', join(place, 'zip'), ...asAdministrator], '', signedIn)
}, 60_000)

afterAll(() => server?.stop())

/** An address at which nothing listens. */
async function nobodysUrl(): Promise<string> {
  const taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  const { port } = taken.address() as AddressInfo
  await new Promise((resolve) => taken.close(resolve))
  return `http://127.0.0.1:${port}`
}

/** Somebody whose token for the server was issued at some time, and ends at another. */
function signedInUntil(expiresMs: number): Terminal {
  const somebody = new Terminal()
  const context = { server: server.url, username: 'nacos', token: 'x', renewMs: expiresMs, expiresMs }
  mkdirSync(dirname(somebody.clientFile), { recursive: true })
  writeFileSync(somebody.clientFile, JSON.stringify({ current: 'c', contexts: { c: context } }), {
    mode: 0o600,
  })
  return somebody
}

/** The group of commands, such as `config`; those without one are together. */
const groupOf = ([name]: readonly [string, string]): string => name.split(' ').slice(0, -1).at(0) ?? ''

describe.each(sampled(Object.entries(WORDS), groupOf))('%s', (name, more) => {
  const words = `${name} ${more}`
    .trim()
    .split(' ')
    .map((word) => (word.startsWith('@') ? join(place, word.slice(1)) : word))

  // After some wrong passwords a user has to wait.
  const stranger = name.replaceAll(' ', '-')

  test('says that nothing listens, that the password is wrong, and that a sign-in has ended', async () => {
    const input = 'a password of the user\n'
    const [dead, wrong, ended, forgotten] = await Promise.all([
      terminal.run(words, input, { WAYPOST_SERVER: deadUrl }),
      terminal.run([...words, '--username', stranger], input, {
        WAYPOST_SERVER: server.url,
        WAYPOST_PASSWORD: 'wrong',
      }),
      signedInUntil(1).run(words, input),
      signedInUntil(Date.now() + 3_600_000).run(words, input),
    ])
    const expected = [
      [
        dead,
        `The server at ${deadUrl} (from WAYPOST_SERVER) cannot be reached: nothing listens there. Start the server, or name another one by --server or --context.`,
      ],
      [
        wrong,
        `The server at ${server.url} does not sign in ${stranger}: the password is wrong, or there is no such user.`,
      ],
      [ended, 'The sign-in of nacos has ended: `waypost login` signs in again.'],
      [forgotten, 'It was asked as nacos; `waypost login` signs in again.'],
    ] as const
    for (const [{ code, out, err }, text] of expected) {
      expect([code, out, err]).toEqual([2, '', expect.stringContaining(text)])
      expect(err).toMatch(/^waypost: [^\n]*\n$/)
    }
  }, 60_000)
})

test('login says so too, also where another program answers', async () => {
  const login = (url: string) => terminal.run(['login', '--server', url, '--username', 'ann'], 'secret\n')
  expect((await login(deadUrl)).err).toContain('nothing listens there')
  const page = createHttpServer((_, response) => response.end('<html>'))
  await new Promise<void>((resolve) => page.listen(0, '127.0.0.1', resolve))
  const { port } = page.address() as AddressInfo
  const { code, err } = await login(`http://127.0.0.1:${port}`)
  page.close()
  expect([code, err]).toEqual([2, expect.stringContaining('is no Waypost server')])
})
