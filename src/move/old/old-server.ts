import type { SourceKind } from '../../plan/plan.ts'
import { problemOf } from '../../terminal/server-session.ts'
import { messageOf } from '../../command/command-line.ts'
import { printableWord } from '../../command/terminal-text.ts'
import { ownAgent } from '../../command/version.ts'
import { ANSWER_BYTES, ANSWER_MS } from '../answer-limits.ts'
import type { Waiting } from '../waiting.ts'
import { CallError, textOf, refuseErrorIn } from './fields.ts'
import { LARGE_BYTES, NotYetError, waitingTurn } from './in-order.ts'
import type { Pace } from './pace.ts'

/** A call is tried so often, each time after a longer wait. */
const TRIES = 4
const FIRST_WAIT_MS = 500

/** Statuses that another try may mend. Old servers answer 500 for everything. */
const PASSING = new Set([429, 500, 502, 503, 504])

/** A token is renewed when this share of its time is over. */
const RENEWED_AT = 0.8

/** A restarted server refuses earlier tokens. After a refusal the client signs in again, at most once in this time. */
const RENEWED_EVERY_MS = 60_000

/** The status of a call with a too large answer, from the server or from the size of the answer. */
export const TOO_LARGE = 413

/** The status of a call without a whole answer, from a server that answers other calls. */
const NOT_THIS = 599
const OTHER_LIMIT_MS = 10_000

/** The account of an old server. */
export interface OldAccount {
  readonly username: string
  readonly password: string
}

/** The kind of a server, found by its answers. */
export interface OldKind {
  readonly kind: Exclude<SourceKind, 'mysql'>
  readonly version: string | null
}

/** An answer: its status, its text, and its header fields. */
export interface OldAnswer {
  readonly status: number
  readonly text: string
  readonly headers: Headers
}

/** Parameters of a call. */
export type OldParams = Readonly<Record<string, string | number | boolean>>

interface Token {
  readonly text: string
  readonly renewMs: number
  /** No newer token is requested. */
  isLast: boolean
}

/** A call: by default a GET. Parameters go in the query, `form` in the body. */
export interface OldCall {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly params?: OldParams
  readonly form?: OldParams
  readonly headers?: Readonly<Record<string, string>>
  /** The call must not send a token. */
  readonly isAnonymous?: boolean
  /** Whatever the server answers counts: the call does not come again. */
  readonly isFinal?: boolean
  /** A larger answer is refused as TOO_LARGE. */
  readonly mostBytes?: number
}

interface SignedCall {
  readonly init: Omit<RequestInit, 'headers'>
  readonly headers: Readonly<Record<string, string>>
  readonly isAnonymous: boolean
  readonly mostBytes: number
}

/** The servers of one move share their pace and their account. */
export interface OldAccess {
  readonly pace: Pace
  readonly account: OldAccount | undefined
  readonly waiting: Waiting
}

/**
 * A server that is read. Calls are made in turns, so that it can serve others, and repeated if an overloaded server does not
 * answer. The token goes in header fields, because servers log their URLs.
 */
export class OldServer {
  /** The address with the context path, without a slash at its end. */
  readonly url: string
  readonly #access: OldAccess
  #clockAheadMs: number | undefined
  #login: string | undefined
  #token: Promise<Token> | undefined
  #renewableMs = -Infinity

  constructor(url: string, access: OldAccess) {
    this.url = url
    this.#access = access
  }

