import type { AccessToken } from './answers.ts'
import { PasswordInput } from '../command/password-input.ts'
import { printableWord } from '../command/terminal-text.ts'
import { jsonOf, reach } from './no-answer.ts'

/** The environment variables with which commands sign in. They are no settings of the server. */
const TOKEN = 'WAYPOST_ACCESS_TOKEN'
const PASSWORD = 'WAYPOST_PASSWORD'

/** A token is renewed after this share of its time, so that it ends only after a long time without work. */
const RENEWED_AT = 0.1

/** A token, the time of its renewal, and its end (epoch milliseconds). */
export interface Issued {
  readonly token: string
  readonly renewMs: number
  readonly expiresMs: number
}

/** The server does not permit something to the caller, or does not know the caller. */
export class RefusedError extends Error {}

/** The token of a context. */
export interface StoredToken {
  readonly username: string
  readonly issued: Issued | undefined
  /** Stores a newer token. */
  readonly save: (issued: Issued) => void
}

/** How a session signs in. */
export interface SignInWays {
  /** The user of `--username`, with the password in WAYPOST_PASSWORD, or from a prompt. */
  readonly username?: string | undefined
  readonly stored?: StoredToken | undefined
  readonly passwords?: PasswordInput
  /** The interface for the sign-in: other servers have `/nacos/v1` only. */
  readonly root?: '/svc/v1' | '/nacos/v1'
  /** The origin of the address of the server, for errors: `from --server`. */
  readonly origin?: string
}

/**
 * Signs a command in to a server: the user of `--username` with a password, else the token in WAYPOST_ACCESS_TOKEN, else
 * the token of the context. A token is renewed in time, because a backup may take hours.
 */
export class ServerSession {
  readonly url: string
  readonly #ways: SignInWays
  readonly #passwords: PasswordInput
  #password: string | undefined
  #issued: Issued | undefined
  #renewing: Promise<Issued | undefined> | undefined

  constructor(url: string, ways: SignInWays = {}) {
    this.url = url
    this.#ways = ways
    this.#passwords = ways.passwords ?? new PasswordInput()
    if (ways.username === undefined) this.#issued = ways.stored?.issued
  }

  /** The origin of the address, for errors. */
  get origin(): string {
    return this.#ways.origin ?? ''
  }

  /** The password with which this user has signed in; undefined for other users. */
  passwordOf(username: string): string | undefined {
    return username === this.#ways.username ? this.#password : undefined
  }

  /** The header fields that show who asks. Rejects with an Error if the server does not know the user. */
  async headers(): Promise<Record<string, string>> {
    const token = await this.#token()
    return token === undefined || token === '' ? {} : { Authorization: `Bearer ${token}` }
  }

  /** Like `fetch`, signed in; `path` begins after the address of the server. */
  async fetch(
    path: string,
    init: {
      method?: string
      body?: FormData | URLSearchParams | Uint8Array
      headers?: object
      signal?: AbortSignal
      redirect?: 'manual'
    } = {},
  ): Promise<Response> {
    const headers = { ...init.headers, ...(await this.headers()) }
    const response = await this.#reach(path, { ...init, headers } as RequestInit)
    if (response.status === 403) throw this.refused(await response.text())
    return response
  }

