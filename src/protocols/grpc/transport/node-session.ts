import { performServerHandshake, type ServerHttp2Session, type ServerOptions } from 'node:http2'
import type { Socket } from 'node:net'
import { contained, nothing } from '../../../core/unexpected.ts'
import type { CallHead, CallStream } from './call-stream.ts'
import { NodeCallStream } from './node-call-stream.ts'
import { CLOSING_MS, ConnectionSession } from './session.ts'

/** Clients have one stream and a few requests at once; more are refused, and their clients send them later. */
const HTTP2_OPTIONS: ServerOptions = {
  settings: { maxConcurrentStreams: 100, maxHeaderListSize: 16 * 1024, enablePush: false },
  maxHeaderListPairs: 100,
  maxSessionInvalidFrames: 100,
  maxSessionRejectedStreams: 100,
  // In MB: a request and an answer of the largest size may be under way.
  maxSessionMemory: 64,
}

/** A session of Node's HTTP/2. */
export class NodeSession extends ConnectionSession {
  readonly #http2: ServerHttp2Session

  /** Begins to receive. */
  constructor(socket: Socket, openedMs: number) {
    super(socket, openedMs)
    this.#http2 = performServerHandshake(socket, HTTP2_OPTIONS)
    this.#http2.destroy = (error) => this.#endSocket(error)
    this.#http2.on('error', nothing)
    this.#http2.on(
      'goaway',
      this.guard(() => this.leaving()),
    )
  }

  onClose(closed: () => void): void {
    this.#http2.on('close', this.guard(closed))
  }

  onStream(opened: (stream: CallStream, head: CallHead) => void): void {
    this.#http2.on(
      'stream',
      this.guard((stream, headers) => {
        const head = {
          path: headers[':path'],
          method: headers[':method'],
          contentType: headers['content-type'],
          encoding: headers['grpc-encoding']?.toString(),
        }
        opened(new NodeCallStream(stream), head)
      }),
    )
  }

  close(): void {
    if (this.socket.destroyed) return
    const destroy = (): void => this.destroy()
    if (!this.#http2.destroyed && !this.#http2.closed)
      contained('connection', destroy, () => this.#http2.close())
    this.endIn(CLOSING_MS)
  }

  protected ping(answered: () => void): void {
    if (this.#http2.destroyed) answered()
    else contained('connection', answered, () => void this.#http2.ping(answered))
  }

  /**
   * Node calls this instead of its own `destroy`. After its own one it still reads frames that it has
   * received before, and aborts the process by some of them (`Assertion failed: onread->IsFunction()`). Once
   * the socket is closed there are none (decision 0048).
   */
  #endSocket(error: unknown): void {
    const end = (): void => {
      if (error !== undefined && error !== null) return void this.socket.destroy()
      this.socket.end()
      this.endIn(CLOSING_MS)
    }
    setImmediate(this.guard(end))
  }
}
