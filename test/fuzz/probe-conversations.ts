import { generateKeyPairSync, privateDecrypt } from 'node:crypto'
import { column, EOF, greeting, moreData, OK, packet, refusal, row, switchTo } from '../probes/fake-mysql.ts'
import type { Random } from './random.ts'

/** What a host sends at once, after the client has sent something (`waits`) or without waiting. */
interface Step {
  readonly waits: boolean
  readonly bytes: Buffer
}

/** What a host does in one conversation. It plays the steps, and ends in one of these ways. */
export interface Conversation {
  readonly kind: 'TCP' | 'HTTP' | 'MYSQL'
  /** Whether the steps are those after a greeting and the start of TLS. */
  readonly isTls: boolean
  readonly steps: readonly Step[]
  readonly ending: 'end' | 'reset' | 'hold' | 'late'
}

/** The key of a host that wants the password: no client may use it. */
const hostKeys = generateKeyPairSync('rsa', { modulusLength: 2048 })
const hostKey = hostKeys.publicKey.export({ type: 'spki', format: 'pem' }).toString()

/** Whether something is encrypted with the key of the host. */
export function hostCanDecrypt(message: Buffer): boolean {
  try {
    privateDecrypt({ key: hostKeys.privateKey, oaepHash: 'sha1' }, message)
    return true
  } catch {
    return false
  }
}

/** A valid conversation with one to four mutations; one in ten stays valid. */
export function mutatedConversation(random: Random): Conversation {
  const kind = random.of(['TCP', 'HTTP', 'MYSQL', 'MYSQL', 'MYSQL'] as const)
  const isTls = kind === 'MYSQL' && random.chance(0.2)
  let steps = isTls ? mysqlSteps(random, 1).slice(1) : VALID[kind](random)
  if (random.chance(0.9))
    for (let count = 1 + random.below(4); count > 0; count--) steps = random.of(MUTATIONS)(steps, random)
  return { kind, isTls, steps, ending: random.of(['end', 'reset', 'hold', 'late'] as const) }
}

const VALID: Record<Conversation['kind'], (random: Random) => Step[]> = {
  TCP: () => [{ waits: false, bytes: Buffer.from('220 ready\r\n') }],
  HTTP: (random) => [{ waits: true, bytes: Buffer.from(random.of(RESPONSES), 'latin1') }],
  MYSQL: (random) => mysqlSteps(random, 0),
}

const OK_HEAD = 'HTTP/1.1 200 OK\r\n'

const RESPONSES: readonly string[] = [
  `${OK_HEAD}Content-Length: 2\r\n\r\nok`,
  `${OK_HEAD}Content-Length: 2\r\n\r\nok${OK_HEAD}Content-Length: 2\r\n\r\nok`,
  `${OK_HEAD}Transfer-Encoding: chunked\r\nTrailer: x\r\n\r\n2\r\nok\r\n0\r\nX: y\r\n\r\n`,
  `${OK_HEAD}Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n`,
  `${OK_HEAD}Content-Length: 1\r\nContent-Length: 2\r\n\r\nok`,
  `${OK_HEAD}Connection: upgrade\r\nUpgrade: h2c\r\n\r\nPRI * HTTP/2.0`,
  `${OK_HEAD}x: ${'y'.repeat(20_000)}\r\n\r\n`,
  `${OK_HEAD}${Array.from({ length: 3_000 }, (_, i) => `h${i}: 1\r\n`).join('')}\r\n`,
  'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n',
  'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n\u0081\u0002ok',
  'HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n\r\n',
  'HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\n\r\n',
  'HTTP/1.0 200 OK\r\n\r\nuntil the end',
  'HTTP/2 200\r\n\r\n',
  'ICY 200 OK\r\n\r\n',
  `${OK_HEAD}Set-Cookie: a\u0000b\r\n folded\r\n\r\n`,
]

/** The request for TLS is one packet more. */
function mysqlSteps(random: Random, skipped: number): Step[] {
  const scramble = Buffer.alloc(20, 1 + random.below(120))
  const method = random.of(METHODS)
  const hello = greeting(scramble, { method: random.of(METHODS), tls: random.chance(0.3) })
  let sequence = 0
  const step = (waits: boolean, ...payloads: Uint8Array[]): Step => {
    if (waits) sequence++
    return { waits, bytes: Buffer.concat(payloads.map((payload) => packet(sequence++, payload))) }
  }
  const signIn = random.of<() => Step[]>([
    () => [step(true, OK)],
    () => [step(true, switchTo(method, scramble)), step(true, OK)],
    () => [step(true, switchTo(method, scramble)), step(true, moreData(Buffer.of(3)), OK)],
    () => [
      step(true, switchTo(method, scramble)),
      step(true, moreData(Buffer.of(4))),
      step(true, moreData(Buffer.from(hostKey))),
      step(true, OK),
    ],
    () => [step(true, refusal(random.of([1045, 9001]), 'Access denied'))],
    () => [step(true, Buffer.concat([Buffer.of(2), Buffer.from(`${method}\0`), scramble]))],
  ])
  const first = step(false, hello)
  sequence += skipped
  const steps = [first, ...signIn()]
  sequence = 0
  return [...steps, step(true, ...random.of(ANSWERS))]
}

