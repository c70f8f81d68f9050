import type { Calls } from './calls.ts'
import type { Clock } from './clock.ts'
import { EtcdError } from './etcd-error.ts'
import { toNumber } from './messages.ts'
import { METHODS } from './methods.ts'

/** How long a replaced leader of etcd may still renew leases, unknown to the new one: its election timeout. */
const MARGIN_MS = 1_000

/** A lease: keys written with it are deleted when it ends. */
export interface Lease {
  readonly id: bigint
  /** Until when etcd certainly keeps the lease, by this clock: counted from the sending of the last renewal, less a margin. */
  certainUntilMs(): number
  /** Renews it. Rejects with `no-lease` if it has ended, and with `unavailable` if that is not known. */
  renew(): Promise<void>
  /** Ends it, and deletes its keys. */
  revoke(): Promise<void>
}

/** Asks etcd for a lease of this number of seconds. etcd may give a longer lease. */
export async function grantLease(calls: Calls, clock: Clock, seconds: number): Promise<Lease> {
  // If an answer is lost, its lease ends by itself: nobody has used it.
  const { response, sentMs } = await calls.repeatable(async (connection, timeoutMs) => {
    const sent = clock.nowMs()
    const request = { TTL: BigInt(seconds) }
    return { response: await connection.call(METHODS.leaseGrant, request, timeoutMs), sentMs: sent }
  })
  return new GrantedLease({ calls, clock }, response.ID, untilMs(sentMs, response.TTL))
}

class GrantedLease implements Lease {
  readonly id: bigint
  readonly #calls: Calls
  readonly #clock: Clock
  #untilMs: number

  constructor(parts: { calls: Calls; clock: Clock }, id: bigint, until: number) {
    this.#calls = parts.calls
    this.#clock = parts.clock
    this.id = id
    this.#untilMs = until
  }

  certainUntilMs(): number {
    return this.#untilMs
  }

  async renew(): Promise<void> {
    // Renewals are a stream in both directions. This stream has one request and so one answer.
    const renewed = await this.#calls.repeatable(async (connection, timeoutMs) => {
      const sentMs = this.#clock.nowMs()
      const { TTL } = await connection.call(METHODS.leaseKeepAlive, { ID: this.id }, timeoutMs)
      return { sentMs, ttl: TTL }
    })
    if (renewed.ttl <= 0n) throw new EtcdError('no-lease', `the lease ${this.id} has ended`)
    this.#untilMs = Math.max(this.#untilMs, untilMs(renewed.sentMs, renewed.ttl))
  }

  async revoke(): Promise<void> {
    try {
      await this.#calls.repeatable((connection, timeoutMs) =>
        connection.call(METHODS.leaseRevoke, { ID: this.id }, timeoutMs),
      )
    } catch (error) {
      // It had ended, or an answer was lost.
      if (!(error instanceof EtcdError && error.kind === 'no-lease')) throw error
    }
  }
}

function untilMs(sentMs: number, seconds: bigint): number {
  return sentMs + toNumber(seconds) * 1_000 - MARGIN_MS
}
