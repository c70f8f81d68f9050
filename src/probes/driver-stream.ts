import { EventEmitter } from 'node:events'
import { isIP, type Socket } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { down, type Conversation } from './conversation.ts'

const ANSWER_CAP_BYTES = 262_144
const PACKET_HEAD_BYTES = 4

/** How TLS is verified. */
export interface TlsTrust {
  readonly host: string
  readonly ca: string
}

/**
 * The stream that a database driver gets instead of a socket. The driver runs only inside `run`, so an error
 * that it throws about the data of a host is a verdict. With the verdict the stream ends: the driver gets
 * nothing more, and sends nothing.
 */
export class DriverStream extends EventEmitter {
  readonly #talk: Conversation
  readonly #trust: TlsTrust | undefined
  readonly #take: (chunk: Buffer) => void
  #wire: Socket
  #isVerified = false
  #greeting: Buffer = Buffer.alloc(0)
  #seenBytes = 0

  /** `trust`: the driver asks for TLS after the first packet. Undefined: it never does. */
  constructor(talk: Conversation, socket: Socket, trust?: TlsTrust) {
    super()
    this.#talk = talk
    this.#take = talk.guard((chunk: Buffer) => this.#feed(chunk))
    this.#trust = trust
    this.#wire = socket
    socket.on('data', this.#take)
  }

  /** Whether the certificate of the host is verified, and all bytes are encrypted for it from now on. */
  get isVerified(): boolean {
    return this.#isVerified
  }

  get destroyed(): boolean {
    return this.#talk.over
  }

  /** Runs a step of the driver. An error becomes the verdict, and is not printed. */
  run(step: () => void): void {
    if (this.#talk.over) return
    const { error: printError, trace } = console
    // The driver prints lines about odd packets. A host must not be able to fill the log with them.
    console.error = console.trace = () => {}
    try {
      step()
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error)
      this.#talk.conclude(down(`the answer is not valid: ${text}`))
    } finally {
      Object.assign(console, { error: printError, trace })
    }
  }

  /** Starts TLS on the connection and calls `onSecure` when the certificate is verified. It is the verdict if it is not. */
  secure(onSecure: () => void): void {
    this.#wire.off('data', this.#take)
    const { host = '', ca } = this.#trust ?? {}
    const secured = connectTls({
      socket: this.#wire,
      host,
      ca,
      ...(isIP(host) === 0 && { servername: host }),
    })
    this.#talk.hold(secured)
    secured.on(
      'secureConnect',
      this.#talk.guard(() => this.#becomeSecure(secured, onSecure)),
    )
    secured.on('data', this.#take)
    this.#wire = secured
  }

  write(bytes: Uint8Array): boolean {
    if (!this.#talk.over) this.#wire.write(bytes)
    return true
  }

  /** The driver gives up. It has reported why, unless it is a fault of the driver. */
  end(): void {
    this.#talk.conclude(down('the sign-in ended without an answer'))
  }

  destroy(): void {
    this.end()
  }

  #becomeSecure(secured: TLSSocket, onSecure: () => void): void {
    this.#isVerified = secured.authorized
    this.run(onSecure)
  }

  #feed(chunk: Buffer): void {
    this.#seenBytes += chunk.length
    if (this.#seenBytes > ANSWER_CAP_BYTES)
      return this.#talk.conclude(down(`answer of more than ${ANSWER_CAP_BYTES} bytes`))
    if (this.#trust !== undefined && !this.#isVerified) return this.#feedGreeting(chunk)
    this.run(() => this.emit('data', chunk))
  }

  /** Bytes after the greeting and before TLS may be from anybody. */
  #feedGreeting(chunk: Buffer): void {
    const read = Buffer.concat([this.#greeting, chunk])
    this.#greeting = read
    if (read.length < PACKET_HEAD_BYTES) return
    const end = PACKET_HEAD_BYTES + read.readUIntLE(0, 3)
    if (read.length > end) return this.#talk.conclude(down('the answer is not valid: data before TLS'))
    if (read.length === end) this.run(() => this.emit('data', read))
  }
}
