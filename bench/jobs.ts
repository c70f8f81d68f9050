import type { InstanceSet } from './request-text.ts'

/** The requests of a load. `index` starts at `first`. */
export type Stream =
  | { readonly kind: 'list'; readonly base: string; readonly services: number }
  | { readonly kind: 'read'; readonly base: string; readonly count: number }
  | { readonly kind: 'beat'; readonly set: InstanceSet }
  | { readonly kind: 'register'; readonly set: InstanceSet; readonly version: number }
  /** Registrations that change the instances of a set in a scattered order, each instance once before any is repeated. */
  | { readonly kind: 'change'; readonly set: InstanceSet; readonly version: number }
  /** In the same order, instances are deregistered, fifty at a time, and registered again. */
  | { readonly kind: 'rejoin'; readonly set: InstanceSet }
  /** Another `version` has other contents. */
  | { readonly kind: 'publish'; readonly base: string; readonly count: number; readonly version?: number }

/** The requests, and where they go. */
export interface To {
  /** The base of the target. */
  readonly base: string
  readonly stream: Stream
  /** The value of the header, where callers must sign in. */
  readonly authorization?: string | undefined
}

/** Requests at a constant rate, independent of the server: `perSecond` for `seconds`. */
export interface OpenLoopJob extends To {
  readonly connections: number
  readonly job: 'open-loop'
  readonly perSecond: number
  readonly seconds: number
}

/** `requests` requests, as fast as they are answered. */
export interface ClosedLoopJob extends To {
  readonly connections: number
  readonly job: 'closed-loop'
  readonly requests: number
}

/** Holds polls of one item with a known content. */
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

/** Connections over gRPC, each of which subscribes to the first service of a set. They stay open. */
export interface GrpcSubscribeJob {
  readonly job: 'grpc-subscribe'
  readonly base: string
  readonly set: InstanceSet
  readonly subscribers: number
}

/** Changes one instance of this service after the other, each when every subscriber has the one before. */
export interface GrpcPushJob {
  readonly job: 'grpc-push'
  readonly base: string
  readonly set: InstanceSet
  /** The number of the first change. Each number is used once, or nothing would change. */
  readonly first: number
  readonly changes: number
  /** How long nothing happens after each change. */
  readonly settleMs: number
}

/** Requests over gRPC, as fast as they are answered. */
export interface GrpcLoopJob {
  readonly job: 'grpc-loop'
  readonly base: string
  /** A query of a service, or a batch of 50 instances, which replaces the one before of its connection. */
  readonly request: 'query' | 'batch'
  /** The services are called `<name>-<number>`. */
  readonly name: string
  readonly services: number
  readonly connections: number
  readonly requests: number
}

/** Connections over gRPC, each of which listens to one item. They stay open. */
export interface GrpcListenJob {
  readonly job: 'grpc-listen'
  readonly base: string
  readonly connections: number
  readonly dataId: string
}

/** Lets these connections check their health as libraries do. */
export interface GrpcCheckJob {
  readonly job: 'grpc-check'
  readonly base: string
  readonly ms: number
}

/** Publishes the next version of the item, and waits until each connection has it. */
export interface GrpcTellJob {
  readonly job: 'grpc-tell'
  readonly base: string
  readonly dataId: string
  readonly version: number
}

/** The jobs of a process of load clients. */
export type Job =
  | OpenLoopJob
  | ClosedLoopJob
  | HoldJob
  | WakeJob
  | PushJob
  | GrpcSubscribeJob
  | GrpcPushJob
  | GrpcLoopJob
  | GrpcListenJob
  | GrpcCheckJob
  | GrpcTellJob

/** The result of a load. */
export interface LoadResult {
  readonly counts: readonly number[]
  readonly answered: number
  /** Errors and broken connections. */
  readonly failed: number
  readonly elapsedMs: number
  /** Processor time of callers that are measured themselves. */
  readonly usedMs?: number
  /** How late the client itself was with each due request. Latencies are too long by this. */
  readonly lateCounts?: readonly number[]
}

/** The result of a wake-up. */
export interface WakeResult {
  readonly publishMs: number
  readonly firstMs: number
  readonly lastMs: number
  readonly answered: number
}

/** When the last connection was told of a change, and when the last one had it. */
export interface GrpcToldResult {
  readonly publishMs: number
  readonly toldMs: number
  readonly haveMs: number
  readonly have: number
}
