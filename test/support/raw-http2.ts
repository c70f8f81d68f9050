/** A writer of frames of HTTP/2 that knows no rules, so that tests can send what no library sends. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { frameOf } from './grpc-client.ts'

/** The types of frames (RFC 9113). */
export const FRAME = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  push: 5,
  ping: 6,
  goAway: 7,
  window: 8,
  continuation: 9,
}
export const END_STREAM = 1
export const ACK = 1
export const END_HEADERS = 4

/** The setting of HTTP/2 for the window of new streams. */
export const INITIAL_WINDOW = 4

/** The first bytes of every client. */
export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')

/** A frame of HTTP/2. */
export function http2Frame(
  type: number,
  stream: number,
  { flags = 0, body = Buffer.alloc(0) }: { flags?: number; body?: Buffer } = {},
): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(body.length, 0, 3)
  head.writeUInt8(type, 3)
  head.writeUInt8(flags, 4)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, body])
}

/** A field of a header block, without any compression. Both texts are shorter than 127 bytes. */
export function field(name: string, value: string): Buffer {
  const text = (each: string): Buffer => Buffer.concat([Buffer.from([each.length]), Buffer.from(each)])
  return Buffer.concat([Buffer.from([0]), text(name), text(value)])
}

/** The header block of a call. */
export const callTo = (path: string, type = 'application/grpc'): Buffer =>
  Buffer.concat([
    field(':method', 'POST'),
    field(':scheme', 'http'),
    field(':path', path),
    field(':authority', 'localhost'),
    field('content-type', type),
    field('te', 'trailers'),
  ])

/** The header blocks of the two calls. */
export const CALL = {
  request: callTo('/Request/request'),
  stream: callTo('/BiRequestStream/requestBiStream'),
}

/** The begin of a request. */
export const begin = (stream: number, body = CALL.request): Buffer =>
  http2Frame(FRAME.headers, stream, { flags: END_HEADERS, body })

/** A whole request. */
export const whole = (stream: number, type: string, body = {}): Buffer =>
  Buffer.concat([
    begin(stream),
    http2Frame(FRAME.data, stream, { flags: END_STREAM, body: frameOf(type, body) }),
  ])

/** The stream of a client, which sets its connection up. */
export const setup = (stream: number): Buffer =>
  Buffer.concat([
    begin(stream, CALL.stream),
    http2Frame(FRAME.data, stream, { body: frameOf('ConnectionSetupRequest', { clientVersion: 'Raw:v1' }) }),
  ])

/** A number of four bytes, as in the bodies of RST_STREAM and WINDOW_UPDATE. */
export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

/** Ends a stream; 8 is CANCEL. */
export const reset = (stream: number, code = 8): Buffer =>
  http2Frame(FRAME.reset, stream, { body: uint32(code) })

/** Says that the client leaves. */
export const goAway = (code: number): Buffer =>
  http2Frame(FRAME.goAway, 0, { body: Buffer.concat([uint32(0), uint32(code)]) })

/** A frame that came. */
export interface CameFrame {
  readonly type: number
  readonly flags: number
  readonly stream: number
  readonly body: Buffer
}

/** A connection on which a test sends what it likes. */
export interface RawConnection {
  readonly socket: Socket
  /** Ends it by a reset of TCP. */
  reset(): void
  /** The frames that came, by their types. */
  readonly came: readonly number[]
  readonly frames: readonly CameFrame[]
  /** Sends bytes; resolves when they are taken, or the connection has ended. */
  send(bytes: Buffer): Promise<void>
  /** Resolves once the server has received all that was sent, or the connection has ended. */
  settled(): Promise<void>
  /** Resolves when the server has ended this stream, or the connection has ended. */
  answered(stream: number): Promise<void>
  readonly ended: Promise<void>
}