  /** Signs in with a password, whatever token there is. */
  async signIn(username: string): Promise<Issued> {
    this.#password ??= process.env[PASSWORD] ?? (await this.#passwords.known(username))
    const body = new URLSearchParams({ username, password: this.#password })
    // A redirect could send the password to another server.
    const init = { method: 'POST', body, redirect: 'manual' } as const
    const response = await this.#reach(`${this.#ways.root ?? '/svc/v1'}/auth/login`, init)
    if (response.status !== 200) throw await notSignedIn(this.url, username, response)
    return issuedOf(await jsonOf(this.url, response))
  }

  /** The error for an answer 403: the server's message, and how to sign in if nobody has. */
  refused(answer: string): Error {
    const { username, stored } = this.#ways
    const why = `The server refuses this: ${problemOf(403, answer)}`
    // If the credentials are right, a new sign-in of the same user does not help; with sign-in off nobody has any.
    const isRight = /"type":"[^"]*:forbidden"/.test(answer)
    // A server that names the user has said all.
    const asked = username ?? stored?.username
    if (isRight && asked !== undefined && problemOf(403, answer).startsWith(`${asked} may not `))
      return new RefusedError(why)
    if (username !== undefined) return new RefusedError(`${why} It was asked as ${username}.`)
    if (this.#issued !== undefined)
      return new RefusedError(
        `${why} It was asked as ${stored?.username}${isRight ? '.' : '; `waypost login` signs in again.'}`,
      )
    if (isRight) return new RefusedError(why)
    if (process.env[TOKEN] !== undefined)
      return new RefusedError(`${why} It was asked with the token in ${TOKEN}: has that ended?`)
    if (stored?.issued !== undefined)
      return new RefusedError(
        `${why} The sign-in of ${stored.username} has ended: \`waypost login\` signs in again.`,
      )
    const isUnsigned = /"type":"[^"]*:not-signed-in"/.test(answer)
    return new RefusedError(
      `${isUnsigned ? `The server at ${this.url} wants a sign-in.` : why} Sign in by \`waypost login\`, or with --username NAME and ${PASSWORD} or a prompt for the password, or with a token in ${TOKEN}.`,
    )
  }

  #reach(path: string, init: RequestInit): Promise<Response> {
    return reach(this.url, path, { ...init, origin: this.origin })
  }

  /** Requests at the same time renew once, with one prompt. */
  async #token(): Promise<string | undefined> {
    if (this.#ways.username === undefined && process.env[TOKEN] !== undefined) return process.env[TOKEN]
    const { renewMs = 0, expiresMs = 0 } = this.#issued ?? {}
    if (Date.now() >= Math.min(renewMs, expiresMs)) {
      this.#renewing ??= this.#renewed().finally(() => (this.#renewing = undefined))
      this.#issued = await this.#renewing
    }
    return this.#issued?.token
  }

  /** A new token in place of the present one; by a password if that has expired. */
  async #renewed(): Promise<Issued | undefined> {
    const { username, stored } = this.#ways
    const before = this.#issued
    const counts = before !== undefined && Date.now() < before.expiresMs
    const renewed = counts ? await this.#renewedBy(before) : undefined
    const name = username ?? (this.#canAsk() ? stored?.username : undefined)
    const issued = renewed ?? (counts || name === undefined ? undefined : await this.signIn(name))
    if (issued !== undefined && stored !== undefined && stored.username === (username ?? stored.username))
      stored.save(issued)
    return issued ?? (counts ? { ...before, renewMs: before.expiresMs } : undefined)
  }

  /** The server renews a token for some hours after the sign-in. Other servers never do. */
  async #renewedBy({ token }: Issued): Promise<Issued | undefined> {
    const headers = { Authorization: `Bearer ${token}` }
    const init = { method: 'POST', headers, redirect: 'manual' } as const
    const answer = await this.#reach('/svc/v1/auth/renew', init)
    return answer.status === 200 ? issuedOf(await jsonOf(this.url, answer)) : undefined
  }

  #canAsk(): boolean {
    return process.env[PASSWORD] !== undefined || this.#passwords.isTerminal
  }
}

/** Why a server gives no token. Other programs' answers to a wrong password say little. */
async function notSignedIn(url: string, username: string, answer: Response): Promise<Error> {
  const said = problemOf(answer.status, await answer.text())
  const isUnknown = answer.status === 403 || answer.status === 401
  const why = isUnknown ? 'the password is wrong, or there is no such user' : said
  return new Error(`The server at ${url} does not sign in ${username}: ${why.replace(/\.$/, '')}.`)
}

function issuedOf(answer: unknown): Issued {
  const { accessToken, tokenTtl } = answer as AccessToken
  const ttlMs = tokenTtl * 1_000
  const nowMs = Date.now()
  return { token: accessToken, renewMs: nowMs + ttlMs * RENEWED_AT, expiresMs: nowMs + ttlMs }
}

/** The message of an error answer: its `detail`, or its `message` under `/nacos`. */
export function problemOf(status: number, text: string): string {
  try {
    const { detail, message } = JSON.parse(text) as { detail?: unknown; message?: unknown }
    const said = detail ?? message
    if (typeof said === 'string') return printableWord(said)
  } catch {
    // Not JSON: the text is shown as it is.
  }
  return `the server answered ${status} ${printableWord(text.slice(0, 300))}`
}
