import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { startManaged, type TestUser } from '../support/administrator.ts'
import { Authority } from '../support/certificates.ts'
import { needTool } from '../support/need-tool.ts'
import { startWaypost, temporaryDirectory } from '../support/waypost.ts'
import {
  execute,
  prepare,
  PREPARE_LIMIT_MS,
  preparedFolder,
  type Command,
  type PreparedProgram,
} from './prepared-program.ts'

/** A program that drives a server with a client library and prints a line of JSON for each of its checks. */
export interface ClientProgram extends PreparedProgram {
  readonly folder: 'npm' | 'java' | 'go' | 'python'
  /** What must be on the path. */
  readonly tools: readonly string[]
  /** Runs it against `host:port`, with a folder for what the library writes, and the authority that it trusts for TLS. */
  readonly run: (address: string, scratch: string, caFile?: string) => Command
  /** The program has the checks of what is large. */
  readonly hasLargeChecks?: boolean
  /** Checks that the library cannot pass over TLS, with the reason. */
  readonly notOverTls?: Readonly<Record<string, string>>
}

interface CheckLine {
  readonly name: string
  readonly ok: boolean
  readonly detail: string
}

const RUN_LIMIT_MS = 90_000

/** Who signs in: the user may do everything but in the namespace `forbidden`. */
const USER: TestUser = {
  username: 'app',
  password: 'a+b %41&=ü',
  permissions: {
    'public:*:*': 'rw',
    'other*:*:*': 'rw',
    'watched*:*:*': 'rw',
    'listed*:*:*': 'rw',
    'se*ed-*:*:*': 'rw',
  },
}

/** What goes on over several tokens and a restart of the server: every program has these checks. */
const LASTING_CHECKS = [
  'sign-in: a watcher hears of changes after its token has been replaced',
  'sign-in: beats keep an instance after the token has been replaced',
  'sign-in: what the user has no permission for is refused',
]

/** What is large and still has to pass, though it is only known in the middle of a form who sends it. */
const LARGE_CHECKS = [
  'large: a content of 10 MiB is published and read back',
  'large: a watcher of 3,000 items sees a change of one',
]

/** Libraries look every five seconds whether a token has to be replaced. */
const SHORT_TTL = '14s'
const LASTING_MS = 34_000
const RESTART_AFTER_MS = 18_000

/**
 * Prepares the program, runs it against fresh servers, and makes one test of each of its checks. The names are listed
 * by the caller, so that a check that is never reported fails.
 */
export function describeClient(program: ClientProgram, checks: readonly string[]): void {
  const tools = needTool(...program.tools)
  const secure = needTool('openssl')
  const note = tools.skip ? ` (${tools.reason})` : ''
  const overTls = checks.filter((name) => program.notOverTls?.[name] === undefined)
  describe.skipIf(tools.skip)(`the ${program.folder} client, unmodified${note}`, () => {
    beforeAll(() => prepare(program), PREPARE_LIMIT_MS)
    describeRun('', checks, () => driveOpen(program))
    describe.skipIf(secure.skip)('over TLS', () => {
      describeRun(', signed in', overTls, () => driveOverTls(program))
    })
    describeRun(', by a name that the server does not know', checks, () => driveNamed(program))
    describeRun(', signed in for long', LASTING_CHECKS, () => driveLasting(program))
    if (program.hasLargeChecks === true)
      describeRun(', signed in, with much to send', LARGE_CHECKS, () => driveLarge(program))
  })
}

function describeRun(
  how: string,
  checks: readonly string[],
  drive: () => Promise<readonly CheckLine[]>,
): void {
  describe(`does what it does${how}`, () => {
    let lines: readonly CheckLine[] = []
    beforeAll(async () => void (lines = await drive()), RUN_LIMIT_MS + 30_000)
    test.for(checks)('%s', (name) => {
      const { ok, detail } = lines.find((line) => line.name === name) ?? { ok: false, detail: 'not reported' }
      expect(ok, detail).toBe(true)
    })
    test('reports the listed checks', () => {
      expect(lines.map((line) => line.name)).toEqual(expect.arrayContaining([...checks]))
    })
  })
}

