import { frameOf } from '../support/grpc-client.ts'
import {
  ACK,
  callTo,
  END_HEADERS,
  END_STREAM,
  field,
  FRAME,
  goAway,
  http2Frame,
  PREFACE,
  reset,
  settingsFrame,
  uint32,
} from '../support/raw-http2.ts'
import { oddSample } from './grpc-corpus.ts'
import { mutated } from './mutate.ts'
import type { Random } from './random.ts'

/** The steps of a client on a connection, one step after the other. */
export interface Conversation {
  /** Sent first: the preface, or something like it. */
  readonly begin: Buffer
  readonly steps: readonly Step[]
}

/** Bytes are sent in one packet. `settle` waits until the server has received all; `pause` only a moment. */
export type Step = Buffer | 'settle' | 'pause' | 'end' | 'destroy' | 'reset'

const PADDED = 8
const PRIORITY = 0x20
const PATHS = ['/Request/request', '/Request/request', '/BiRequestStream/requestBiStream', '/Other/path', '']
const CODES = [...Array.from({ length: 14 }, (_, code) => code), 0xdeadbeef, 0xffffffff]
/** Windows and lengths that are close to a limit. */
const NUMBERS = [0, 1, 2, 5, 127, 128, 16_383, 16_384, 16_385, 65_535, 0x7fffffff, 0x80000000, 0xffffffff]

/** A conversation. Most are valid up to some frame; the same random choices give the same one. */
export function conversation(random: Random): Conversation {
  const frames = interleaved(callsOf(random), random)
  const odd = random.chance(0.6) ? oddFrames(frames, random) : frames
  const bytes = random.chance(0.1) ? [mutated([Buffer.concat(odd)], random)] : odd
  return { begin: beginOf(random), steps: stepsOf(bytes, random) }
}

function beginOf(random: Random): Buffer {
  const settings = Array.from(
    { length: random.below(3) },
    () => [1 + random.below(8), random.of(NUMBERS)] as const,
  )
  // Most clients leave the windows alone, or have none for answers.
  const plain = random.chance(0.3) ? ([[4, 0]] as const) : []
  const whole = Buffer.concat([PREFACE, settingsFrame(random.chance(0.2) ? settings : plain)])
  return random.chance(0.03) ? mutated([whole], random) : whole
}

/** The frames of some calls, which mostly begin with that which sets the connection up. */
function callsOf(random: Random): Buffer[][] {
  const calls = Array.from({ length: 1 + random.below(6) }, (_, index) => callOf(2 * index + 3, random))
  const body = frameOf('ConnectionSetupRequest', { clientVersion: 'Fuzz:v1', abilityTable: {} })
  const setup = [headersOf(1, callTo(PATHS[2]!), 0), http2Frame(FRAME.data, 1, { body })]
  if (random.chance(0.6)) calls.unshift([Buffer.concat(setup)])
  if (random.chance(0.3)) calls.push(connectionFrames(random))
  return calls
}

function callOf(stream: number, random: Random): Buffer[] {
  const frames = openingOf(stream, random)
  for (const body of messagesOf(random)) frames.push(dataOf(stream, body, random))
  if (random.chance(0.1)) frames.push(http2Frame(FRAME.window, stream, { body: uint32(random.of(NUMBERS)) }))
  return [...frames, ...endOf(stream, random)]
}

function openingOf(stream: number, random: Random): Buffer[] {
  const block = blockOf(random)
  if (random.chance(0.8)) return [headersOf(stream, block, random.chance(0.05) ? END_STREAM : 0)]
  const cut = random.below(block.length)
  return [
    http2Frame(FRAME.headers, stream, {
      flags: random.chance(0.1) ? END_STREAM : 0,
      body: block.subarray(0, cut),
    }),
    http2Frame(FRAME.continuation, stream, {
      flags: random.chance(0.9) ? END_HEADERS : 0,
      body: block.subarray(cut),
    }),
  ]
}

function blockOf(random: Random): Buffer {
  const block = Buffer.concat([callTo(random.of(PATHS)), ...moreFields(random)])
  return random.chance(0.03) ? mutated([block], random) : block
}

function moreFields(random: Random): Buffer[] {
  if (random.chance(0.8)) return []
  return [
    random.of([
      field('grpc-encoding', 'gzip'),
      field('content-type', 'text/plain'),
      field(':path', '/Request/request'),
      field(':method', 'HEAD'),
      field('content-length', '5'),
      field('grpc-timeout', '1n'),
      field('connection', 'close'),
      field('expect', '100-continue'),
      field('UPPER', 'x'),
      field('x', 'y\u0000z'),
      field('', ''),
      // A field of the dynamic table that is not there; a size of that table that is too large.
      Buffer.from([0xff, 0xff, 0x7f]),
      Buffer.from([0x3f, 0xff, 0xff, 0x7f]),
    ]),
  ]
}

function headersOf(stream: number, block: Buffer, flags: number): Buffer {
  return http2Frame(FRAME.headers, stream, { flags: flags | END_HEADERS, body: block })
}

