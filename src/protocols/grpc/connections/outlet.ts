import type { ServerMessage } from '../wire/payload.ts'

/** Where messages to a client go: its stream. */
export interface Outlet {
  /** Sends a message. False if too much waits unread: the client must be left. */
  send(message: ServerMessage): boolean
  /** Nothing more is sent. */
  end(): void
}
