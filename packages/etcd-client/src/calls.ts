import type { Clock } from './clock.ts'
import type { EtcdConnection, OpenConnection } from './connection.ts'
import type { Endpoints } from './endpoints.ts'
import { EtcdError, toEtcdError } from './etcd-error.ts'
import { METHODS } from './methods.ts'
import { afterReading } from './session.ts'

/** How long calls may take, in milliseconds. */
export interface CallTimes {
  /** A call, with all its attempts. */
  readonly callMs: number
  /** An attempt that may be repeated elsewhere: the time after which an endpoint that is silent is left. */
  readonly attemptMs: number
}

/** One attempt of a call, on one endpoint, within this time. */
export type Attempt<T> = (connection: EtcdConnection, timeoutMs: number) => Promise<T>

const ROUND_PAUSE_MS = 50

/**
 * The parts of an attempt's time. After the first, the client asks the silent member whether it serves; the second is
 * the time for that answer. So a silent member is left within the time of an attempt. The third is the time of a member
 * without calls: leaving it costs little. For others it is too short, because slow disks delay reads, too.
 */
const SILENT_PART = 3 / 8
const PROOF_PART = 5 / 8
const ASIDE_PART = 1 / 8

/** Sends calls to the current endpoint, and to the next ones where that fails. */
export class Calls {
  readonly #endpoints: Endpoints
  readonly #clock: Clock
  readonly #limits: CallTimes
  readonly #open: OpenConnection
  readonly #proofKey: string
  readonly #refused: (error: EtcdError) => void
  readonly #connections = new Map<string, EtcdConnection>()
  readonly #proving = new Set<EtcdConnection>()

  constructor(parts: {
    endpoints: Endpoints
    clock: Clock
    limits: CallTimes
    open: OpenConnection
    /** A key that members read to show that they serve. */
    proofKey: string
    /** Called when etcd does not let this client in, or do something. */
    refused: (error: EtcdError) => void
  }) {
    this.#endpoints = parts.endpoints
    this.#clock = parts.clock
    this.#limits = parts.limits
    this.#open = parts.open
    this.#proofKey = parts.proofKey
    this.#refused = parts.refused
  }

  /** A call that may be done more than once. It never is in doubt. */
  async repeatable<T>(
    attempt: Attempt<T>,
    {
      callMs = this.#limits.callMs,
      mayBeDenied,
    }: { callMs?: number; mayBeDenied?: boolean | undefined } = {},
  ): Promise<T> {
    return this.#call(attempt, { callMs, attemptMs: this.#limits.attemptMs, repeatable: true, mayBeDenied })
  }

  /**
   * A call that must not be done twice: it is repeated only if it certainly was not done. Otherwise it rejects, in
   * doubt.
   */
  async once<T>(attempt: Attempt<T>, { callMs = this.#limits.callMs } = {}): Promise<T> {
    return this.#call(attempt, { callMs, attemptMs: callMs, repeatable: false })
  }

  /** The connection to an endpoint, the current one by default. */
  connection(endpoint = this.#endpoints.current): EtcdConnection {
    const known = this.#connections.get(endpoint)
    if (known !== undefined) return known
    const connection = this.#open(endpoint, {
      silentMs: this.#limits.attemptMs * SILENT_PART,
      silent: () => this.suspect(connection),
    })
    this.#connections.set(endpoint, connection)
    return connection
  }

  /** Leaves this connection's endpoint. */
  failed({ endpoint }: EtcdConnection): void {
    this.#endpoints.failed(endpoint)
  }

  /** Asks a member whether it serves. If it does not and another member does, it is left, with its calls and watches. */
  suspect(connection: EtcdConnection): void {
    void this.#prove(connection)
  }

  close(): void {
    for (const connection of this.#connections.values()) connection.close()
  }

  async #call<T>(
    attempt: Attempt<T>,
    limits: { callMs: number; attemptMs: number; repeatable: boolean; mayBeDenied?: boolean | undefined },
  ): Promise<T> {
    const deadline = this.#clock.nowMs() + limits.callMs
    for (let tries = 1; ; tries++) {
      const connection = this.connection()
      try {
        return await this.#attempt(attempt, connection, { ...limits, leftMs: deadline - this.#clock.nowMs() })
      } catch (reason) {
        const error = toEtcdError(reason)
        if ((error.kind === 'denied' && !limits.mayBeDenied) || error.kind === 'untrusted')
          this.#refused(error)
        const isElsewhere = error.kind === 'unavailable' || error.kind === 'untrusted'
        const again = isElsewhere && (limits.repeatable || !error.inDoubt)
        if (isElsewhere) this.failed(connection)
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
    return attempt(connection, Math.max(1, Math.ceil(limitMs - (this.#clock.nowMs() - began))))
  }

  /** Ends the connection if the member is silent altogether, or others serve and it does not: watches must leave it too. */
  async #prove(connection: EtcdConnection): Promise<void> {
    if (this.#proving.has(connection)) return
    this.#proving.add(connection)
    const others = this.#endpoints.all.filter((one) => one !== connection.endpoint)
    const limitMs = Math.ceil(this.#limits.attemptMs * PROOF_PART)
    const isAlive = answers(connection.call(METHODS.status, {}, limitMs))
    const serves = this.#serves(connection, limitMs)
    const another = isAnyTrue(others.map((one) => this.#serves(this.connection(one), limitMs)))
    // If all disks are slow, another member is no better.
    const inTheEnd = Promise.all([isAlive, serves, another]).then(
      ([alive, own, other]) => !alive || (!own && other),
    )
    const isAside = connection.endpoint !== this.#endpoints.current
    const pause = this.#clock.sleep(this.#limits.attemptMs * (isAside ? ASIDE_PART : PROOF_PART))
    const isOutdone = Promise.all([another, pause]).then(async ([other]) => {
      // If this process did not run for a while, both answers may have come.
      if (other) await new Promise<void>(afterReading)
      return other || inTheEnd
    })
    const isKept = serves.then((own) => (own ? isAlive.then((alive) => !alive) : inTheEnd))
    if (await Promise.race([isOutdone, isKept])) connection.close()
    this.#proving.delete(connection)
  }

  /** Whether the member reads a key of its own data in time. While it defragments it tells its status, and reads nothing. */
  async #serves(connection: EtcdConnection, limitMs: number): Promise<boolean> {
    const request = { key: Buffer.from(this.#proofKey), countOnly: true, serializable: true }
    const began = this.#clock.nowMs()
    return answers(
      connection
        .connect(limitMs)
        .then(() =>
          connection.call(METHODS.localRange, request, Math.max(1, limitMs - (this.#clock.nowMs() - began))),
        ),
    )
  }
}

/** True as soon as one promise is true; false when all are false or rejected. */
function isAnyTrue(all: readonly Promise<boolean>[]): Promise<boolean> {
  const found = all.map(async (one) => (await one) || Promise.reject(new Error('It does not serve.')))
  return Promise.any(found).catch(() => false)
}

/** Whether there is an answer, even a refusal. */
async function answers(call: Promise<unknown>): Promise<boolean> {
  try {
    await call
    return true
  } catch (reason) {
    const error = toEtcdError(reason)
    return error.kind !== 'unavailable' && error.kind !== 'untrusted'
  }
}

function withoutDoubt(error: EtcdError): EtcdError {
  return error.inDoubt ? new EtcdError(error.kind, error.message, { cause: error.cause }) : error
}
