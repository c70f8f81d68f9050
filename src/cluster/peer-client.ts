import type { IncomingMessage } from 'node:http'
import { Agent, request } from 'node:https'
import { connect, type Socket } from 'node:net'
import { type MemberFacts, memberIdOf } from '../core/cluster/members/member-records.ts'
import { AnswerRoom } from './answer-room.ts'
import { boundedBody, LargeMessage, marksOf, SMALL } from './bounded-message.ts'
import type { MemberLog } from './member-watch.ts'
import type { PeerQuestion } from './peer-question.ts'
import type { PeerSecrets } from './peer-secret.ts'
import { digestOf, HEADERS, isEqualText, newNonce, signatureOf } from './peer-signature.ts'
import { askingTls } from './peer-tls.ts'

/** How long a member may take to answer, in ms. */
const ANSWER_MS = 1_000
/** For how many processes and questions it is remembered that an answer was too large. */
const MOST_NOTED = 1_000
/** Connections to one member. */
const KEPT = { keepAlive: true, maxSockets: 4 }
/** A connection that was idle or gave way to others may end during a question: then it is asked again. */
const MOST_TRIES = 3

/** The options of a peer client. */
export interface PeerClientOptions {
  readonly secrets: PeerSecrets
  readonly timeoutMs?: number
  /** Says once for each process and question that its answer is too large; again after an answer that was not. */
  readonly log?: Pick<MemberLog, 'warn'>
  /** The room for the large answers of all members. */
  readonly room?: AnswerRoom
}

interface PeerSendOptions {
  readonly path: string
  readonly headers: Readonly<Record<string, string | number>>
}

/** Asks the other servers, over connections with TLS that stay open. */
export class PeerClient {
  readonly #secrets: PeerSecrets
  readonly #timeoutMs: number
  readonly #agent: Agent
  readonly #log: Pick<MemberLog, 'warn'> | undefined
  readonly #room: AnswerRoom
  /** The processes and questions whose last answer was too large. */
  readonly #large = new Set<string>()
  /** The processes that refuse connections. */
  readonly #refusing = new Set<string>()
  /** The connections whose end is noticed. */
  readonly #watched = new WeakSet<Socket>()
  #isClosed = false
  /** Since the start. */
  readonly counts = { asked: 0, unanswered: 0 }

  constructor({ secrets, timeoutMs = ANSWER_MS, log, room = new AnswerRoom() }: PeerClientOptions) {
    this.#room = room
    this.#secrets = secrets
    this.#timeoutMs = timeoutMs
    this.#log = log
    this.#agent = new Agent({ ...KEPT, ...askingTls(secrets) })
  }

  /** Asks a member. Undefined: the answer is late, unsigned, too large or malformed, or the member is too old for the question. */
  async ask<Question, Answer>(
    member: MemberFacts,
    question: PeerQuestion<Question, Answer>,
    asked: Question,
  ): Promise<Answer | undefined> {
    if ((question.since ?? 0) > member.versions.messages.to) return undefined
    this.counts.asked++
    try {
      const answer = question.readAnswer(await this.#exchange(member, question, asked))
      this.#large.delete(`${member.process} ${question.name}`)
      this.#refusing.delete(member.process)
      return answer
    } catch (error) {
      this.counts.unanswered++
      this.#noteRefused(member, error)
      if (error instanceof LargeMessage) this.#noteLarge(member, question.name, error)
      return undefined
    }
  }

  /** Whether nobody listens any more where a process did: it has ended, though its lease may last for seconds. */
  refuses(process: string): boolean {
    return this.#refusing.has(process)
  }

  /** Ends all connections. */
  close(): void {
    this.#isClosed = true
    this.#agent.destroy()
  }

  /** A connection ends when its process does. Whether that is the cause is found out at once. */
  #watch(socket: Socket, member: MemberFacts): void {
    if (this.#watched.has(socket)) return
    this.#watched.add(socket)
    socket.once('close', () => {
      if (this.#isClosed) return
      const probe = connect(member.peerPort, member.ip, () => probe.destroy())
      probe.setTimeout(this.#timeoutMs, () => probe.destroy())
      probe.on('error', (error) => this.#noteRefused(member, error))
    })
  }

  #noteRefused({ process }: MemberFacts, error: unknown): void {
    if ((error as NodeJS.ErrnoException).code !== 'ECONNREFUSED') return
    if (this.#refusing.size >= MOST_NOTED) this.#refusing.clear()
    this.#refusing.add(process)
  }

  #noteLarge(member: MemberFacts, question: string, { message: problem }: LargeMessage): void {
    const { process } = member
    const name = `${process} ${question}`
    if (this.#large.has(name)) return
    if (this.#large.size >= MOST_NOTED) this.#large.clear()
    this.#large.add(name)
    const facts = { member: memberIdOf(member), process, question, problem }
    this.#log?.warn(facts, 'an answer of a server is too large, and does not count')
  }

  async #exchange(
    member: MemberFacts,
    { name: question, answerSize = SMALL }: Pick<PeerQuestion<never, unknown>, 'name' | 'answerSize'>,
    asked: unknown,
  ): Promise<unknown> {
    const [{ text: secret }] = this.#secrets()
    const body = Buffer.from(JSON.stringify(asked))
    const about = { process: member.process, question, nonce: newNonce() }
    const digest = digestOf(body)
    const response = await this.#sendAgain(member, body, {
      path: `/${question}`,
      headers: {
        'content-type': 'application/json',
        'content-length': body.length,
        [HEADERS.nonce]: about.nonce,
        [HEADERS.digest]: digest,
        [HEADERS.signature]: signatureOf(secret, { kind: 'question', ...about, digest }),
      },
    })
    const inRoom = this.#room.begin()
    try {
      const answer = await boundedBody(response, answerSize, (bytes) => inRoom.has({ bytes, marks: 0 }))
      const expected = signatureOf(secret, { kind: 'answer', ...about, digest: digestOf(answer) })
      const signature = response.headers[HEADERS.signature]
      if (typeof signature !== 'string' || !isEqualText(signature, expected))
        throw new Error('the answer is not signed')
      inRoom.has({ bytes: answer.length, marks: marksOf(answer, answerSize) })
      return JSON.parse(answer.toString())
    } finally {
      // If it was not read to its end, nobody reads the rest: the connection would keep its place.
      if (!response.complete) response.destroy()
      inRoom.end()
    }
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

  #send(member: MemberFacts, body: Buffer, options: PeerSendOptions): Promise<IncomingMessage> {
    const to = { host: member.ip, port: member.peerPort, method: 'POST', agent: this.#agent }
    return new Promise((resolve, reject) => {
      const sent = request({ ...to, ...options }, (response) => {
        this.#watch(response.socket, member)
        resolve(response)
      })
      sent.on('error', reject)
      const timer = setTimeout(() => sent.destroy(new Error('the answer is late')), this.#timeoutMs)
      sent.on('close', () => clearTimeout(timer))
      sent.end(body)
    })
  }
}

/** Whether a connection was there, and ended without an answer. */
function isBroken(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ECONNRESET' || code === 'EPIPE'
}
