import { generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { rootCertificates, type SecureContextOptions } from 'node:tls'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { reportFaultsTo } from '../../src/core/unexpected.ts'
import { httpProbe } from '../../src/probes/http-probe.ts'
import { mysqlProbe } from '../../src/probes/mysql-probe.ts'
import type { ProbeResult } from '../../src/probes/conversation.ts'
import { tcpProbe } from '../../src/probes/probe.ts'
import { FakeSession, greeting } from '../probes/fake-mysql.ts'
import { Authority, type CertificateFiles } from '../support/certificates.ts'
import { needTool } from '../support/need-tool.ts'
import { asText, foundBy, SEED, secondsOf } from './found.ts'
import { type Conversation, hostCanDecrypt, mutatedConversation } from './probe-conversations.ts'
import { Random } from './random.ts'

/** Probes hosts that talk nonsense. The conversation i has the seed FUZZ_SEED + i. */
const SECONDS = secondsOf(10)

const LANES = 12
const TIMEOUT_MS = 120
const PASSWORD = 'the-password-of-a-checker'

const thrown: unknown[] = []
const record = (error: unknown): void => void thrown.push(error)
const lanes: Lane[] = []

beforeAll(async () => {
  process.on('uncaughtException', record)
  process.on('unhandledRejection', record)
  // A fault that a boundary catches is one too: the driver would catch it otherwise, and call the answer invalid.
  reportFaultsTo({ caught: (_boundary, error) => record(error), fatal: record })
  for (let i = 0; i < LANES; i++) lanes.push(await startLane())
})

afterAll(() => {
  process.off('uncaughtException', record)
  process.off('unhandledRejection', record)
  reportFaultsTo(undefined)
  for (const { server } of lanes) server.close()
})

const ownKey = generateKeyPairSync('rsa', { modulusLength: 2048 })
  .publicKey.export({ type: 'spki', format: 'pem' })
  .toString()

/** What a checker trusts: often nothing. With certificates, the probe asks for TLS. */
const TRUSTS = [{}, {}, {}, { publicKey: ownKey }, { ca: rootCertificates[0]! }, { ca: 'no certificate' }]

const authority = needTool('openssl').skip ? undefined : new Authority()
const tls = authority && filesOf(authority.forServer())

function filesOf({ cert, key }: CertificateFiles): SecureContextOptions {
  return { cert: readFileSync(cert), key: readFileSync(key) }
}

function trustOf(
  conversation: Conversation | undefined,
  random: Random,
): { publicKey?: string; ca?: string } {
  if (conversation?.isTls === true && authority !== undefined) return { ca: authority.ca }
  return random.of(TRUSTS)
}

/** Whether a part of what was sent is encrypted with the key of the host. */
function isReadable(received: Buffer): boolean {
  for (let start = 0; start + 4 <= received.length; start += 4 + received.readUIntLE(start, 3)) {
    const payload = received.subarray(start + 4, start + 4 + received.readUIntLE(start, 3))
    if (payload.length === 256 && hostCanDecrypt(payload)) return true
  }
  return false
}

/** A port whose host plays one conversation after the other. */
interface Lane {
  readonly server: Server
  readonly port: number
  readonly sockets: Set<Socket>
  received: Buffer[]
  conversation: Conversation | undefined
}

async function startLane(): Promise<Lane> {
  const lane: Omit<Lane, 'server' | 'port'> = { sockets: new Set(), received: [], conversation: undefined }
  const server = createServer((socket) => {
    lane.sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => lane.sockets.delete(socket))
    socket.on('data', (chunk: Buffer) => lane.received.push(chunk))
    if (lane.conversation !== undefined) void play(lane.conversation, socket)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return Object.assign(lane, { server, port: (server.address() as AddressInfo).port })
}

async function play({ isTls, steps, ending }: Conversation, plain: Socket): Promise<void> {
  plain.setNoDelay(true)
  const socket = isTls && tls !== undefined ? await upgraded(plain, tls) : plain
  for (const { waits, bytes } of steps) {
    if (waits) await new Promise((resolve) => socket.once('data', resolve))
    if (bytes.length > 0) socket.write(bytes)
    await turn()
  }
  if (ending === 'end') socket.end()
  if (ending === 'reset') plain.resetAndDestroy()
  if (ending === 'late') for (let i = 0; i < 20 && socket.writable; i++) await late(socket)
}

async function upgraded(plain: Socket, files: SecureContextOptions): Promise<Socket> {
  // This host may wait for ever for a client that left in the middle of a handshake.
  plain.setTimeout(1_000, () => plain.destroy())
  const session = new FakeSession(plain)
  session.send(greeting(session.scramble, { tls: true }))
  await session.next()
  session.startTls(files)
  return session.stream
}

async function late(socket: Socket): Promise<void> {
  socket.write(Buffer.of(1, 0, 0, 0, 0xff))
  await turn()
}

function probeOnce(lane: Lane, kind: Conversation['kind'], random: Random): Promise<ProbeResult> {
  const { port, conversation } = lane
  const where = { host: '127.0.0.1', port }
  switch (kind) {
    case 'TCP':
      return tcpProbe({ ...where, checker: { type: 'TCP' } }, TIMEOUT_MS)
    case 'HTTP':
      return httpProbe(
        { ...where, checker: { type: 'HTTP', path: '', headers: 'x:y', expectedResponseCode: 200 } },
        TIMEOUT_MS,
      )
    case 'MYSQL': {
      const cmd = random.of(['select 1', 'select @@read_only'])
      const checker = {
        type: 'MYSQL',
        user: 'u',
        pwd: PASSWORD,
        cmd,
        ...trustOf(conversation, random),
      } as const
      return mysqlProbe({ ...where, checker }, TIMEOUT_MS)
    }
  }
}

interface Played {
  readonly seed: number
  readonly outcomes: Map<string, number>
  /** What was found before and is still to be played. */
  readonly found: Conversation[]
}

/** Plays one conversation and returns what was wrong, with the seed that repeats it. */
async function faultOf(lane: Lane, { seed, outcomes, found }: Played): Promise<string[]> {
  const random = new Random(seed)
  lane.received = []
  lane.conversation = found.shift() ?? mutatedConversation(random)
  const { kind, isTls } = lane.conversation
  const known = thrown.length
  const result = await probeOnce(lane, kind, random)
  // What comes after the verdict must be harmless too.
  for (let i = 0; i < 3; i++) await turn()
  const outcome = `${isTls ? 'TLS' : kind} ${result.outcome}`
  outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
  for (const socket of lane.sockets) socket.destroy()
  const faults = thrown.slice(known).map((error) => (error instanceof Error ? error.stack : String(error)))
  if (result.reason.length > 300) faults.push('the reason is too long')
  const received = Buffer.concat(lane.received)
  if (received.includes(PASSWORD)) faults.push('the host has got the password')
  if (kind === 'MYSQL' && isReadable(received)) faults.push('the host can decrypt the password')
  return faults.map((fault) => `seed ${seed}, ${asText(lane.conversation)}: ${fault}`)
}

test(
  `hosts that talk nonsense do no harm (seed ${SEED})`,
  async () => {
    const printed = (['log', 'warn', 'error', 'trace'] as const).map((method) =>
      vi.spyOn(console, method).mockImplementation(() => {}),
    )
    await probeOnce(lanes[0]!, 'MYSQL', new Random(SEED)) // loads the client
    const ends = performance.now() + SECONDS * 1000
    const outcomes = new Map<string, number>()
    const faults: string[] = []
    const found = foundBy<Conversation>('probes')
    let next = 0
    const work = async (lane: Lane): Promise<void> => {
      while ((found.length > 0 || performance.now() < ends) && faults.length < 20)
        faults.push(...(await faultOf(lane, { seed: SEED + next++, outcomes, found })))
    }
    await Promise.all(lanes.map(work))
    const lines = printed.flatMap((spy) => spy.mock.calls.map((call) => call.map(String).join(' ')))
    printed.forEach((spy) => spy.mockRestore())
    console.log(`${next} conversations, seed ${SEED}:`, [...outcomes].sort().join('; '))
    expect(faults).toEqual([])
    expect(lines).toEqual([])
    // All three probes have found valid hosts and others.
    for (const kind of ['TCP', 'HTTP', 'MYSQL'])
      if (next >= 1_000) expect(outcomes.get(`${kind} up`), kind).toBeGreaterThan(0)
    // A socket that TLS has taken over is closed without an event of its own.
    const open = () => lanes.flatMap(({ sockets }) => [...sockets]).filter(({ closed }) => !closed)
    await expect.poll(open, { timeout: 5_000 }).toEqual([])
  },
  SECONDS * 1_000 + 120_000,
)

test('hosts and ports that cannot be connected to do no harm', async () => {
  const hosts = ['', ' ', 'a b', 'a\0b', '%', '[::1]', '::1%nowhere', '0x7f.1', 'x'.repeat(300), '\ud800']
  const ports = [0, 1, 65_535, 65_536, -1, 1.5, Number.NaN]
  const known = thrown.length
  for (const target of [
    ...hosts.map((host) => ({ host, port: 1 })),
    ...ports.map((port) => ({ host: '127.0.0.1', port })),
  ]) {
    const results = await Promise.all([
      tcpProbe({ ...target, checker: { type: 'TCP' } }, TIMEOUT_MS),
      httpProbe(
        { ...target, checker: { type: 'HTTP', path: '', headers: '', expectedResponseCode: 200 } },
        TIMEOUT_MS,
      ),
      mysqlProbe({ ...target, checker: { type: 'MYSQL', user: '', pwd: '', cmd: '' } }, TIMEOUT_MS),
    ])
    for (const result of results) expect(result.outcome, JSON.stringify(target)).not.toBe('up')
  }
  await turn()
  expect(thrown.slice(known)).toEqual([])
})