async function driveOpen(program: ClientProgram): Promise<readonly CheckLine[]> {
  const server = await startWaypost()
  try {
    return await drive(program, { port: server.port, env: {} })
  } finally {
    await server.stop()
  }
}

/** An open server on all addresses, which its clients reach by a name of DNS: the server must not take them for browsers. */
async function driveNamed(program: ClientProgram): Promise<readonly CheckLine[]> {
  const server = await startWaypost({ settings: { host: '0.0.0.0', 'open-to-everyone': true } })
  const named = await forwardAs(`waypost.example:${server.port}`, server.port)
  try {
    return await drive(program, { port: named.port, env: {} })
  } finally {
    named.close()
    await server.stop()
  }
}

/** Forwards requests with another `Host` and nothing else changed. No name of DNS is needed for that. */
async function forwardAs(host: string, port: number): Promise<{ readonly port: number; close(): void }> {
  const agent = new http.Agent({ keepAlive: true })
  const server = http.createServer({ maxHeaderSize: 1024 * 1024 }, (request, response) => {
    const { method, url: path, headers } = request
    const sent = http.request({ host: '127.0.0.1', port, agent, method, path, headers: { ...headers, host } })
    sent.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    sent.on('error', () => response.destroy())
    request.pipe(sent)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = (): void => {
    server.close()
    server.closeAllConnections()
    agent.destroy()
  }
  return { port: (server.address() as AddressInfo).port, close }
}

async function driveOverTls(program: ClientProgram): Promise<readonly CheckLine[]> {
  const authority = new Authority()
  const { cert, key } = authority.forServer()
  const settings = { 'tls-cert': cert, 'tls-key': key }
  const { waypost, addUser } = await startManaged({ settings }, authority.caFile)
  try {
    await addUser(USER)
    return await drive(program, { port: waypost.port, env: SIGNED_IN, caFile: authority.caFile })
  } finally {
    await waypost.stop()
  }
}

async function driveLarge(program: ClientProgram): Promise<readonly CheckLine[]> {
  const { waypost, addUser } = await startManaged()
  try {
    await addUser(USER)
    return await drive(program, { port: waypost.port, env: { ...SIGNED_IN, TEST_LARGE: 'true' } })
  } finally {
    await waypost.stop()
  }
}

/** The tokens of the clients expire several times, and the server restarts once. */
async function driveLasting(program: ClientProgram): Promise<readonly CheckLine[]> {
  const { waypost, addUser } = await startManaged({ settings: { 'token-ttl': SHORT_TTL } })
  await addUser(USER)
  let running = waypost
  const restarted = sleep(RESTART_AFTER_MS).then(async () => void (running = await waypost.restart()))
  try {
    const env = { ...SIGNED_IN, TEST_LASTING: String(LASTING_MS) }
    return await drive(program, { port: waypost.port, env })
  } finally {
    await restarted
    await running.stop()
  }
}

const SIGNED_IN = { TEST_USERNAME: USER.username, TEST_PASSWORD: USER.password }

interface Drive {
  readonly port: number
  readonly env: Readonly<Record<string, string>>
  /** The client speaks TLS and trusts this authority. */
  readonly caFile?: string
}

async function drive(program: ClientProgram, { port, env, caFile }: Drive): Promise<readonly CheckLine[]> {
  const scratch = temporaryDirectory(`client-${program.folder}-`)
  const trust =
    caFile === undefined
      ? {}
      : { TEST_TLS: 'true', NODE_EXTRA_CA_CERTS: caFile, SSL_CERT_FILE: caFile, REQUESTS_CA_BUNDLE: caFile }
  // The libraries keep caches and logs in the home directory.
  const home = { HOME: scratch, NO_PROXY: '127.0.0.1', no_proxy: '127.0.0.1' }
  const printed = await execute(program.run(`127.0.0.1:${port}`, scratch, caFile), {
    cwd: preparedFolder(program),
    env: { ...process.env, ...home, ...env, ...trust },
    limitMs: RUN_LIMIT_MS,
  })
  return printed
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as CheckLine)
}
