import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { guarded, nothing, unawaited } from '../core/unexpected.ts'
import { boundedBody, boundedJson, LargeMessage, type MessageSize, SMALL } from './bounded-message.ts'
import { PeerListener } from './peer-listener.ts'
import type { PeerRoom } from './peer-places.ts'
import type { PeerQuestion } from './peer-question.ts'
import type { PeerSecrets } from './peer-secret.ts'
import { digestOf, HEADERS, isEqualText, signatureOf } from './peer-signature.ts'

/** How long an idle connection stays open. Members ask each other more often than that. */
const IDLE_MS = 60_000
/** A member opens a few connections, and asks within milliseconds. */
const ROOM: PeerRoom = { strangers: 128, members: 128, strangerMs: 1_000, idleMs: IDLE_MS }
/** A request that takes longer is cut off: its sender has given it up. */
const REQUEST_MS = 5_000

/** The options of a peer server. */
export interface PeerServerOptions {
  readonly host: string
  /** 0: any. */
  readonly port: number
  /** Names this process, as in its record of MEMBER. */
  readonly process: string
  readonly secrets: PeerSecrets
  /** The limits of connections; by default `ROOM`. */
  readonly room?: PeerRoom
  /** Called if answering a question throws. */
  readonly report: (error: unknown, question: string) => void
}

/** Why a request was not answered. `foreign`: it is not signed with a secret, or is meant for another process. */
type Refused = 'foreign' | 'malformed' | 'large' | 'failed'

/** How a request or a connection ended. `silent`: it has shown no signed question in time. */
type Outcome = 'answered' | Refused | 'silent'

const STATUS: Readonly<Record<Refused, number>> = { foreign: 403, malformed: 400, large: 413, failed: 500 }

interface Answerer {
  readonly size: MessageSize
  readonly answer: (json: unknown) => unknown
}

/**
 * Answers the questions of other servers on a port of its own. It reads only requests that are signed for this process, and
 * signs each answer. Other requests get a status and no body. A repeated question does no harm: the only one that changes
 * anything sends a client away by its id, and ids are never used again.
 */
export class PeerServer {
  readonly #options: PeerServerOptions
  /** It does not listen: it reads connections that the listener passes on. */
  readonly #http: Server
  readonly #listener: PeerListener
  readonly #answerers = new Map<string, Answerer>()
  /** Since the start, by outcome. */
  readonly #counts = { answered: 0, foreign: 0, malformed: 0, large: 0, failed: 0 }

  private constructor(options: PeerServerOptions) {
    this.#options = options
    this.#http = createServer({ maxHeaderSize: 8 * 1024, keepAliveTimeout: IDLE_MS }, (request, response) =>
      unawaited('request', () => request.socket.destroy(), this.#inTime(request, response)),
    )
    const refuse = (_error: Error, socket: Duplex): void => {
      this.#counts.malformed++
      socket.destroy()
    }
    this.#http.on('clientError', guarded('connection', nothing, refuse))
    this.#listener = new PeerListener({
      secrets: options.secrets,
      room: options.room ?? ROOM,
      onOpen: (connection) => void this.#http.emit('connection', connection),
    })
  }

  /** Listens. Rejects if the port is taken. */
  static async open(options: PeerServerOptions): Promise<PeerServer> {
    const peers = new PeerServer(options)
    await peers.#listener.listen(options.port, options.host)
    return peers
  }

  /** Requests since the start by outcome, and connections that came to no request. */
  get counts(): Readonly<Record<Outcome, number>> {
    const { strange, closedStrangers } = this.#listener
    return { ...this.#counts, foreign: this.#counts.foreign + strange, silent: closedStrangers }
  }

  /** The port that it listens on. */
  get port(): number {
    return this.#listener.port
  }

  /** Registers the answer to a kind of question. Other questions are refused. */
  answer<Question, Answer>(
    { name, readQuestion, questionSize: size = SMALL }: PeerQuestion<Question, Answer>,
    answer: (question: Question) => Answer | Promise<Answer>,
  ): void {
    const answered = (json: unknown): unknown => {
      let question: Question
      try {
        question = readQuestion(json)
      } catch {
        return MALFORMED
      }
      return answer(question)
    }
    this.#answerers.set(name, { size, answer: answered })
  }

  /** Ends all connections. */
  close(): Promise<void> {
    return this.#listener.close()
  }

  async #inTime(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const cut = guarded('request', nothing, () => void request.socket.destroy())
    const timer = setTimeout(cut, REQUEST_MS).unref()
    try {
      await this.#handle(request, response)
    } finally {
      clearTimeout(timer)
    }
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
      if (error instanceof LargeMessage) return this.#refuse(response, 'large')
      // The connection broke, or answering threw.
      if (request.complete) this.#options.report(error, question)
      this.#refuse(response, 'failed')
    }
  }

  async #answerTo(
    request: IncomingMessage,
    question: string,
  ): Promise<Refused | { readonly body: Buffer; readonly signature: string }> {
    const { process, secrets } = this.#options
    const [nonce, digest] = [headerOf(request, HEADERS.nonce), headerOf(request, HEADERS.digest)]
    const about = { process, question, nonce }
    const signature = headerOf(request, HEADERS.signature)
    // Check before reading the body: a sender without a secret sends no body.
    const secret = secrets().find(({ text }) =>
      isEqualText(signature, signatureOf(text, { kind: 'question', ...about, digest })),
    )
    if (secret === undefined) return 'foreign'
    this.#listener.asked(request.socket)
    const answerer = this.#answerers.get(question)
    if (answerer === undefined) return 'malformed'
    const asked = await boundedBody(request, answerer.size)
    if (digestOf(asked) !== digest) return 'malformed'
    const json = jsonOf(asked, answerer.size)
    const answer = json === MALFORMED ? MALFORMED : await answerer.answer(json)
    if (answer === MALFORMED) return 'malformed'
    const body = Buffer.from(JSON.stringify(answer))
    const answered = { kind: 'answer', ...about, digest: digestOf(body) } as const
    return { body, signature: signatureOf(secret.text, answered) }
  }

  #refuse(response: ServerResponse, reason: Refused): void {
    this.#counts[reason]++
    if (!response.headersSent)
      response.writeHead(STATUS[reason], { connection: 'close', 'content-length': 0 })
    response.end()
  }
}

const MALFORMED = Symbol('malformed')

function jsonOf(body: Buffer, size: MessageSize): unknown {
  try {
    return boundedJson(body, size)
  } catch (error) {
    if (error instanceof LargeMessage) throw error
    return MALFORMED
  }
}

function headerOf({ headers }: IncomingMessage, name: string): string {
  const value = headers[name]
  return typeof value === 'string' ? value : ''
}
