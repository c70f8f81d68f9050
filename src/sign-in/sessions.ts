import { createHash, randomBytes } from 'node:crypto'
import { SESSION, type User, latestEndOf } from '../core/access/access-records.ts'
import type { Identity, NotSignedIn } from '../core/access/identity.ts'
import { beginSession, endSession, mustWriteUse, useSession } from '../core/access/session-commands.ts'
import type { Engine } from '../core/engine/ports.ts'
import type { RecordView } from '../core/records/record-tables.ts'
import { Refusal } from '../core/refusal.ts'

/** Dependencies of sessions. */
export interface SessionParts {
  readonly records: RecordView
  readonly engine: Pick<Engine, 'execute'>
  /** Epoch ms. */
  readonly nowMs: () => number
  /** Called if the use of a session cannot be written; nobody waits for that. */
  readonly report: (error: unknown, what: string) => void
}

const ENDED: NotSignedIn = { kind: 'not-signed-in', code: 'token-expired' }

/**
 * The sessions of browsers. A browser keeps a random id of 256 bits. The store has a hash of it, so that the sessions
 * in a backup are of no use. Whether a session still counts is judged at each use (`problemOf`).
 */
export class Sessions {
  readonly #parts: SessionParts

  constructor(parts: SessionParts) {
    this.#parts = parts
  }

  /** Begins a session and gives the id for the browser; undefined where the user has another password by now. */
  async begin({ username, credentialStamp }: User): Promise<string | undefined> {
    const browserId = randomBytes(32).toString('base64url')
    const command = beginSession({ id: recordIdOf(browserId), username, credentialStamp })
    return (await this.#parts.engine.execute(command)) ? browserId : undefined
  }

  /** The user of this session. */
  identify(browserId: string): Identity {
    const { records, nowMs } = this.#parts
    const sessionId = recordIdOf(browserId)
    const session = records.record(SESSION, sessionId)
    if (session === undefined) return ENDED
    const { username, credentialStamp } = session
    if (mustWriteUse(session, nowMs())) void this.#writeUse(sessionId)
    return {
      kind: 'user',
      by: 'session',
      username,
      credentialStamp,
      expiresMs: latestEndOf(session),
      sessionId,
    }
  }

  /** Whether there is such a session, open or not removed yet. */
  has(browserId: string): boolean {
    return this.#parts.records.record(SESSION, recordIdOf(browserId)) !== undefined
  }

  /** Ends a session, if it exists. */
  async end(browserId: string): Promise<void> {
    await this.#parts.engine.execute(endSession(recordIdOf(browserId)))
  }

  async #writeUse(sessionId: string): Promise<void> {
    try {
      await this.#parts.engine.execute(useSession(sessionId))
    } catch (error) {
      // The store cannot be written, or the server stops: others tell that.
      if (!(error instanceof Refusal)) this.#parts.report(error, 'the use of a session could not be written')
    }
  }
}

function recordIdOf(browserId: string): string {
  return createHash('sha256').update(browserId).digest('base64url')
}
