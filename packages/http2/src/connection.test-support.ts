import { type ConnectionListener, ServerConnection } from './connection.ts'
import { type Frame, FrameReader } from './frame-reader.ts'
import { headerBlockOf } from './header-encoder.ts'
import { LimitCounts } from './limits.ts'
import { FLAG, FRAME, PREFACE } from './protocol.ts'
import type { RequestHead } from './request-head.ts'
import type { Http2Stream } from './stream.ts'

/** A frame as its bytes, whatever rules it breaks. */
export function frame(
  type: number,
  streamId: number,
  { flags = 0, payload = Buffer.alloc(0) }: { flags?: number; payload?: Buffer } = {},
): Buffer {
  const header = Buffer.alloc(9)
  header.writeUIntBE(payload.length, 0, 3)
  header.writeUInt8(type, 3)
  header.writeUInt8(flags, 4)
  header.writeUInt32BE(streamId, 5)
  return Buffer.concat([header, payload])
}

/** Numbers of four bytes. */
export function uint32(...values: number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length)
  values.forEach((value, index) => bytes.writeUInt32BE(value, 4 * index))
  return bytes
}

/** A frame of this many zeros. */
export const zeros = (type: number, streamId: number, bytes: number): Buffer =>
  frame(type, streamId, { payload: Buffer.alloc(bytes) })

/** A header block of fields, each written as `name=value`. */
export function blockOf(...fields: string[]): Buffer {
  const list = fields.map((field) => {
    const equals = field.indexOf('=')
    return { name: field.slice(0, equals), value: field.slice(equals + 1) }
  })
  return headerBlockOf(list)
}

/** The header block of a request, with more fields. */
export const requestBlock = (...more: string[]): Buffer =>
  blockOf(':method=POST', ':scheme=http', ':path=/', ...more)

/** The header block of a response. */
export const OK = blockOf(':status=200')

/** The beginning of a request; its body follows. */
export const open = (streamId: number, block = requestBlock()): Buffer =>
  frame(FRAME.headers, streamId, { flags: FLAG.endHeaders, payload: block })

/** A request without a body. */
export const whole = (streamId: number, block = requestBlock()): Buffer =>
  frame(FRAME.headers, streamId, { flags: FLAG.endHeaders | FLAG.endStream, payload: block })

/** DATA. */
export const data = (streamId: number, body: string | Buffer, flags = 0): Buffer =>
  frame(FRAME.data, streamId, { flags, payload: Buffer.from(body as string) })

/** SETTINGS with these parameters. */
export function settings(...parameters: (readonly [number, number])[]): Buffer {
  const payload = Buffer.alloc(6 * parameters.length)
  parameters.forEach(([parameter, value], index) => {
    payload.writeUInt16BE(parameter, 6 * index)
    payload.writeUInt32BE(value, 6 * index + 2)
  })
  return frame(FRAME.settings, 0, { payload })
}

/** WINDOW_UPDATE. */
export const windowUpdate = (streamId: number, increment: number): Buffer =>
  frame(FRAME.windowUpdate, streamId, { payload: uint32(increment) })

/** RST_STREAM. */
export const rst = (streamId: number, code = 8): Buffer =>
  frame(FRAME.rstStream, streamId, { payload: uint32(code) })

/** PING. */
export const ping = (payload = Buffer.alloc(8), flags = 0): Buffer => frame(FRAME.ping, 0, { flags, payload })

/** Answers with a body of this many bytes. */
export function answer(stream: Http2Stream, bytes: number): void {
  stream.respond(OK)
  stream.write(Buffer.alloc(bytes))
  stream.end(blockOf('grpc-status=0'))
}

/** The first bytes of a client. */
export const PREFACE_AND_SETTINGS = Buffer.concat([PREFACE, settings()])

/** The frames in the bytes of a server, which have no preface. */
export function framesIn(bytes: Buffer): Frame[] {
  const reader = new FrameReader()
  reader.push(PREFACE)
  reader.push(bytes)
  const frames: Frame[] = []
  for (let next = reader.next(); typeof next === 'object'; next = reader.next()) frames.push(next)
  return frames
}

/** A connection with a test as its client. Notes events as lines. */
export class TestConnection {
  nowMs = 0
  readonly events: string[] = []
  readonly sent: Frame[] = []
  readonly counts = new LimitCounts()
  readonly opened = new Map<number, Http2Stream>()
  readonly connection: ServerConnection
  readonly #onOpen: (stream: Http2Stream, head: RequestHead) => void

  /** `begin`: the bytes that the client has sent already. */
  constructor({
    begin = PREFACE_AND_SETTINGS,
    onOpen = () => undefined,
  }: { begin?: Buffer; onOpen?: (stream: Http2Stream, head: RequestHead) => void } = {}) {
    this.#onOpen = onOpen
    this.connection = new ServerConnection({ listener: this.#listener(), counts: this.counts, nowMs: 0 })
    this.receive(begin)
  }

  /** The bytes come, and everything is sent that may be. */
  receive(...pieces: Buffer[]): this {
    this.connection.receive(Buffer.concat(pieces), this.nowMs)
    return this.flush()
  }

  flush(): this {
    for (let bytes = this.connection.take(65_536); bytes !== undefined; bytes = this.connection.take(65_536))
      this.sent.push(...framesIn(bytes))
    return this
  }

  /** The stream that was opened with this id. */
  stream(streamId: number): Http2Stream {
    return this.opened.get(streamId)!
  }

  /** The frames of a type that were sent. */
  sentOf(type: number): Frame[] {
    return this.sent.filter((each) => each.type === type)
  }

  /** The error code of the GOAWAY that was sent. */
  get goAway(): number | undefined {
    return this.sentOf(FRAME.goAway).at(-1)?.payload.readUInt32BE(4)
  }

  /** The streams that were reset, with their error codes. */
  get resets(): [streamId: number, errorCode: number][] {
    return this.sentOf(FRAME.rstStream).map(({ streamId, payload }) => [streamId, payload.readUInt32BE(0)])
  }

  /** The bytes of DATA that were sent on a stream. */
  bytesOn(streamId: number): number {
    return this.sentOf(FRAME.data).reduce(
      (sum, { streamId: id, payload }) => (id === streamId ? sum + payload.length : sum),
      0,
    )
  }

  /** How often each limit was met; limits that were not met are left out. */
  get limits(): Record<string, number> {
    return Object.fromEntries(Object.entries(this.counts.byReason).filter(([, count]) => count > 0))
  }

  #listener(): ConnectionListener {
    const { events } = this
    return {
      opened: (stream, head) => {
        this.opened.set(stream.id, stream)
        const { id } = stream
        events.push(`${id} ${head.method} ${head.path} ${[...head.fields].join(' ')}`)
        stream.listener = {
          data: (piece) => void events.push(`${id} data ${piece.toString('latin1')}`),
          ended: () => void events.push(`${id} end`),
          drained: () => void events.push(`${id} drained`),
          closed: () => void events.push(`${id} closed`),
        }
        this.#onOpen(stream, head)
      },
      sending: () => undefined,
      pingAnswered: () => void events.push('ping answered'),
      leaving: () => void events.push('leaving'),
      over: (errorCode) => void events.push(`ended ${errorCode}`),
    }
  }
}
