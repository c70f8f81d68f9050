import { connect, type Socket } from 'node:net'

/** Hears of a call: the pieces of its messages, and once that it has ended; `problem` is undefined if all was well. */
export interface CallListener {
  received(piece: Buffer): void
  ended(problem?: string): void
}

/** How a call begins: `isWhole` if nothing follows. */
export interface CallBeginning {
  readonly head: Buffer
  readonly bytes: Buffer
  readonly isWhole: boolean
}

export const DATA = 0
export const HEADERS = 1
const RST_STREAM = 3
export const SETTINGS = 4
const PING = 6
const GOAWAY = 7
const WINDOW_UPDATE = 8

const ACK = 1
export const END_STREAM = 1
export const END_HEADERS = 4

const HEAD_BYTES = 9
const LARGEST_FRAME = 16_384
/** Servers may send as much as they like; it is far more than a load receives. */
const LARGEST_WINDOW = 0x7fffffff
const USUAL_WINDOW = 65_535
const INITIAL_WINDOW_SIZE = 4
const NOTHING = Buffer.alloc(0)

/**
 * The client side of one HTTP/2 connection for loads: the heads of its requests are ready bytes, and it reads no heads of
 * answers. So it costs the machine far less than the server that is measured. It needs a server that takes a request of 16
 * KB without waiting, remembers headers, and does not pad.
 */
export class Http2Wire {
  readonly #socket: Socket
  readonly #calls = new Map<number, CallListener>()
  #lastId = -1
  #rest: Buffer = NOTHING

  /** Begins to connect. */
  constructor({ hostname, port }: URL) {
    this.#socket = connect({ host: hostname, port: Number(port), noDelay: true })
    this.#socket.write(BEGINNING)
    this.#socket.on('data', (chunk: Buffer) => this.#received(chunk))
    this.#socket.on('error', () => undefined)
    this.#socket.on('close', () => this.#closed())
  }

  /** Begins a call, and answers its number. */
  call({ head, bytes, isWhole }: CallBeginning, listener: CallListener): number {
    const id = (this.#lastId += 2)
    this.#calls.set(id, listener)
    const headers = frame({ type: HEADERS, flags: END_HEADERS, id }, head)
    const data = frame({ type: DATA, flags: isWhole ? END_STREAM : 0, id }, bytes)
    this.#socket.write(Buffer.concat([headers, data]))
    // The server may have closed it before, so that nothing tells of it any more.
    if (this.#socket.destroyed) this.#closed()
    return id
  }

  /** Sends more of a call. */
  send(id: number, bytes: Buffer): void {
    this.#socket.write(frame({ type: DATA, id }, bytes))
  }

  close(): void {
    this.#socket.destroy()
  }

  #closed(): void {
    for (const call of this.#calls.values()) call.ended('The connection was closed.')
    this.#calls.clear()
  }

  #received(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    // The output of the listeners meanwhile is one write.
    this.#socket.cork()
    this.#rest = readFrames(bytes, (one) => this.#take(one))
    this.#socket.uncork()
  }

  #take(bytes: Buffer): void {
    const [type, flags] = [bytes[3]!, bytes[4]!]
    const id = bytes.readUInt32BE(5)
    switch (type) {
      case DATA:
        this.#calls.get(id)?.received(bytes.subarray(HEAD_BYTES))
        if ((flags & END_STREAM) !== 0) this.#ended(id)
        return
      case HEADERS:
        if ((flags & END_STREAM) !== 0) this.#ended(id)
        return
      case RST_STREAM:
        return this.#ended(id, `The call was ended with ${bytes.readUInt32BE(HEAD_BYTES)}.`)
      case GOAWAY:
        return this.close()
      case SETTINGS:
      case PING:
        if ((flags & ACK) === 0) this.#acknowledge(type, bytes)
    }
  }

  #acknowledge(type: typeof SETTINGS | typeof PING, bytes: Buffer): void {
    this.#socket.write(frame({ type, flags: ACK }, type === PING ? bytes.subarray(HEAD_BYTES) : NOTHING))
  }

  #ended(id: number, problem?: string): void {
    const call = this.#calls.get(id)
    this.#calls.delete(id)
    call?.ended(problem)
  }
}

/** Reads whole frames, and returns the bytes after them. */
export function readFrames(bytes: Buffer, take: (frame: Buffer) => void): Buffer {
  let at = 0
  while (bytes.length - at >= HEAD_BYTES) {
    const end = at + HEAD_BYTES + bytes.readUIntBE(at, 3)
    if (end > bytes.length) break
    take(bytes.subarray(at, end))
    at = end
  }
  return bytes.subarray(at)
}

interface FrameHead {
  readonly type: number
  readonly flags?: number
  /** 0: the connection. */
  readonly id?: number
}

/** The bytes of a frame. */
export function frame({ type, flags = 0, id = 0 }: FrameHead, payload: Buffer): Buffer {
  if (payload.length > LARGEST_FRAME) throw new Error(`A load sends at most ${LARGEST_FRAME} bytes at once.`)
  const bytes = Buffer.allocUnsafe(HEAD_BYTES + payload.length)
  bytes.writeUIntBE(payload.length, 0, 3)
  bytes[3] = type
  bytes[4] = flags
  bytes.writeUInt32BE(id, 5)
  bytes.set(payload, HEAD_BYTES)
  return bytes
}

/** The bytes that open a connection: both windows are as large as they can be. */
const BEGINNING = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  frame({ type: SETTINGS }, Buffer.from([0, INITIAL_WINDOW_SIZE, ...fourBytes(LARGEST_WINDOW)])),
  frame({ type: WINDOW_UPDATE }, Buffer.from(fourBytes(LARGEST_WINDOW - USUAL_WINDOW))),
])

function fourBytes(value: number): number[] {
  return [value >>> 24, (value >>> 16) & 0xff, (value >>> 8) & 0xff, value & 0xff]
}

/** The heads of requests that are the same but for what follows them: all but the first one name its headers by number. */
export interface RepeatedHead {
  readonly first: Buffer
  readonly next: Buffer
}

const POST_AND_HTTP = Buffer.from([0x83, 0x86])
const REMEMBERED = 0x40
const NUMBERED = 0x80
/** The number of the header that was remembered last. */
const NEWEST = 62

/** The heads of POST requests, of which a connection may repeat one. Names and values are shorter than 127 characters. */
export function postHeads(headers: Readonly<Record<string, string>>): RepeatedHead {
  const entries = Object.entries(headers)
  const texts = entries.flatMap(([name, value]) => [
    Buffer.from([REMEMBERED]),
    lengthened(name),
    lengthened(value),
  ])
  const numbers = entries.map((_header, index) => NUMBERED | (NEWEST + entries.length - 1 - index))
  return {
    first: Buffer.concat([POST_AND_HTTP, ...texts]),
    next: Buffer.concat([POST_AND_HTTP, Buffer.from(numbers)]),
  }
}

function lengthened(text: string): Buffer {
  return Buffer.concat([Buffer.from([text.length]), Buffer.from(text, 'latin1')])
}