/** The bytes of one message or two, in pieces; some are cut off. */
function messagesOf(random: Random): Buffer[] {
  const { type, body } = oddSample(random, random.chance(0.8) ? 'request' : 'reply')
  const frame = frameOf(type, body)
  const bytes = random.chance(0.1)
    ? Buffer.concat([frame, frame])
    : random.chance(0.1)
      ? mutated([frame], random)
      : frame
  const kept = random.chance(0.2) ? bytes.subarray(0, random.below(bytes.length)) : bytes
  const cut = random.below(kept.length + 1)
  return random.chance(0.5) ? [kept] : [kept.subarray(0, cut), kept.subarray(cut)]
}

function dataOf(stream: number, body: Buffer, random: Random): Buffer {
  if (random.chance(0.95)) return http2Frame(FRAME.data, stream, { body })
  const padding = random.below(256)
  const padded = Buffer.concat([Buffer.from([padding]), body, Buffer.alloc(random.chance(0.8) ? padding : 0)])
  return http2Frame(FRAME.data, stream, { flags: PADDED, body: padded })
}

function endOf(stream: number, random: Random): Buffer[] {
  const end = http2Frame(FRAME.data, stream, { flags: END_STREAM })
  const trailers = http2Frame(FRAME.headers, stream, {
    flags: random.of([
      END_STREAM | END_HEADERS,
      END_HEADERS,
      END_STREAM,
      END_STREAM | END_HEADERS | PRIORITY,
    ]),
    body: field('x-trailer', 'a'),
  })
  const ends = [[end], [end], [end], [trailers], [], [reset(stream, random.of(CODES))]]
  const chosen = random.of(ends)
  return random.chance(0.3) ? [...chosen, reset(stream, random.of(CODES))] : chosen
}

/** Frames of the connection. */
function connectionFrames(random: Random): Buffer[] {
  return Array.from({ length: 1 + random.below(4) }, () =>
    random.of([
      http2Frame(FRAME.ping, 0, { body: Buffer.alloc(8) }),
      http2Frame(FRAME.ping, 0, { flags: ACK, body: Buffer.alloc(8, 7) }),
      settingsFrame([[1 + random.below(8), random.of(NUMBERS)]]),
      http2Frame(FRAME.settings, 0, { flags: ACK }),
      http2Frame(FRAME.window, 0, { body: uint32(random.of(NUMBERS)) }),
      http2Frame(FRAME.priority, 3, { body: Buffer.from('0000000010', 'hex') }),
      http2Frame(FRAME.push, 3, { flags: END_HEADERS, body: uint32(2) }),
      http2Frame(random.below(256), random.below(8), {
        flags: random.below(256),
        body: Buffer.alloc(random.below(20)),
      }),
      goAway(random.of(CODES)),
    ]),
  )
}

/** The frames of all calls, mixed; those of one call keep their order, and mostly calls begin in the order of their ids. */
function interleaved(calls: readonly Buffer[][], random: Random): Buffer[] {
  const left = calls.map((frames) => [...frames])
  const mixed: Buffer[] = []
  while (left.some((frames) => frames.length > 0)) {
    const open = left.filter((frames) => frames.length > 0)
    const from = random.chance(0.9) ? open[0]! : random.of(open)
    mixed.push(...from.splice(0, 1 + random.below(3)))
  }
  return mixed
}

/** Some frames are lost, repeated, moved or changed. */
function oddFrames(frames: readonly Buffer[], random: Random): Buffer[] {
  const odd = [...frames]
  for (let times = 1 + random.below(3); times > 0 && odd.length > 0; times--) {
    const at = random.below(odd.length)
    const frame = odd[at]!
    const changes: (() => unknown)[] = [
      () => odd.splice(at, 1),
      () => odd.splice(at, 0, frame),
      () => odd.splice(random.below(odd.length), 0, ...odd.splice(at, 1)),
      () => (odd[at] = frame.subarray(0, random.below(frame.length))),
      () => (odd[at] = mutated([frame], random)),
      () => (odd[at] = changedHead(frame, random)),
      () => odd.splice(at, 0, reset(2 * random.below(8) + 1, random.of(CODES))),
      () => odd.splice(at, 0, ...connectionFrames(random)),
    ]
    random.of(changes)()
  }
  return odd
}

/** Another length, type, flags or stream in the head of a frame. */
function changedHead(frame: Buffer, random: Random): Buffer {
  const changed = Buffer.from(frame)
  if (changed.length < 9) return changed
  const changes: (() => unknown)[] = [
    () => changed.writeUIntBE(random.of([0, 1, 8, 16_384, 16_385, 0xffffff]), 0, 3),
    () => changed.writeUInt8(random.below(11), 3),
    () => changed.writeUInt8(random.of([0, 1, 4, 5, 8, 0x20, 0x29, 0xff]), 4),
    () => changed.writeUInt32BE(random.of([0, 1, 2, 3, 5, 7, 0x7fffffff, 0x80000001]), 5),
  ]
  random.of(changes)()
  return changed
}

/** Frames in packets, with pauses; something ends the connection. */
function stepsOf(frames: readonly Buffer[], random: Random): Step[] {
  const steps: Step[] = []
  let packet: Buffer[] = []
  for (const frame of frames) {
    packet.push(frame)
    if (random.chance(0.6)) continue
    steps.push(Buffer.concat(packet), random.of(['settle', 'pause', 'pause'] as const))
    packet = []
  }
  steps.push(Buffer.concat(packet))
  if (random.chance(0.7)) steps.push(random.of(['settle', 'pause'] as const))
  return [...steps, random.of(['end', 'destroy', 'reset'] as const)]
}
