import { connect, type Socket } from 'node:net'

/** The target of a wire, and its own loopback address. */
export interface WireEnd {
  readonly host: string
  readonly port: number
  readonly localAddress?: string
}

/** An answer: the status, or 0 if the connection broke. `body` is empty unless it was requested. */
export type OnAnswer = (status: number, body: string) => void

const HEAD_END = Buffer.from('\r\n\r\n')
const NOTHING = Buffer.alloc(0)

/**
 * One keep-alive connection with at most one request in flight: a cheap HTTP/1.1 client, so that mainly the server is
 * measured. It connects for its first request, and again after the connection breaks.
 */
export class Wire {
  readonly #end: WireEnd
  readonly #keepBody: boolean
  #socket: Socket | undefined
  #onAnswer: OnAnswer | undefined
  #head: Buffer = NOTHING
  #status = 0
  #bodyLeft = -1
  #kept = ''

  constructor(end: WireEnd, keepBody = false) {
    this.#end = end
    this.#keepBody = keepBody
  }

  get free(): boolean {
    return this.#onAnswer === undefined
  }

  /** Resolves once connected. */
  open(): Promise<void> {
    return new Promise((resolve, reject) => {
      const socket = this.#connect()
      socket.once('connect', () => resolve())
      socket.once('error', reject)
    })
  }

  send(text: string, onAnswer: OnAnswer): void {
    this.#onAnswer = onAnswer
    const socket = this.#socket ?? this.#connect()
    socket.write(text, 'latin1')
  }

  /** The same as a promise. */
  ask(text: string): Promise<{ status: number; body: string }> {
    return new Promise((resolve) => this.send(text, (status, body) => resolve({ status, body })))
  }

  close(): void {
    this.#onAnswer = undefined
    this.#socket?.destroy()
    this.#socket = undefined
  }

  #connect(): Socket {
    const socket = connect({ ...this.#end, noDelay: true })
    this.#socket = socket
    socket.on('data', (chunk: Buffer) => this.#read(chunk))
    socket.on('error', () => {})
    socket.on('close', () => {
      if (this.#socket !== socket) return
      this.#socket = undefined
      this.#endAnswer(0)
    })
    return socket
  }

  #read(chunk: Buffer): void {
    if (this.#bodyLeft < 0) {
      const rest = this.#readHead(chunk)
      if (rest === undefined) return
      chunk = rest
    }
    if (this.#keepBody) this.#kept += chunk.toString('utf8')
    this.#bodyLeft -= chunk.length
    if (this.#bodyLeft <= 0) this.#endAnswer(this.#status)
  }

  /** Parses the head; undefined while it is incomplete. */
  #readHead(chunk: Buffer): Buffer | undefined {
    const bytes = this.#head.length === 0 ? chunk : Buffer.concat([this.#head, chunk])
    const end = bytes.indexOf(HEAD_END)
    if (end < 0) {
      this.#head = bytes
      return undefined
    }
    const head = bytes.toString('latin1', 0, end)
    this.#head = NOTHING
    this.#status = Number(head.slice(9, 12))
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
    if (length === undefined) throw new Error(`An answer without a length cannot be measured: ${head}`)
    this.#bodyLeft = Number(length)
    return bytes.subarray(end + 4)
  }

  #endAnswer(status: number): void {
    const onAnswer = this.#onAnswer
    const body = this.#kept
    this.#onAnswer = undefined
    this.#head = NOTHING
    this.#bodyLeft = -1
    this.#kept = ''
    onAnswer?.(status, body)
  }
}
