import { randomBytes } from 'node:crypto'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { TLSSocket, type SecureContextOptions, createSecureContext } from 'node:tls'

const CLIENT_SSL = 0x800
const CAPABILITIES = 0x00_0a_a2_0d | 0x8_0000 // 4.1, secure connection, plugin auth

/** A packet of the protocol. */
export function packet(sequence: number, payload: Uint8Array): Buffer {
  const head = Buffer.alloc(4)
  head.writeUIntLE(payload.length & 0xff_ff_ff, 0, 3)
  head[3] = sequence & 0xff
  return Buffer.concat([head, payload])
}

/** The first message of a server of MySQL 8. */
export function greeting(scramble: Buffer, { tls = false, method = 'caching_sha2_password' } = {}): Buffer {
  const capabilities = CAPABILITIES | (tls ? CLIENT_SSL : 0)
  const numbers = Buffer.alloc(4)
  numbers.writeUInt32LE(7)
  const low = Buffer.alloc(2)
  low.writeUInt16LE(capabilities & 0xff_ff)
  const high = Buffer.alloc(2)
  high.writeUInt16LE(capabilities >>> 16)
  return Buffer.concat([
    Buffer.from('\n8.4.0\0'),
    numbers,
    scramble.subarray(0, 8),
    Buffer.of(0),
    low,
    Buffer.of(45, 2, 0),
    high,
    Buffer.of(21),
    Buffer.alloc(10),
    scramble.subarray(8),
    Buffer.of(0),
    Buffer.from(`${method}\0`),
  ])
}

export const OK = Buffer.of(0, 0, 0, 2, 0, 0, 0)
export const EOF = Buffer.of(0xfe, 0, 0, 2, 0)

export function refusal(errno: number, text: string): Buffer {
  return Buffer.concat([Buffer.of(0xff, errno & 0xff, errno >> 8), Buffer.from(`#HY000${text}`)])
}

export function switchTo(method: string, scramble: Buffer): Buffer {
  return Buffer.concat([Buffer.of(0xfe), Buffer.from(`${method}\0`), scramble, Buffer.of(0)])
}

export function moreData(...data: readonly Uint8Array[]): Buffer {
  return Buffer.concat([Buffer.of(1), ...data])
}

export function column(name: string): Buffer {
  const text = (value: string): Buffer => Buffer.concat([Buffer.of(value.length), Buffer.from(value)])
  const texts = ['def', '', '', '', name, ''].map(text)
  return Buffer.concat([...texts, Buffer.of(0x0c, 45, 0, 80, 0, 0, 0, 253, 0, 0, 31, 0, 0)])
}

export function row(...values: readonly string[]): Buffer {
  return Buffer.concat(values.map((value) => Buffer.concat([Buffer.of(value.length), Buffer.from(value)])))
}

/** One connection as the server sees it. */
export class FakeSession {
  readonly scramble = Buffer.from(randomBytes(20).map((byte) => (byte % 127) + 1))
  /** All that the client has sent, without TLS. */
  readonly received: Buffer[] = []
  #stream: Socket
  #sequence = 0
  #unread = Buffer.alloc(0)
  #waiting: (() => void) | undefined

  constructor(socket: Socket) {
    this.#stream = socket
    this.#listenTo(socket)
  }

  /** The socket, or TLS on top of it. */
  get stream(): Socket {
    return this.#stream
  }

  send(...payloads: readonly Uint8Array[]): void {
    const packets = payloads.map((payload) => packet(this.#sequence++, payload))
    this.#stream.write(Buffer.concat(packets))
  }

  /** The payload of the next packet of the client. Never, if the client has left. */
  async next(): Promise<Buffer> {
    for (;;) {
      const length = this.#unread.length < 4 ? Infinity : this.#unread.readUIntLE(0, 3)
      if (this.#unread.length >= 4 + length) {
        const payload = this.#unread.subarray(4, 4 + length)
        this.#sequence = (this.#unread[3] ?? 0) + 1
        this.#unread = this.#unread.subarray(4 + length)
        return payload
      }
      await new Promise<void>((resolve) => (this.#waiting = resolve))
    }
  }

  /** Goes on with TLS, as a server does after a request for it. */
  startTls(files: SecureContextOptions): void {
    this.#stream.removeAllListeners('data').pause()
    // The client may have sent more in the same segment.
    if (this.#unread.length > 0) this.#stream.unshift(this.#unread)
    this.#unread = Buffer.alloc(0)
    const secured = new TLSSocket(this.#stream, { isServer: true, secureContext: createSecureContext(files) })
    this.#stream = secured
    this.#listenTo(secured)
  }

  /** The sign-in succeeds, and the query too. */
  async accept(): Promise<void> {
    this.send(OK)
    await this.next()
    this.send(OK)
  }

  #listenTo(socket: Socket): void {
    socket.on('error', () => {})
    socket.on('data', (chunk: Buffer) => {
      this.received.push(chunk)
      this.#unread = Buffer.concat([this.#unread, chunk])
      this.#waiting?.()
    })
  }
}

/** A server on loopback that plays `talk` for each connection. */
export async function fakeMysql(talk: (session: FakeSession) => void | Promise<void>) {
  const sessions: FakeSession[] = []
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    const session = new FakeSession(socket)
    sessions.push(session)
    sockets.push(socket)
    void talk(session)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    port: (server.address() as AddressInfo).port,
    received: () => Buffer.concat(sessions.flatMap((session) => session.received)),
    close: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}
