import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeAll, describe, expect, test } from 'vitest'
import { startManaged } from '../support/administrator.ts'
import { Authority } from '../support/certificates.ts'
import { needTool } from '../support/need-tool.ts'
import { startWaypost, temporaryDirectory } from '../support/waypost.ts'
import { signedIn, USER } from './grpc/plain-scenarios.ts'
import { LateBeats } from './late-beats.ts'
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
  /** The programs that must be on the path. */
  readonly tools: readonly string[]
  /** Runs it against `host:port`, with a folder for what the library writes, and the authority that it trusts for TLS. */
  readonly run: (address: string, scratch: string, caFile?: string) => Command
}

interface CheckLine {
  readonly name: string
  readonly ok: boolean
  readonly detail: string
}

const RUN_LIMIT_MS = 90_000

/** The checks that every program has. */
const COMMON_CHECKS = [
  'config: published content is read back',
  'config: an update replaces the content',
  'config: awkward content comes back byte for byte',
  'config: a large content comes back',
  'config: what does not exist is absent',
  'config: a removed item is absent',
  'config: namespaces and groups are separate',
  'config: a watcher sees changes made elsewhere',
  'config: a watcher in a namespace sees changes made elsewhere',
  'naming: a registered instance is listed with all it says',
  'naming: an unknown service has no instances',
  'naming: clusters select instances',
  'naming: healthy and enabled instances are selected',
  'naming: groups and namespaces are separate',
  'naming: a deregistered instance leaves the list',
  'naming: beats keep an instance',
]

/** The checks of programs whose library is pushed changes over UDP. */
export const PUSH_CHECKS = [
  'naming: a subscriber is pushed every change at once',
  'naming: a long list is pushed too',
]

/** The checks of programs whose library asks an endpoint where the servers are. It asks without TLS. */
export const ENDPOINT_CHECKS = ['endpoint: configurations are found', 'endpoint: services are found']

/**
 * Prepares the program, runs it against fresh servers, and makes one test of each of its checks. The names are listed,
 * so that a check that is never reported fails. `own`: the names that not every program has.
 */
export function describeClient(program: ClientProgram, own: readonly string[]): void {
  const checks = [...COMMON_CHECKS, ...own]
  const tools = needTool(...program.tools)
  const secure = needTool('openssl')
  const note = tools.skip ? ` (${tools.reason})` : ''
  const overTls = checks.filter((name) => !ENDPOINT_CHECKS.includes(name))
  describe.skipIf(tools.skip)(`the ${program.folder} client, unmodified${note}`, () => {
    beforeAll(() => prepare(program), PREPARE_LIMIT_MS)
    describeRun(', by a name that the server does not know', checks, () => driveNamed(program))
    describe.skipIf(secure.skip)('over TLS', () => {
      describeRun(', signed in', overTls, () => driveOverTls(program))
    })
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

/** An open server on all addresses, which its clients reach by a name of DNS: the server must not take them for browsers. */
async function driveNamed(program: ClientProgram): Promise<readonly CheckLine[]> {
  const server = await startWaypost({ settings: { host: '0.0.0.0', 'open-to-everyone': true } })
  const named = await forwardAs(`waypost.example:${server.port}`, server.port)
  try {
    return await drive(program, named.port)
  } finally {
    named.close()
    await server.stop()
  }
}

/**
 * Forwards requests with another `Host` and nothing else changed; some beats are late. No name of DNS is needed for that.
 */
async function forwardAs(host: string, port: number): Promise<{ readonly port: number; close(): void }> {
  const agent = new http.Agent({ keepAlive: true })
  const late = new LateBeats()
  const server = http.createServer({ maxHeaderSize: 1024 * 1024 }, (request, response) => {
    const { method, url: path, headers } = request
    const sent = http.request({ host: '127.0.0.1', port, agent, method, path, headers: { ...headers, host } })
    sent.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response).on('finish', () => late.answered(request))
    })
    sent.on('error', () => response.destroy())
    late.pass(request, () => request.pipe(sent))
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
    return await drive(program, waypost.port, authority.caFile)
  } finally {
    await waypost.stop()
  }
}

/** `caFile`: the client speaks TLS, trusts this authority, and signs in. */
async function drive(program: ClientProgram, port: number, caFile?: string): Promise<readonly CheckLine[]> {
  const scratch = temporaryDirectory(`client-${program.folder}-`)
  // The libraries keep caches and logs in the home directory.
  const home = { HOME: scratch, NO_PROXY: '127.0.0.1', no_proxy: '127.0.0.1' }
  const printed = await execute(program.run(`127.0.0.1:${port}`, scratch, caFile), {
    cwd: preparedFolder(program),
    env: { ...process.env, ...home, ...(caFile === undefined ? {} : secureFlags(caFile)) },
    limitMs: RUN_LIMIT_MS,
  })
  return printed
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as CheckLine)
}

function secureFlags(caFile: string): Record<string, string> {
  const { username, password } = signedIn(USER)
  const trust = { NODE_EXTRA_CA_CERTS: caFile, SSL_CERT_FILE: caFile, REQUESTS_CA_BUNDLE: caFile }
  return { TEST_USERNAME: username, TEST_PASSWORD: password, TEST_TLS: 'true', ...trust }
}
