import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { frameOf } from '../support/grpc-client.ts'

/** The types of frames (RFC 9113). */
export const FRAME = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  ping: 6,
  goAway: 7,
  window: 8,
  continuation: 9,
}
const END_STREAM = 1
export const END_HEADERS = 4

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')

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

const call = (path: string): Buffer =>
  Buffer.concat([
    field(':method', 'POST'),
    field(':scheme', 'http'),
    field(':path', path),
    field(':authority', 'localhost'),
    field('content-type', 'application/grpc'),
    field('te', 'trailers'),
  ])

/** The header blocks of the two calls. */
export const CALL = {
  request: call('/Request/request'),
  stream: call('/BiRequestStream/requestBiStream'),
}

/** The begin of a request. */
export const begin = (stream: number): Buffer =>
  http2Frame(FRAME.headers, stream, { flags: END_HEADERS, body: CALL.request })

/** A whole request. */
export const whole = (stream: number, type: string, body = {}): Buffer =>
  Buffer.concat([
    begin(stream),
    http2Frame(FRAME.data, stream, { flags: END_STREAM, body: frameOf(type, body) }),
  ])

export const reset = (stream: number): Buffer =>
  http2Frame(FRAME.reset, stream, { body: Buffer.from([0, 0, 0, 8]) })

/** A connection on which a test sends what it likes. */
export interface RawConnection {
  readonly socket: Socket
  /** The frames that came, by their types. */
  readonly came: readonly number[]
  /** Sends bytes; resolves when they are taken, or the connection has ended. */
  send(bytes: Buffer): Promise<void>
  readonly ended: Promise<void>
}

/** Connects, and sends the preface with these settings. */
export async function connectRaw(
  port: number,
  settings: readonly [number, number][] = [],
): Promise<RawConnection> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  const ended = new Promise<void>((resolve) => void socket.on('close', () => resolve()))
  const came: number[] = []
  let rest: Buffer = Buffer.alloc(0)
  socket.on('data', (piece: Buffer) => {
    rest = Buffer.concat([rest, piece])
    while (rest.length >= 9 && rest.length >= 9 + rest.readUIntBE(0, 3)) {
      came.push(rest.readUInt8(3))
      rest = rest.subarray(9 + rest.readUIntBE(0, 3))
    }
  })
  await once(socket, 'connect')
  const send = async (bytes: Buffer): Promise<void> => {
    if (!socket.writable || socket.write(bytes)) return
    await Promise.race([once(socket, 'drain').catch(() => undefined), ended])
  }
  await send(Buffer.concat([PREFACE, settingsFrame(settings)]))
  return { socket, came, send, ended }
}

function settingsFrame(settings: readonly [number, number][]): Buffer {
  const body = Buffer.alloc(6 * settings.length)
  for (const [index, [name, value]] of settings.entries()) {
    body.writeUInt16BE(name, 6 * index)
    body.writeUInt32BE(value, 6 * index + 2)
  }
  return http2Frame(FRAME.settings, 0, { body })
}
