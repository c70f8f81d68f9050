import type { LiveEvent } from '../server/events.ts'

/** How the page is connected. `waiting`: it tries again after a while. `ended`: the server says that nobody is signed in. */
export type ConnectionState = 'connecting' | 'live' | 'waiting' | 'ended'

/** A message of a connection. `reset`: anything may have changed. */
export type LiveMessage =
  | { readonly type: 'state'; readonly state: ConnectionState }
  | { readonly type: 'changed'; readonly event: LiveEvent }
  | { readonly type: 'reset' }

/** A message of a page to the worker. The first one has the address of the events. */
export interface LiveRequest {
  readonly type: 'start' | 'leave'
  readonly address: string
}
