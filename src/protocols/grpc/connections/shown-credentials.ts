import type { Identity, SignedIn } from '../../../core/access/identity.ts'
import type { StreamConnection } from './stream-connection.ts'

/** How long a client may continue with a token that does not count. */
const STALE_MS = 5_000
/** A client that was refused within this time is registering again. The Go library (2.3.5) may hang if it is cut off meanwhile. */
const QUIET_MS = 1_000
/** It is cut off all the same after this time. */
const MOST_STALE_MS = 3 * STALE_MS
/** The most connections that one tick ends: clients that come back at once must not keep the server busy. */
const MOST_ENDED = 5

/**
 * The credentials that clients show on their connections. Some libraries register again only when they connect again,
 * and sign in at a time of their own. While such a token does not count, the connection is ended every five seconds, once the client has paused.
 */
export class ShownCredentials {
  /** When the client of a connection has first and last shown tokens that do not count; the oldest first. */
  readonly #stale = new Map<StreamConnection, { readonly sinceMs: number; lastMs: number }>()

  /** A client has shown credentials that count. */
  counted(connection: StreamConnection, identity: SignedIn, nowMs: number): void {
    this.#stale.delete(connection)
    connection.signedIn(identity, nowMs)
  }

  /**
   * A client was refused for its credentials. If it has shown valid ones before on this connection, nothing happens:
   * its instances must not leave because a token has expired.
   */
  refused(connection: StreamConnection, identity: Identity, nowMs: number): void {
    if (!isToken(identity) || connection.username !== '') return
    const known = this.#stale.get(connection)
    if (known !== undefined) return void (known.lastMs = nowMs)
    this.#stale.set(connection, { sinceMs: nowMs, lastMs: nowMs })
    connection.onEnd(() => this.#stale.delete(connection))
  }

  /** Ends connections whose tokens do not count. Call it about ten times a second. */
  tick(nowMs: number): void {
    let left = MOST_ENDED
    for (const [connection, { sinceMs, lastMs }] of this.#stale) {
      const staleMs = nowMs - sinceMs
      if (staleMs < STALE_MS || left === 0) return
      if (nowMs - lastMs < QUIET_MS && staleMs < MOST_STALE_MS) continue
      left--
      connection.end('signed-out')
    }
  }
}

function isToken(identity: Identity): boolean {
  if (identity.kind !== 'user') return identity.kind === 'not-signed-in'
  return identity.by === 'token' || identity.by === 'old-token'
}