const METHODS = [
  'mysql_native_password',
  'caching_sha2_password',
  'sha256_password',
  'mysql_clear_password',
  'client_ed25519',
  '__proto__',
]

const ANSWERS: readonly (readonly Buffer[])[] = [
  [OK],
  [refusal(1146, 'no such table')],
  [refusal(9001, 'a number that only a proxy has')],
  [Buffer.of(1), column('read_only'), EOF, row('ON'), EOF],
  [Buffer.of(2), column('a'), column('`);process.exit(1)//'), EOF, row('1', '2'), row('', '3'), EOF],
  [Buffer.concat([Buffer.of(0xfb), Buffer.from('/etc/passwd')])],
  [Buffer.of(0, 0, 0, 10, 0, 0, 0), OK],
]

type Mutation = (steps: Step[], random: Random) => Step[]

/** What is repeated, up to 31 times. A probe reads 256 KiB at most. */
const MOST_BYTES = 20_000

const MUTATIONS: readonly Mutation[] = [
  changed(flipped),
  changed((bytes, random) => bytes.subarray(0, random.below(bytes.length + 1))),
  changed((bytes, random) => bytes.subarray(random.below(bytes.length + 1))),
  changed((bytes, random) => spliced(bytes, random, oddPacket(random))),
  changed((bytes, random) => Buffer.concat([bytes, oddPacket(random)])),
  changed((bytes, random) => spliced(bytes, random, bytes.subarray(random.below(bytes.length + 1)))),
  changed((bytes, random) => {
    const piece = bytes.subarray(0, MOST_BYTES)
    return Buffer.concat(Array<Buffer>(2 + random.below(30)).fill(piece))
  }),
  changed(cutPacket),
  // All in one segment, without waiting for the client.
  (steps) => [{ waits: false, bytes: Buffer.concat(steps.map(({ bytes }) => bytes)) }],
  // The rest does not wait.
  (steps, random) => {
    const from = random.below(steps.length)
    return steps.map((step, i) => (i < from ? step : { ...step, waits: false }))
  },
  // Many small segments.
  (steps, random) => {
    const size = 1 + random.below(9)
    return steps.flatMap((step) => segmentsOf(step, size))
  },
  (steps, random) => steps.toSpliced(random.below(steps.length), 1),
  (steps, random) => [...steps, random.of(steps.length > 0 ? steps : [{ waits: false, bytes: OK }])],
]

function changed(change: (bytes: Buffer, random: Random) => Buffer): Mutation {
  return (steps, random) => {
    const at = random.below(steps.length)
    return steps.map((step, i) => (i === at ? { ...step, bytes: change(step.bytes, random) } : step))
  }
}

function flipped(bytes: Buffer, random: Random): Buffer {
  const copy = Buffer.from(bytes)
  const at = random.below(copy.length)
  if (copy.length > 0) copy[at] = random.chance(0.5) ? random.below(256) : copy[at]! ^ (1 << random.below(8))
  return copy
}

function spliced(bytes: Buffer, random: Random, piece: Buffer): Buffer {
  const at = random.below(bytes.length + 1)
  return Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(at)])
}

/** A packet with a true length, whose content is only begun: an error without its number, a list without its end. */
function oddPacket(random: Random): Buffer {
  const marker = random.of([0, 1, 2, 0xfb, 0xfe, 0xff, random.below(256)])
  const rest = Array.from({ length: random.below(6) }, () => random.below(256))
  return packet(random.below(8), Buffer.of(marker, ...rest).subarray(0, random.below(rest.length + 2)))
}

/** Shortens the last packet that is there as a whole, and says so in its head. */
function cutPacket(bytes: Buffer, random: Random): Buffer {
  let start = 0
  let last = -1
  while (start + 4 <= bytes.length) {
    last = start
    start += 4 + bytes.readUIntLE(start, 3)
  }
  if (last < 0 || start > bytes.length) return bytes
  const payload = bytes.subarray(last + 4)
  const cut = packet(bytes[last + 3] ?? 0, payload.subarray(0, random.below(payload.length + 1)))
  return Buffer.concat([bytes.subarray(0, last), cut])
}

const MOST_SEGMENTS = 40

function segmentsOf({ waits, bytes }: Step, size: number): Step[] {
  const step = Math.max(size, Math.ceil(bytes.length / MOST_SEGMENTS))
  const count = Math.max(1, Math.ceil(bytes.length / step))
  return Array.from({ length: count }, (_, i) => ({
    waits: waits && i === 0,
    bytes: bytes.subarray(i * step, (i + 1) * step),
  }))
}