  /** The same server without its context path, for an interface of its own. `login`: the path of a sign-in there. */
  atOrigin(login: string): OldServer {
    const server = new OldServer(new URL(this.url).origin, this.#access)
    server.signInBy(login)
    return server
  }

  /** How far its clock is at most ahead of this machine's clock, ms; undefined: its answers show no time. */
  get clockAheadMs(): number | undefined {
    return this.#clockAheadMs
  }

  /** An answer shows that it stamps with this time (epoch ms); the call began at `beganMs`. */
  sawClock(clockMs: number, beganMs: number): void {
    if (Number.isNaN(clockMs)) return
    this.#clockAheadMs = Math.max(this.#clockAheadMs ?? -Infinity, clockMs - beganMs)
  }

  /** Signs in by this path from now on, if there is an account. */
  signInBy(path: string): void {
    this.#login = path
  }

  /** The JSON of a GET. Throws CallError for an answer other than 200 or of more bytes, and for a text that is no JSON. */
  async json(path: string, params: OldParams = {}, mostBytes = ANSWER_BYTES): Promise<unknown> {
    const { text } = await this.get(path, params, mostBytes)
    return this.#parsed(text, callOf(path, params))
  }

  /** Like `json`; undefined if the server says that the thing is missing, also if `isNone` says so. */
  async jsonOrNone(
    path: string,
    params: OldParams,
    isNone: (answer: OldAnswer) => boolean = () => false,
  ): Promise<unknown> {
    const answer = await this.answer(path, params)
    const { status, text } = answer
    if (status === 404 || (status === 200 && text.trim() === '') || isNone(answer)) return undefined
    const call = callOf(path, params)
    if (status !== 200) throw this.#refused(call, status, text)
    return this.#parsed(text, call) ?? undefined
  }

  /** The answer to a GET. Throws CallError for a status other than 200. */
  async get(path: string, params: OldParams = {}, mostBytes = ANSWER_BYTES): Promise<OldAnswer> {
    const answer = await this.send({ path, params, mostBytes })
    if (answer.status === 200) return answer
    throw this.#refused(callOf(path, params), answer.status, answer.text)
  }

  /** The answer to a GET, whatever its status. */
  answer(path: string, params: OldParams = {}): Promise<OldAnswer> {
    return this.send({ path, params })
  }

  /** The answer to a call, with any status. Errors that may pass are tried again after a pause. */
  async send(call: OldCall): Promise<OldAnswer> {
    const { method = 'GET', form, headers = {}, isAnonymous = false, isFinal = false } = call
    const { mostBytes = ANSWER_BYTES } = call
    const target = callOf(call.path, call.params ?? {})
    const body = form === undefined ? {} : { body: paramsOf(form) }
    for (let tries = 1; ; tries++) {
      const signed = { init: { method, ...body }, headers, isAnonymous, mostBytes }
      const last = await this.#signedIn(target, signed).catch((error: unknown) => error)
      if (last instanceof CallError) throw last
      if (last instanceof NotYetError) {
        await last.turn.whenNext
        tries--
        continue
      }
      const isPassing = last instanceof Error || (!isFinal && PASSING.has((last as OldAnswer).status))
      if (!isPassing) return last as OldAnswer
      if (tries === TRIES) {
        if (!(last instanceof Error)) return last as OldAnswer
        const message = `${method} ${this.url}${target} has no answer after ${TRIES} tries: ${messageOf(last)}`
        throw new CallError(message, (await this.#answersOthers()) ? NOT_THIS : 0)
      }
      await this.#access.pace.wait(FIRST_WAIT_MS * 2 ** (tries - 1))
    }
  }

  /** Whether the server still answers, after one call without an answer. */
  async #answersOthers(): Promise<boolean> {
    const signal = AbortSignal.timeout(OTHER_LIMIT_MS)
    try {
      const place = `${this.url}/`
      const asked = fetch(place, { method: 'HEAD', redirect: 'manual', signal })
      const response = await this.#access.waiting(place, asked)
      return response.status !== 503
    } catch {
      return false
    }
  }

  /** One try, and another try if the server no longer knows the token. */
  async #signedIn(call: string, signed: SignedCall): Promise<OldAnswer> {
    const token = signed.isAnonymous ? undefined : await this.#currentToken()
    const headers = { 'User-Agent': ownAgent(), ...signed.headers, ...headersOf(token) }
    const answer = await this.#once(call, { ...signed.init, headers }, signed.mostBytes)
    return this.#mayRenew(answer, token) ? this.#signedIn(call, signed) : answer
  }

  async #once(call: string, init: RequestInit, mostBytes = ANSWER_BYTES): Promise<OldAnswer> {
    const { pace, waiting } = this.#access
    await pace.turn()
    const beganMs = pace.nowMs()
    const calledMs = Date.now()
    try {
      // A redirect could send the token to another server.
      const signal = AbortSignal.timeout(ANSWER_MS)
      const place = `${this.url}${call}`
      const fetched = fetch(place, { ...init, redirect: 'manual', signal })
      const response = await waiting(place, fetched)
      const { status, headers } = response
      // Without the body: a large one takes its time from any server.
      pace.answered(pace.nowMs() - beganMs, PASSING.has(status) && status !== 500)
      const bytes = await waiting(place, bytesOf(response, place, mostBytes))
      // The field has whole seconds.
      this.sawClock(Date.parse(headers.get('date') ?? '') + 999, calledMs)
      return { status, headers, text: textOfBytes(bytes, place) }
    } catch (error) {
      if (!(error instanceof CallError || error instanceof NotYetError))
        pace.answered(pace.nowMs() - beganMs, true)
      throw error
    }
  }