/** How a raw connection is made. */
export interface RawOptions {
  readonly settings?: readonly (readonly [number, number])[]
  /** The first bytes; by default the preface of HTTP/2 with the settings. */
  readonly begin?: Buffer
  /** With TLS; the certificate is not checked. */
  readonly tls?: boolean
}

/** Connects, and sends the preface with these settings. */
export async function connectRaw(port: number, options: RawOptions = {}): Promise<RawConnection> {
  const {
    settings = [],
    tls = false,
    begin: first = Buffer.concat([PREFACE, settingsFrame(settings)]),
  } = options
  const { socket, tcp } = await socketTo(port, tls)
  const ended = new Promise<void>((resolve) => void socket.on('close', () => resolve()))
  const frames: CameFrame[] = []
  const came: number[] = []
  let woken: (() => void)[] = []
  let rest: Buffer = Buffer.alloc(0)
  socket.on('data', (piece: Buffer) => {
    rest = Buffer.concat([rest, piece])
    for (let length = lengthIn(rest); rest.length >= length; length = lengthIn(rest)) {
      const frame = frameIn(rest.subarray(0, length))
      frames.push(frame)
      came.push(frame.type)
      rest = rest.subarray(length)
    }
    for (const wake of woken.splice(0)) wake()
  })
  const until = async (holds: (frame: CameFrame) => boolean): Promise<void> => {
    while (!frames.some((frame) => holds(frame)) && !socket.destroyed)
      await Promise.race([new Promise<void>((resolve) => woken.push(resolve)), ended])
    woken = []
  }
  const send = async (bytes: Buffer): Promise<void> => {
    if (!socket.writable || socket.write(bytes)) return
    await Promise.race([once(socket, 'drain').catch(() => undefined), ended])
  }
  let pings = 0
  const settled = async (): Promise<void> => {
    const body = Buffer.concat([uint32(0), uint32(++pings)])
    await send(http2Frame(FRAME.ping, 0, { body }))
    await until(({ type, flags, body: sent }) => type === FRAME.ping && flags === ACK && body.equals(sent))
  }
  const answered = (id: number): Promise<void> =>
    until(({ type, flags, stream }) => stream === id && (type === FRAME.reset || endsStream(type, flags)))
  await send(first)
  return { socket, reset: () => void tcp.resetAndDestroy(), came, frames, send, settled, answered, ended }
}

function endsStream(type: number, flags: number): boolean {
  return (type === FRAME.headers || type === FRAME.data) && (flags & END_STREAM) !== 0
}

async function socketTo(port: number, tls: boolean): Promise<{ socket: Socket; tcp: Socket }> {
  const tcp = connect(port, '127.0.0.1').setNoDelay()
  const socket = tls ? connectTls({ socket: tcp, rejectUnauthorized: false, ALPNProtocols: ['h2'] }) : tcp
  const failed = once(socket, 'close').then(() => {
    throw new Error('the server does not accept connections')
  })
  failed.catch(() => undefined)
  for (const each of [tcp, socket]) each.on('error', () => undefined)
  await Promise.race([once(socket, tls ? 'secureConnect' : 'connect'), failed])
  return { socket, tcp }
}

function lengthIn(bytes: Buffer): number {
  return bytes.length < 9 ? Infinity : 9 + bytes.readUIntBE(0, 3)
}

function frameIn(bytes: Buffer): CameFrame {
  const [type, flags, stream] = [bytes.readUInt8(3), bytes.readUInt8(4), bytes.readUInt32BE(5)]
  return { type, flags, stream, body: bytes.subarray(9) }
}

/** A SETTINGS frame. */
export function settingsFrame(settings: readonly (readonly [number, number])[]): Buffer {
  const body = Buffer.alloc(6 * settings.length)
  for (const [index, [name, value]] of settings.entries()) {
    body.writeUInt16BE(name, 6 * index)
    body.writeUInt32BE(value, 6 * index + 2)
  }
  return http2Frame(FRAME.settings, 0, { body })
}
