import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { startManaged, type TestUser } from '../support/administrator.ts'
import { Authority } from '../support/certificates.ts'
import { needTool } from '../support/need-tool.ts'
import { startWaypost, temporaryDirectory } from '../support/waypost.ts'

/** A command line; it is run in the folder of the prepared program. */
type Command = readonly [program: string, ...args: string[]]

/** A program that drives a server with a client library and prints a line of JSON for each of its checks. */
export interface ClientProgram {
  /** The folder of its sources beside this file, and of what is made of them under `.cache/clients`. */
  readonly language: 'npm' | 'java' | 'go' | 'python'
  /** What must be on the path. */
  readonly tools: readonly string[]
  /** The files that fix which version of the library is installed. */
  readonly locks: readonly string[]
  /** Fetches the library; run when a lock has changed. */
  readonly install: readonly Command[]
  /** Makes the program; run when any source has changed. */
  readonly build: readonly Command[]
  /** Runs it against `host:port`, with a folder for what the library writes, and the authority that it trusts for TLS. */
  readonly run: (address: string, scratch: string, caFile?: string) => Command
  /** Checks that the library cannot pass over TLS, with the reason. */
  readonly notOverTls?: Readonly<Record<string, string>>
}

interface CheckLine {
  readonly name: string
  readonly ok: boolean
  readonly detail: string
}

const PREPARE_LIMIT_MS = 300_000
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
  describe.skipIf(tools.skip)(`the ${program.language} client, unmodified${note}`, () => {
    beforeAll(() => prepare(program), PREPARE_LIMIT_MS)
    describeRun('', checks, () => driveOpen(program))
    describe.skipIf(secure.skip)('over TLS', () => {
      describeRun(', signed in', overTls, () => driveOverTls(program))
    })
    describeRun(', signed in for long', LASTING_CHECKS, () => driveLasting(program))
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
  const scratch = temporaryDirectory(`client-${program.language}-`)
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

function sourceFolder(program: ClientProgram): string {
  return fileURLToPath(new URL(program.language, import.meta.url))
}

function preparedFolder(program: ClientProgram): string {
  return fileURLToPath(new URL(`../../.cache/clients/${program.language}`, import.meta.url))
}

async function prepare(program: ClientProgram): Promise<void> {
  const source = sourceFolder(program)
  const folder = preparedFolder(program)
  const files = readdirSync(source).sort()
  // The names of all files belong to it: a source that is gone must not linger in the prepared folder.
  const locks = digest(source, program.locks) + files.join()
  const sources = digest(source, files)
  if (!isStamped(folder, 'locks', locks)) {
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
    await runAll(program.install, { source, folder })
    writeFileSync(stamp(folder, 'locks'), locks)
  }
  if (!isStamped(folder, 'sources', sources)) {
    await runAll(program.build, { source, folder })
    writeFileSync(stamp(folder, 'sources'), sources)
  }
}

async function runAll(commands: readonly Command[], at: { source: string; folder: string }): Promise<void> {
  cpSync(at.source, at.folder, { recursive: true })
  const limits = { cwd: at.folder, env: process.env, limitMs: PREPARE_LIMIT_MS }
  for (const command of commands) await execute(command, limits)
}

function digest(folder: string, files: readonly string[]): string {
  const hash = createHash('sha256')
  for (const file of files) hash.update(`${file}\n`).update(readFileSync(join(folder, file)))
  return hash.digest('hex')
}

function stamp(folder: string, of: string): string {
  return join(folder, `.${of}-digest`)
}

function isStamped(folder: string, of: string, wanted: string): boolean {
  return existsSync(stamp(folder, of)) && readFileSync(stamp(folder, of), 'utf8') === wanted
}

interface Limits {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly limitMs: number
}

/** Runs a command to its end and returns its output. Throws with its errors if it fails or takes too long. */
function execute([program, ...args]: Command, { cwd, env, limitMs }: Limits): Promise<string> {
  return new Promise((resolve, reject) => {
    // A group of its own, so that helper processes of the libraries end with it.
    const child = spawn(program, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
    const printed = { out: '', err: '' }
    const fail = (why: string) =>
      reject(new Error(`${program} ${why}; it printed:\n${printed.out}${printed.err}`))
    const timer = setTimeout(() => {
      endGroup(child.pid)
      fail(`did not end within ${limitMs} ms`)
    }, limitMs)
    child.stdout.setEncoding('utf8').on('data', (text: string) => (printed.out += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (printed.err += text))
    child.on('error', (error) => fail(`could not be run (${error.message})`))
    child.on('exit', (code) => {
      clearTimeout(timer)
      endGroup(child.pid)
      if (code !== 0) fail(`ended with ${code}`)
    })
    child.on('close', () => resolve(printed.out))
  })
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // Nothing of the group is left.
  }
}
