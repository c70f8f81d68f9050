import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'

/**
 * The traffic that passes a link. A direction that is held back is like a network that loses all packets: connections stay open,
 * nothing arrives, and what was sent arrives late if the link is opened again before somebody closes the connection.
 */
export interface Passing {
  readonly questions: boolean
  readonly answers: boolean
}

/** Everything passes. */
export const OPEN: Passing = { questions: true, answers: true }
/** Nothing passes. */
export const CUT: Passing = { questions: false, answers: false }

/** One connection through a gate. */
interface Pair {
  readonly from: string
  readonly near: Socket
  readonly far: Socket
}

/** Where a gate listens, what is behind it, and who is at the other end of a connection. */
export interface GateOptions {
  readonly host: string
  readonly port: number
  readonly target: { readonly host: string; readonly port: number }
  /** The name of the process that connects from this port; connections of unknown ones are ended. */
  readonly whoIs: (port: number) => string | undefined
}

/** Passes TCP connections on to one address, and can hold them back: all, or those of one process. */
export class Gate {
  readonly #options: GateOptions
  readonly #server: Server
  readonly #pairs = new Set<Pair>()
  readonly #passing = new Map<string, Passing>()

  private constructor(options: GateOptions) {
    this.#options = options
    this.#server = createServer({ allowHalfOpen: false }, (socket) => this.#accept(socket))
  }

  /** Resolves when it listens. */
  static async open(options: GateOptions): Promise<Gate> {
    const gate = new Gate(options)
    gate.#server.listen(options.port, options.host)
    await once(gate.#server, 'listening')
    return gate
  }

  get port(): number {
    return (this.#server.address() as { port: number }).port
  }

  /** Decides what passes for the connections of a process: open connections and later ones. */
  set(from: string, passing: Passing): void {
    this.#passing.set(from, passing)
    for (const pair of this.#pairs) if (pair.from === from) apply(pair, passing)
  }

  /** Ends the open connections of a process. Bytes that were held back are lost. */
  breakAll(from: string): void {
    for (const pair of this.#pairs) if (pair.from === from) end(pair)
  }

  async close(): Promise<void> {
    for (const pair of this.#pairs) end(pair)
    this.#server.close()
    await once(this.#server, 'close')
  }

  #accept(near: Socket): void {
    near.on('error', () => near.destroy())
    const from = this.#options.whoIs(near.remotePort ?? 0)
    if (from === undefined) return void near.destroy()
    const far = connect({ ...this.#options.target, noDelay: true })
    near.setNoDelay(true)
    const pair = { from, near, far }
    this.#pairs.add(pair)
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.on('error', () => one.destroy())
      one.on('data', (chunk: Buffer) => other.write(chunk))
      one.on('close', () => {
        other.destroy()
        this.#pairs.delete(pair)
      })
    }
    apply(pair, this.#passing.get(from) ?? OPEN)
  }
}

function apply({ near, far }: Pair, { questions, answers }: Passing): void {
  if (questions) near.resume()
  else near.pause()
  if (answers) far.resume()
  else far.pause()
}

function end({ near, far }: Pair): void {
  near.destroy()
  far.destroy()
}
