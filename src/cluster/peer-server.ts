import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { caught, guarded, nothing, unawaited } from '../core/unexpected.ts'
import { boundedBody } from './bounded-body.ts'
import { PeerPlaces, type PeerRoom } from './peer-places.ts'
import type { PeerQuestion } from './peer-question.ts'
import { digestOf, HEADERS, isEqualText, signatureOf } from './peer-signature.ts'

/** The largest question: a thousand instances with the longest names. */
const MOST_BYTES = 2 * 1024 * 1024
/** A member opens a few connections, and asks within milliseconds. */
const ROOM: PeerRoom = { strangers: 128, members: 128, strangerMs: 1_000 }
/** A request that takes longer is cut off: its sender has given it up. */
const REQUEST_MS = 5_000
/** How often Node looks for those. */
const LOOK_MS = 1_000
/** How long an idle connection stays open. Members ask each other more often than that. */
const IDLE_MS = 60_000

/** The options of a peer server. */
export interface PeerServerOptions {
  readonly host: string
  /** 0: any. */
  readonly port: number
  /** Names this process, as in its record of MEMBER. */
  readonly process: string
  /** What the servers of the installation share. */
  readonly secret: string
  /** Called if answering a question throws. */
  readonly report: (error: unknown, question: string) => void
}

/** Why a request was not answered. `foreign`: it is not signed with the secret, or is meant for another process. */
type Refused = 'foreign' | 'malformed' | 'failed'

const STATUS: Readonly<Record<Refused, number>> = { foreign: 403, malformed: 400, failed: 500 }

type Answerer = (json: unknown) => unknown

/**
 * Answers what the other servers ask, on a port of its own. Only a request that is signed for this process is
 * read, and each answer is signed. Everything else gets a status and no body. A repeated question does no
 * harm. Only one changes anything, the one that sends a client away, and no other client gets that client's
 * id.
 */
export class PeerServer {
  readonly #options: PeerServerOptions
  readonly #server: Server
  readonly #places = new PeerPlaces(ROOM)
  readonly #answerers = new Map<string, Answerer>()
  /** Since the start, by outcome. */
  readonly #counts = { answered: 0, foreign: 0, malformed: 0, failed: 0 }

  private constructor(options: PeerServerOptions) {
    this.#options = options
    this.#server = createServer(
      {
        maxHeaderSize: 8 * 1024,
        headersTimeout: REQUEST_MS,
        requestTimeout: REQUEST_MS,
        keepAliveTimeout: IDLE_MS,
        connectionsCheckingInterval: LOOK_MS,
      },
      (request, response) =>
        unawaited('request', () => request.socket.destroy(), this.#handle(request, response)),
    )
    const admit = (socket: Socket): void => this.#places.admit(socket)
    this.#server.on('connection', guarded('connection', nothing, admit))
    const refuse = (_error: Error, socket: Duplex): void => {
      this.#counts.malformed++
      socket.destroy()
    }
    this.#server.on('clientError', guarded('connection', nothing, refuse))
  }

  /** Listens. Rejects if the port is taken. */
  static async open(options: PeerServerOptions): Promise<PeerServer> {
    const peers = new PeerServer(options)
    await new Promise<void>((resolve, reject) => {
      peers.#server.once('error', reject)
      peers.#server.listen(options.port, options.host, resolve)
    })
    peers.#server.removeAllListeners('error').on('error', (error) => caught('listener', error))
    return peers
  }

  /** Requests since the start by outcome, and as `silent` the connections that showed no signed question in time. */
  get counts(): Readonly<Record<'answered' | 'silent' | Refused, number>> {
    return { ...this.#counts, silent: this.#places.closedStrangers }
  }

  /** The port that it listens on. */
  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** Says how a kind of question is answered. Without it, the question is refused. */
  answer<Question, Answer>(
    { name, readQuestion }: PeerQuestion<Question, Answer>,
    answer: (question: Question) => Answer,
  ): void {
    this.#answerers.set(name, (json) => {
      let question: Question
      try {
        question = readQuestion(json)
      } catch {
        return MALFORMED
      }
      return answer(question)
    })
  }

  /** Ends all connections. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    this.#server.closeAllConnections()
    await closed
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const question = (request.url ?? '').slice(1)
    try {
      const found = await this.#answerTo(request, question)
      if (typeof found === 'string') return this.#refuse(response, found)
      this.#counts.answered++
      response.writeHead(200, {
        'content-type': 'application/json',
        'content-length': found.body.length,
        [HEADERS.signature]: found.signature,
      })
      response.end(found.body)
    } catch (error) {
      // The connection broke, or answering threw.
      if (request.complete) this.#options.report(error, question)
      this.#refuse(response, 'failed')
    }
  }

  async #answerTo(
    request: IncomingMessage,
    question: string,
  ): Promise<Refused | { readonly body: Buffer; readonly signature: string }> {
    const { process, secret } = this.#options
    const [nonce, digest] = [headerOf(request, HEADERS.nonce), headerOf(request, HEADERS.digest)]
    const about = { process, question, nonce }
    const expected = signatureOf(secret, { kind: 'question', ...about, digest })
    // The check comes before the body is read: a sender without the secret sends none.
    if (!isEqualText(headerOf(request, HEADERS.signature), expected)) return 'foreign'
    this.#places.asked(request.socket)
    const answerer = this.#answerers.get(question)
    const asked = await boundedBody(request, MOST_BYTES)
    if (answerer === undefined || asked === undefined || digestOf(asked) !== digest) return 'malformed'
    const json = jsonOf(asked)
    const answer = json === MALFORMED ? MALFORMED : answerer(json)
    if (answer === MALFORMED) return 'malformed'
    const body = Buffer.from(JSON.stringify(answer))
    const signature = signatureOf(secret, { kind: 'answer', ...about, digest: digestOf(body) })
    return { body, signature }
  }

  #refuse(response: ServerResponse, reason: Refused): void {
    this.#counts[reason]++
    if (!response.headersSent)
      response.writeHead(STATUS[reason], { connection: 'close', 'content-length': 0 })
    response.end()
  }
}

const MALFORMED = Symbol('malformed')

function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    return MALFORMED
  }
}

function headerOf({ headers }: IncomingMessage, name: string): string {
  const value = headers[name]
  return typeof value === 'string' ? value : ''
}
