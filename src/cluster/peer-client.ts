import { Agent, type IncomingMessage, request } from 'node:http'
import type { MemberFacts } from '../core/cluster/members/member-records.ts'
import { boundedBody } from './bounded-body.ts'
import type { PeerQuestion } from './peer-question.ts'
import { digestOf, HEADERS, isEqualText, newNonce, signatureOf } from './peer-signature.ts'

/** How long a member may take to answer, in ms. */
const ANSWER_MS = 1_000
/** The largest answer: the watchers of an item that every client watches. */
const MOST_BYTES = 16 * 1024 * 1024
/** Connections to one member. */
const MOST_CONNECTIONS = 4
/** A connection may end while a question is on its way, because it was idle or gave way to others: it is asked again. */
const MOST_TRIES = 3

/** The options of a peer client. */
export interface PeerClientOptions {
  /** What the servers of the installation share. */
  readonly secret: string
  readonly timeoutMs?: number
}

interface PeerSendOptions {
  readonly path: string
  readonly signal: AbortSignal
  readonly headers: Readonly<Record<string, string | number>>
}

/** Asks the other servers, over connections that stay open. */
export class PeerClient {
  readonly #secret: string
  readonly #timeoutMs: number
  readonly #agent = new Agent({ keepAlive: true, maxSockets: MOST_CONNECTIONS })
  /** Since the start. */
  readonly counts = { asked: 0, unanswered: 0 }

  constructor({ secret, timeoutMs = ANSWER_MS }: PeerClientOptions) {
    this.#secret = secret
    this.#timeoutMs = timeoutMs
  }

  /**
   * Asks a member. Undefined: it has not answered in time, or its answer is not signed by it,
   * or makes no sense. One that does not know the question is not asked.
   */
  async ask<Question, Answer>(
    member: MemberFacts,
    question: PeerQuestion<Question, Answer>,
    asked: Question,
  ): Promise<Answer | undefined> {
    if ((question.since ?? 1) > member.versions.messages.to) return undefined
    this.counts.asked++
    try {
      return question.readAnswer(await this.#exchange(member, question.name, asked))
    } catch {
      this.counts.unanswered++
      return undefined
    }
  }

  /** Ends all connections. */
  close(): void {
    this.#agent.destroy()
  }

  async #exchange(member: MemberFacts, question: string, asked: unknown): Promise<unknown> {
    const body = Buffer.from(JSON.stringify(asked))
    const about = { process: member.process, question, nonce: newNonce() }
    const digest = digestOf(body)
    const signal = AbortSignal.timeout(this.#timeoutMs)
    const response = await this.#sendAgain(member, body, {
      path: `/${question}`,
      signal,
      headers: {
        'content-type': 'application/json',
        'content-length': body.length,
        [HEADERS.nonce]: about.nonce,
        [HEADERS.digest]: digest,
        [HEADERS.signature]: signatureOf(this.#secret, { kind: 'question', ...about, digest }),
      },
    })
    const answer = await boundedBody(response, MOST_BYTES)
    if (answer === undefined) throw new Error('the answer is too large')
    const expected = signatureOf(this.#secret, { kind: 'answer', ...about, digest: digestOf(answer) })
    const signature = response.headers[HEADERS.signature]
    if (typeof signature !== 'string' || !isEqualText(signature, expected))
      throw new Error('the answer is not signed')
    return JSON.parse(answer.toString())
  }

  async #sendAgain(member: MemberFacts, body: Buffer, options: PeerSendOptions): Promise<IncomingMessage> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#send(member, body, options)
      } catch (error) {
        if (tries === MOST_TRIES || !isBroken(error)) throw error
      }
    }
  }

  #send({ ip, peerPort }: MemberFacts, body: Buffer, options: PeerSendOptions): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const sent = request(
        { host: ip, port: peerPort, method: 'POST', agent: this.#agent, ...options },
        resolve,
      )
      sent.on('error', reject)
      sent.end(body)
    })
  }
}

/** Whether a connection was there, and ended without an answer. */
function isBroken(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ECONNRESET' || code === 'EPIPE'
}
