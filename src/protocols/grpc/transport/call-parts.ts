import type { BodyShares } from '../../sockets/body-shares.ts'
import type { OldestFirstMemory } from '../../sockets/held-memory.ts'
import type { ClientSession, Outlet } from '../connections/client-connection.ts'
import type { Message, MessageHead } from '../wire/message-reader.ts'
import type { ServerMessage } from '../wire/payload.ts'

/** Gets the messages that a client sends on its stream. */
export interface ClientStreamListener {
  received(message: Message): void
  /** The stream has ended, for whatever reason. Called once. */
  ended(): void
}

/** Answers clients. */
export interface ClientServices {
  /** The answer to a request: at once where nothing has to be awaited. Never throws or rejects. */
  answer(message: Message, session: ClientSession): ServerMessage | Promise<ServerMessage>
  /**
   * The refusal of a request whose head is enough to refuse it; undefined: the body is read. `head` is undefined while
   * only the size of the request is known.
   */
  judge(
    head: MessageHead | undefined,
    session: ClientSession,
  ): ServerMessage | undefined | Promise<ServerMessage | undefined>
  /** Begins with the stream of a client, which is asked on the outlet. */
  open(outlet: Outlet, session: ClientSession): ClientStreamListener
}

/** Dependencies of calls. All calls of a server share them. */
export interface CallParts {
  readonly services: ClientServices
  /** The memory of all requests of known callers that are being received or answered. */
  readonly memory: BodyShares
  /** The memory of the requests of all other callers, and of incomplete messages on streams. */
  readonly unknown: OldestFirstMemory
  /** The memory of all answers that clients leave unread. */
  readonly unread: OldestFirstMemory
  /** How long a client may send nothing of a request that it has begun. */
  readonly idleMs: number
}
