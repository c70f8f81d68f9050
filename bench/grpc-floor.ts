/**
 * The floor of gRPC: captured messages over sockets, without flow control and without a reader of heads. It parses the input
 * and stores nothing. It is only for the clients of this bench, which read no heads either.
 */
import { createServer, type Socket } from 'node:net'
import { frameOf, messageIn } from './grpc-wire.ts'
import { DATA, END_HEADERS, END_STREAM, frame, HEADERS, readFrames, SETTINGS } from './http2-wire.ts'

/** A message of a server: its type, and its body in JSON. */
export interface ReadyMessage {
  readonly type: string
  readonly body: string
}

/** The messages of the floor. */
export interface GrpcSetup {
  /** By the type of the request. */
  readonly answers: Readonly<Record<string, ReadyMessage>>
  /** What follows a request over HTTP (`POST /svc/v1/cs/configs`): who asked for it on the connection, and the message. */
  readonly pushes: Readonly<Record<string, ReadyMessage & { readonly askedBy: string }>>
}

const PREFACE_BYTES = 24
const ACK = 1
/** `:status 200`, then `content-type: application/grpc`, which is not remembered. */
const HEAD = Buffer.from('\x88\x0f\x10\x10application/grpc', 'latin1')
const TRAILERS = Buffer.from('\x00\x0bgrpc-status\x010', 'latin1')
/** The stream of the connection is its first call. */
const STREAM = 1

/** A connection: the types of its requests. */
interface Connection {
  readonly socket: Socket
  readonly asked: Set<string>
}

/** The part of the floor that answers gRPC. */
export class GrpcFloor {
  readonly #setup: GrpcSetup
  readonly #frames: Map<string, Buffer>
  readonly #connections = new Set<Connection>()

  constructor(setup: GrpcSetup) {
    this.#setup = setup
    const ready = Object.entries(setup.answers).map(([asked, { type, body }]) => [asked, frameOf(type, body)])
    this.#frames = new Map(ready as [string, Buffer][])
  }

  /** The number of connections. */
  get size(): number {
    return this.#connections.size
  }

  /** Resolves with false if the port is taken. */
  listen(port: number): Promise<boolean> {
    const server = createServer({ noDelay: true }, (socket) => this.#accept(socket))
    return new Promise((resolve) => {
      server.once('error', () => resolve(false))
      server.listen({ host: '127.0.0.1', port, backlog: 4_096 }, () => resolve(true))
    })
  }

  /** Sends what follows a request over HTTP. A published content is the answer of later queries. */
  push(request: string, content: string | undefined): void {
    const pushed = this.#setup.pushes[request]
    if (pushed === undefined) return
    const query = this.#setup.answers['ConfigQueryRequest']
    if (content !== undefined && query !== undefined)
      this.#frames.set('ConfigQueryRequest', frameOf(query.type, withContent(query.body, content)))
    const bytes = frame({ type: DATA, id: STREAM }, frameOf(pushed.type, pushed.body))
    for (const { socket, asked } of this.#connections) if (asked.has(pushed.askedBy)) socket.write(bytes)
  }

  #accept(socket: Socket): void {
    const connection = { socket, asked: new Set<string>() }
    this.#connections.add(connection)
    socket.on('error', () => undefined)
    socket.on('close', () => this.#connections.delete(connection))
    socket.write(frame({ type: SETTINGS }, Buffer.alloc(0)))
    let rest: Buffer = Buffer.alloc(0)
    let skip = PREFACE_BYTES
    socket.on('data', (chunk: Buffer) => {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
      const from = Math.min(skip, bytes.length)
      skip -= from
      socket.cork()
      rest = readFrames(bytes.subarray(from), (one) => this.#take(connection, one))
      socket.uncork()
    })
  }

  #take(connection: Connection, bytes: Buffer): void {
    const [type, flags, id] = [bytes[3]!, bytes[4]!, bytes.readUInt32BE(5)]
    if (type === SETTINGS && (flags & ACK) === 0)
      connection.socket.write(frame({ type: SETTINGS, flags: ACK }, Buffer.alloc(0)))
    if (type !== DATA || bytes.length < FRAME_AND_LENGTH) return
    const { type: asked, body } = messageIn(bytes.subarray(FRAME_AND_LENGTH))
    JSON.parse(body.toString('utf8'))
    if ((flags & END_STREAM) === 0) return
    connection.asked.add(asked)
    const answer = this.#frames.get(asked)
    if (answer === undefined) throw new Error(`The floor has no answer to ${asked}.`)
    connection.socket.write(answerOf(id, answer))
  }
}

/** The bytes before a message in its frame. */
const FRAME_AND_LENGTH = 14

function answerOf(id: number, message: Buffer): Buffer {
  return Buffer.concat([
    frame({ type: HEADERS, flags: END_HEADERS, id }, HEAD),
    frame({ type: DATA, id }, message),
    frame({ type: HEADERS, flags: END_HEADERS | END_STREAM, id }, TRAILERS),
  ])
}

function withContent(body: string, content: string): string {
  return JSON.stringify({ ...(JSON.parse(body) as object), content })
}
