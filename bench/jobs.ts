import type { InstanceSet } from './request-text.ts'

/** Requests that a load is made of; `index` runs from `first`. */
export type Stream =
  | { readonly kind: 'list'; readonly base: string; readonly services: number }
  | { readonly kind: 'read'; readonly base: string; readonly count: number }
  | { readonly kind: 'beat'; readonly set: InstanceSet }
  | { readonly kind: 'register'; readonly set: InstanceSet; readonly version: number }
  /** Registrations that change instances of a set, all before any of them a second time, in no order of theirs. */
  | { readonly kind: 'change'; readonly set: InstanceSet; readonly version: number }
  /** In the same order instances leave, fifty at a time, and come back. */
  | { readonly kind: 'rejoin'; readonly set: InstanceSet }
  | { readonly kind: 'publish'; readonly base: string; readonly count: number }

/** Where the requests go. */
interface To {
  /** The base of the target. */
  readonly base: string
  readonly stream: Stream
  readonly connections: number
}

/** Requests at a constant rate, whatever the server does: `perSecond` for `seconds`. */
export interface OpenLoopJob extends To {
  readonly job: 'open-loop'
  readonly perSecond: number
  readonly seconds: number
}

/** `requests` in all, as fast as they are answered. */
export interface ClosedLoopJob extends To {
  readonly job: 'closed-loop'
  readonly requests: number
}

/** Holds polls of one item, whose current content is known. */
export interface HoldJob {
  readonly job: 'hold'
  readonly base: string
  readonly polls: number
  readonly dataId: string
  readonly version: number
}

/** Publishes the next version of the item that is polled, and waits for all answers. */
export interface WakeJob {
  readonly job: 'wake'
  readonly base: string
  readonly dataId: string
  readonly version: number
}

/** Subscribers over UDP to one service, whose instances change at a constant rate. */
export interface PushJob {
  readonly job: 'push'
  readonly base: string
  readonly set: InstanceSet
  readonly subscribers: number
  readonly changesPerSecond: number
  readonly seconds: number
}

/** What a process of load clients can be told to do. */
export type Job = OpenLoopJob | ClosedLoopJob | HoldJob | WakeJob | PushJob

/** What a load came to. */
export interface LoadResult {
  readonly counts: readonly number[]
  readonly answered: number
  /** Answers that were no success, and broken connections. */
  readonly failed: number
  readonly elapsedMs: number
  /** How late the client itself was to look at each request that was due: latencies are too long by as much. */
  readonly lateCounts?: readonly number[]
}

/** What a wake-up came to. */
export interface WakeResult {
  readonly publishMs: number
  readonly firstMs: number
  readonly lastMs: number
  readonly answered: number
}
