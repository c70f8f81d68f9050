import { UsageError } from './command-line.ts'
import { PasswordInput } from './password-input.ts'

/** The environment variables with which commands sign in. They are no settings of the server. */
const TOKEN = 'WAYPOST_ACCESS_TOKEN'
const PASSWORD = 'WAYPOST_PASSWORD'

/** The flag of commands that talk to a server, for `command`. */
export const USERNAME_FLAG = { username: { type: 'string' } } as const

/** A token is renewed when less than this share of its time is left. */
const RENEWED_AT = 0.2

interface Issued {
  readonly token: string
  readonly renewMs: number
}

/**
 * How a command signs in to a server: with the token in WAYPOST_ACCESS_TOKEN, or as the user of `--username` with the password in
 * WAYPOST_PASSWORD or from a prompt, or not at all. A token is renewed in time, because a backup may take hours.
 */
export class ServerSession {
  readonly url: string
  readonly #username: string | undefined
  readonly #passwords: PasswordInput
  #password: string | undefined
  #issued: Issued | undefined
  /** Requests at the same time sign in once, with one prompt. */
  #signingIn: Promise<Issued> | undefined

  constructor(url: string, username: string | undefined, passwords = new PasswordInput()) {
    this.url = url
    this.#username = username
    this.#passwords = passwords
  }

  /** The password with which this user has signed in; undefined for other users. */
  passwordOf(username: string): string | undefined {
    return username === this.#username ? this.#password : undefined
  }

  /** The header fields that show who asks. Rejects with an Error if the server does not know the user. */
  async headers(): Promise<Record<string, string>> {
    const token = this.#username === undefined ? process.env[TOKEN] : await this.#token(this.#username)
    return token === undefined || token === '' ? {} : { Authorization: `Bearer ${token}` }
  }

  /** Like `fetch`, signed in; `path` begins after the address of the server. */
  async fetch(
    path: string,
    init: { method?: string; body?: FormData | URLSearchParams } = {},
  ): Promise<Response> {
    const response = await fetch(`${this.url}${path}`, { ...init, headers: await this.headers() })
    if (response.status === 403) throw this.refused(await response.text())
    return response
  }

  /** The error for an answer 403: what the server says, and how to sign in where nobody has. */
  refused(answer: string): Error {
    const why = `The server refuses this: ${problemOf(403, answer)}`
    if (this.#username !== undefined) return new Error(`${why} It was asked as ${this.#username}.`)
    return new UsageError(
      `${why} Sign in with --username NAME, and ${PASSWORD} or a prompt for the password, or with a token in ${TOKEN}.`,
    )
  }

  async #token(username: string): Promise<string> {
    if (this.#issued !== undefined && Date.now() < this.#issued.renewMs) return this.#issued.token
    this.#signingIn ??= this.#signIn(username).finally(() => (this.#signingIn = undefined))
    this.#issued = await this.#signingIn
    return this.#issued.token
  }

  async #signIn(username: string): Promise<Issued> {
    this.#password ??= process.env[PASSWORD] ?? (await this.#passwords.known(username))
    const body = new URLSearchParams({ username, password: this.#password })
    // A redirect could send the password to another server.
    const init = { method: 'POST', body, redirect: 'manual' } as const
    const response = await fetch(`${this.url}/nacos/v1/auth/login`, init)
    const text = await response.text()
    if (response.status !== 200)
      throw new Error(`${this.url} does not sign in ${username}: ${response.status} ${text.slice(0, 300)}`)
    const { accessToken, tokenTtl } = JSON.parse(text) as { accessToken: string; tokenTtl: number }
    return { token: accessToken, renewMs: Date.now() + tokenTtl * 1_000 * (1 - RENEWED_AT) }
  }
}

/** What an error answer says: its `detail`, or its `message` under `/nacos`. */
export function problemOf(status: number, text: string): string {
  try {
    const { detail, message } = JSON.parse(text) as { detail?: unknown; message?: unknown }
    const said = detail ?? message
    if (typeof said === 'string') return said
  } catch {
    // Not JSON: the text is shown as it is.
  }
  return `the server answered ${status} ${text.slice(0, 300)}`
}
