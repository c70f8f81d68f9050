import { Code, ConnectError } from '@connectrpc/connect'
import type { CallOptions } from '@connectrpc/connect'
import type { Clock } from './clock.ts'
import type { EtcdConnection } from './connection.ts'
import type { Endpoints } from './endpoints.ts'
import { EtcdError, toEtcdError } from './etcd-error.ts'

/** How long calls may take, in milliseconds. */
export interface CallTimes {
  /** A call, with all its attempts. */
  readonly callMs: number
  /** An attempt that may be repeated elsewhere: the time after which an endpoint that is silent is left. */
  readonly attemptMs: number
}

/** One attempt of a call, on one endpoint. */
export type Attempt<T> = (connection: EtcdConnection, options: CallOptions) => Promise<T>

const ROUND_PAUSE_MS = 50
const PROOF_MS = 500

/** A member that has lost its leader refuses at once, instead of after several seconds. */
export const HEADERS = { hasleader: 'true' } as const

/** Sends calls to the current endpoint, and to the next ones where that fails. */
export class Calls {
  readonly #endpoints: Endpoints
  readonly #clock: Clock
  readonly #limits: CallTimes
  readonly #open: (endpoint: string) => EtcdConnection
  readonly #connections = new Map<string, EtcdConnection>()
  readonly #proving = new Set<EtcdConnection>()

  constructor(parts: {
    endpoints: Endpoints
    clock: Clock
    limits: CallTimes
    open: (endpoint: string) => EtcdConnection
  }) {
    this.#endpoints = parts.endpoints
    this.#clock = parts.clock
    this.#limits = parts.limits
    this.#open = parts.open
  }

  /** A call that may be done more than once. It never is in doubt. */
  async repeatable<T>(attempt: Attempt<T>, callMs = this.#limits.callMs): Promise<T> {
    return this.#call(attempt, { callMs, attemptMs: this.#limits.attemptMs, repeatable: true })
  }

  /**
   * A call that must not be done twice. It goes to another endpoint only if it certainly was not done. Otherwise it rejects,
   * in doubt.
   */
  async once<T>(attempt: Attempt<T>, callMs = this.#limits.callMs): Promise<T> {
    return this.#call(attempt, { callMs, attemptMs: callMs, repeatable: false })
  }

  /** The connection to an endpoint, the current one by default. */
  connection(endpoint = this.#endpoints.current): EtcdConnection {
    const known = this.#connections.get(endpoint)
    if (known !== undefined) return known
    const connection = this.#open(endpoint)
    this.#connections.set(endpoint, connection)
    return connection
  }

  /** Leaves this connection's endpoint. */
  failed({ endpoint }: EtcdConnection): void {
    this.#endpoints.failed(endpoint)
  }

  close(): void {
    for (const connection of this.#connections.values()) connection.close()
  }

  async #call<T>(
    attempt: Attempt<T>,
    limits: { callMs: number; attemptMs: number; repeatable: boolean },
  ): Promise<T> {
    const deadline = this.#clock.nowMs() + limits.callMs
    for (let tries = 1; ; tries++) {
      const connection = this.connection()
      try {
        return await this.#attempt(attempt, connection, { ...limits, leftMs: deadline - this.#clock.nowMs() })
      } catch (reason) {
        const error = toEtcdError(reason)
        const again = error.kind === 'unavailable' && (limits.repeatable || !error.inDoubt)
        if (error.kind === 'unavailable') this.failed(connection)
        if (!again) throw error
        // After each round: the members may be electing a leader.
        const pauseMs = tries % this.#endpoints.all.length === 0 ? ROUND_PAUSE_MS : 0
        if (this.#clock.nowMs() + pauseMs >= deadline) throw withoutDoubt(error)
        if (pauseMs > 0) await this.#clock.sleep(pauseMs)
      }
    }
  }

  async #attempt<T>(
    attempt: Attempt<T>,
    connection: EtcdConnection,
    { attemptMs, leftMs }: { attemptMs: number; leftMs: number },
  ): Promise<T> {
    const limitMs = Math.max(1, Math.min(attemptMs, leftMs))
    const began = this.#clock.nowMs()
    // A call that fails before the connection is open was not sent.
    await connection.connect(Math.min(limitMs, this.#limits.attemptMs))
    const timeoutMs = Math.max(1, Math.ceil(limitMs - (this.#clock.nowMs() - began)))
    try {
      return await attempt(connection, { timeoutMs, headers: HEADERS })
    } catch (reason) {
      if (ConnectError.from(reason).code === Code.DeadlineExceeded) void this.#prove(connection)
      throw reason
    }
  }

  /** Ends the connection if the endpoint is silent altogether: watches and other calls must leave it too. */
  async #prove(connection: EtcdConnection): Promise<void> {
    if (this.#proving.has(connection)) return
    this.#proving.add(connection)
    try {
      await connection.maintenance.status({}, { timeoutMs: PROOF_MS })
    } catch {
      connection.close()
    } finally {
      this.#proving.delete(connection)
    }
  }
}

function withoutDoubt(error: EtcdError): EtcdError {
  return error.inDoubt ? new EtcdError(error.kind, error.message, { cause: error.cause }) : error
}