  async #currentToken(): Promise<Token | undefined> {
    const { account, pace } = this.#access
    if (account === undefined || this.#login === undefined) return undefined
    const known = this.#token
    const before = await known
    // Another call may have begun to sign in meanwhile.
    if (this.#token === known && (before === undefined || pace.nowMs() >= before.renewMs))
      this.#token = this.#signIn(account)
    return this.#token
  }

  /** Whether a refused call is repeated, with a newer token than the token that it showed. */
  #mayRenew({ status }: OldAnswer, shown: Token | undefined): boolean {
    if (shown === undefined || (status !== 401 && status !== 403)) return false
    if (!shown.isLast) return true
    const nowMs = this.#access.pace.nowMs()
    if (nowMs < this.#renewableMs) return false
    this.#renewableMs = nowMs + RENEWED_EVERY_MS
    shown.isLast = false
    this.#token = undefined
    return true
  }

  async #signIn(account: OldAccount): Promise<Token> {
    const body = new URLSearchParams({ ...account })
    const { status, text } = await this.#once(this.#login!, { method: 'POST', body }).catch(
      (error: unknown) => {
        this.#token = undefined
        throw error
      },
    )
    if (status !== 200)
      throw new CallError(
        `The server at ${this.url} does not sign in ${account.username}: ${signInProblem(status, text)}`,
        0,
      )
    return tokenOf(this.#parsed(text, this.#login!), this.#access.pace.nowMs())
  }

  #parsed(text: string, call: string): unknown {
    const answer = this.#json(text, call)
    refuseErrorIn(answer, `${this.url}${call}`)
    return answer
  }

  #json(text: string, call: string): unknown {
    try {
      return JSON.parse(text)
    } catch {
      throw new CallError(
        `GET ${this.url}${call} answers no JSON: ${JSON.stringify(text.slice(0, 100))}`,
        200,
      )
    }
  }

  #refused(call: string, status: number, text: string): CallError {
    const needsSignIn = (status === 401 || status === 403) && this.#access.account === undefined
    const answer = `GET ${this.url}${call} answers ${status}: ${printableWord(text.slice(0, 300))}`
    const message = needsSignIn
      ? `${this.url} wants a sign-in: give --username, an administrator there (${answer})`
      : answer
    return new CallError(message, status, needsSignIn)
  }
}

/** Most servers answer a wrong password or an unknown user with 403. 2.x answers the second with 500, and 3.x the first. */
function signInProblem(status: number, text: string): string {
  const wrong = 'the password is wrong, or there is no such user'
  if (status === 401 || status === 403) return `${wrong}.`
  const problem = problemOf(status, text)
  return status === 500 ? `${problem} (500; some versions say so where ${wrong})` : problem
}

function headersOf(token: Token | undefined): Record<string, string> {
  return token === undefined ? {} : { Authorization: `Bearer ${token.text}`, accessToken: token.text }
}

/**
 * The body, up to `mostBytes`: a body without an end would fill the memory. Throws NotYetError for a large one too
 * early.
 */
async function bytesOf({ body }: Response, call: string, mostBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length
    if (size > mostBytes) throw new CallError(`GET ${call} answers more than ${mostBytes} bytes`, TOO_LARGE)
    const turn = size > LARGE_BYTES ? waitingTurn() : undefined
    if (turn !== undefined) throw new NotYetError(turn)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** A content that is not UTF-8 fails: replaced letters would be another content. A byte order mark stays. */
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function textOfBytes(bytes: Buffer, call: string): string {
  try {
    return UTF8.decode(bytes)
  } catch {
    throw new CallError(`GET ${call} answers what is not UTF-8`, 200)
  }
}

function callOf(path: string, params: OldParams): string {
  const query = paramsOf(params)
  return query.size === 0 ? path : `${path}?${query}`
}

function paramsOf(params: OldParams): URLSearchParams {
  return new URLSearchParams(
    Object.entries(params).map(([name, value]): [string, string] => [name, String(value)]),
  )
}

/** Servers with LDAP answer an envelope with `Bearer TOKEN`; others `accessToken` and `tokenTtl` (seconds). */
function tokenOf(answer: unknown, nowMs: number): Token {
  const { accessToken, tokenTtl, data } = answer as Record<string, unknown>
  const text = (typeof accessToken === 'string' ? accessToken : textOf(data)).replace(/^Bearer /, '')
  if (text === '') throw new CallError('the sign-in answers no token', 200)
  const ttlMs = (typeof tokenTtl === 'number' ? tokenTtl : 18_000) * 1_000
  return { text, renewMs: nowMs + ttlMs * RENEWED_AT, isLast: true }
}
