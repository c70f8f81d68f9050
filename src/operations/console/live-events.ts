import type { Resource } from '../../core/access/resource.ts'
import type { LiveEvent } from '../../core/live/live-event.ts'
import { turnOf } from '../../core/access/turn-of.ts'
import type { Guard } from '../guard.ts'

/** An event, and the position of its change: positions rise. */
export interface PlacedLiveEvent {
  readonly event: LiveEvent
  readonly position: number
}

/** A message to a client that follows: see `EventStream`. */
export type LiveMessage =
  | { readonly kind: 'begun' | 'reset' | 'alive'; readonly id: string }
  | { readonly kind: 'changed'; readonly id: string; readonly events: readonly PlacedLiveEvent[] }
  | { readonly kind: 'ended'; readonly reason: 'signed-out' | 'too-slow' | 'gave-way' | 'stopping' }

/** The events that a client follows. */
export interface LiveStream {
  /** The next message, if there is one. */
  take(): LiveMessage | undefined
  /** Call it when the client disconnects. */
  leave(): void
}

/** A client that wants to follow events. */
export interface FollowRequest {
  /** The id of the last message that the client has got from a stream before. */
  readonly lastId: string | undefined
  /** Called when there is something to take. */
  readonly onMessage: () => void
}

/** Where events come from. */
export interface LiveSource {
  open(
    request: FollowRequest & {
      readonly ip: string
      readonly owner: string
      readonly mayRead: (resource: Resource) => boolean
    },
  ): LiveStream | 'too-many'
}

/**
 * Makes the operations on live events. Every user who is signed in may follow, and gets the events that this
 * user may read.
 */
export function liveEventOperations({ guard, live }: { readonly guard: Guard; readonly live: LiveSource }) {
  return {
    /** Opens a stream. Its caller is judged again for each event. */
    follow: guard.operation({
      permission: { action: 'read', resource: 'own-account' },
      resources: (): Resource[] => [{ kind: 'own-account' }],
      run: (request: FollowRequest, caller): LiveStream | 'too-many' =>
        live.open({
          ...request,
          ip: caller.ip,
          owner: turnOf(caller),
          mayRead: guard.later(caller, 'read') ?? isOpen,
        }),
    }),
  }
}

/** While nobody has to sign in, everybody may know of everything but the users. */
const isOpen = ({ kind }: Resource): boolean => kind !== 'access'
