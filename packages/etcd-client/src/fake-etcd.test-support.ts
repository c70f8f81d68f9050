import type { Cancellation } from './cancellation.ts'
import { create } from '@bufbuild/protobuf'
import type { MessageInitShape } from '@bufbuild/protobuf'
import type { Clock } from './clock.ts'
import type { OpenConnection } from './connection.ts'
import { EtcdError } from './etcd-error.ts'
import {
  LeaseGrantResponseSchema,
  LeaseKeepAliveResponseSchema,
  LeaseRevokeResponseSchema,
  RangeResponseSchema,
  StatusResponseSchema,
} from './generated/rpc_pb.js'
import type { WatchRequest, WatchResponse } from './generated/rpc_pb.js'
import { GRPC, GrpcError } from './grpc-error.ts'
import type { TxnResult } from './messages.ts'
import { METHODS, type Method } from './methods.ts'

const ANSWERS = {
  range: RangeResponseSchema,
  leaseGrant: LeaseGrantResponseSchema,
  leaseKeepAlive: LeaseKeepAliveResponseSchema,
  leaseRevoke: LeaseRevokeResponseSchema,
  status: StatusResponseSchema,
}

/** The answers of a fake member. It refuses calls without an answer as not implemented. */
export interface FakeMember {
  readonly calls?: {
    readonly [Name in keyof typeof ANSWERS]?: (request: unknown) => MessageInitShape<(typeof ANSWERS)[Name]>
  }
  readonly txn?: () => TxnResult
  /** The responses to a watch from this revision on, before the stream ends. */
  readonly watch?: (startRevision: number) => AsyncIterable<WatchResponse>
  readonly version?: string
  /** Nobody listens there. */
  down?: boolean
}

/** Opens connections to members in memory. */
export function fakeEtcd(members: Readonly<Record<string, FakeMember>>): OpenConnection {
  return (endpoint) => {
    const member = members[endpoint]!
    return {
      endpoint,
      connect: () =>
        member.down === true
          ? Promise.reject(new EtcdError('unavailable', `${endpoint} is down`))
          : Promise.resolve(),
      call: <Request, Response>(method: Method<Request, Response>, request: Request) =>
        Promise.resolve().then(() => answerOf(member, nameOf(method), request) as Response),
      stream: (_, cancellation) => Promise.resolve(fakeWatch(member, cancellation)),
      forgetToken: () => undefined,
      close: () => undefined,
    }
  }
}

function nameOf(method: Method<never, unknown>): string | undefined {
  return Object.entries(METHODS).find(([, one]) => (one as unknown) === method)?.[0]
}

function answerOf(member: FakeMember, name: string | undefined, request: unknown): unknown {
  if (name === 'txn' && member.txn !== undefined) return member.txn()
  const status = () => ({ version: member.version ?? '3.6.1', leader: 1n })
  const calls = { status, ...member.calls }
  if (name === undefined || !(name in calls)) throw new GrpcError(GRPC.UNIMPLEMENTED, `no ${name} here`)
  const known = name as keyof typeof ANSWERS
  return create(ANSWERS[known], calls[known]!(request))
}

function fakeWatch(member: FakeMember, cancellation: Cancellation) {
  let start: (revision: number) => void = () => {}
  const started = new Promise<number>((resolve) => (start = resolve))
  return {
    send: (request: unknown) => {
      const { requestUnion } = request as WatchRequest
      if (requestUnion.case === 'createRequest') start(Number(requestUnion.value.startRevision))
    },
    responses: interrupted(
      (async function* () {
        if (member.watch !== undefined) yield* member.watch(await started)
      })(),
      cancellation,
    ) as AsyncGenerator<never>,
  }
}

/** The received values until it is cancelled. */
async function* interrupted<T>(received: AsyncIterator<T>, cancellation: Cancellation): AsyncGenerator<T> {
  const cancelled = new Promise<never>((_, reject) =>
    cancellation.onCancel(() => reject(cancellation.reason!)),
  )
  cancelled.catch(() => undefined)
  for (;;) {
    const { done, value } = await Promise.race([received.next(), cancelled])
    if (done === true) return
    yield value
  }
}

/** A sleep that long is not woken. */
export const NEVER_MS = 2 ** 30

/** A clock that advances only while somebody sleeps, and then at once. */
export function fakeClock(): Clock & { passedMs: number } {
  return {
    passedMs: 0,
    nowMs() {
      return this.passedMs
    },
    async sleep(ms, cancellation) {
      if (ms >= NEVER_MS) return new Promise((resolve) => cancellation?.onCancel(resolve))
      this.passedMs += ms
      await new Promise((resolve) => setImmediate(resolve))
    },
  }
}
