import { EtcdError } from './etcd-error.ts'
import { GRPC, GrpcError } from './grpc-error.ts'

/** A user of etcd. */
export interface EtcdUser {
  readonly name: string
  /** Reads the password, each time that a token is asked for. */
  readonly password: () => string
}

/** Asks etcd for a token. */
export type Authenticate = (user: { name: string; password: string }) => Promise<string>

/** etcd compares passwords slowly: a refused password is not sent again for this time. */
const REFUSED_MS = 1_000

/** etcd's errors for a call with an unknown token. It has not executed the call. */
const OLD_TOKEN = /invalid auth token|revision of auth store is old|user name is empty/

/** Whether the call was refused only for its token, and may be sent again with a new token. */
export function isOldToken(reason: unknown): boolean {
  return reason instanceof GrpcError && OLD_TOKEN.test(reason.message)
}

/** The token of a user, which all connections share. It is empty while etcd requires none. */
export class Identity {
  readonly #user: EtcdUser
  #token: string | undefined
  #asking: Promise<string> | undefined
  #refused: { readonly error: EtcdError; readonly atMs: number } | undefined

  constructor(user: EtcdUser) {
    this.#user = user
  }

  /** The token. All callers share one request. Rejects with `EtcdError`, never in doubt. */
  async token(authenticate: Authenticate): Promise<string> {
    if (this.#token !== undefined) return this.#token
    if (this.#refused !== undefined && performance.now() < this.#refused.atMs + REFUSED_MS)
      throw this.#refused.error
    this.#asking ??= this.#ask(authenticate).finally(() => (this.#asking = undefined))
    return this.#asking
  }

  /** etcd does not know this token any longer. */
  forget(token = this.#token): void {
    if (this.#token === token) this.#token = undefined
  }

  async #ask(authenticate: Authenticate): Promise<string> {
    const { name } = this.#user
    try {
      this.#token = await authenticate({ name, password: this.#password() })
    } catch (reason) {
      if (isOff(reason)) this.#token = ''
      else throw this.#failure(reason)
    }
    this.#refused = undefined
    return this.#token
  }

  #password(): string {
    try {
      return this.#user.password()
    } catch (cause) {
      const why = `the file of etcd-password-file cannot be read: ${(cause as Error).message}`
      throw new EtcdError('untrusted', why, { cause })
    }
  }

  #failure(reason: unknown): EtcdError {
    const error = errorOf(this.#user.name, reason)
    if (error.kind === 'untrusted') this.#refused = { error, atMs: performance.now() }
    return error
  }
}

function isOff(reason: unknown): boolean {
  return reason instanceof GrpcError && reason.message.includes('authentication is not enabled')
}

function errorOf(user: string, reason: unknown): EtcdError {
  if (reason instanceof EtcdError) return reason
  const message = reason instanceof Error ? reason.message : String(reason)
  if (reason instanceof GrpcError && reason.code === GRPC.INVALID_ARGUMENT)
    return new EtcdError(
      'untrusted',
      `etcd refuses the user ${user}: the name or the password is wrong (etcd-user, etcd-password-file): ${message}`,
      { cause: reason },
    )
  return new EtcdError('unavailable', `etcd: the user ${user} cannot sign in: ${message}`, { cause: reason })
}
