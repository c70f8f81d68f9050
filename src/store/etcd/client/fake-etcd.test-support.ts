import { createRouterTransport } from '@connectrpc/connect'
import type { ServiceImpl } from '@connectrpc/connect'
import type { Clock } from './clock.ts'
import { connectionOver } from './connection.ts'
import type { EtcdConnection } from './connection.ts'
import { EtcdError } from './etcd-error.ts'
import { KV, Lease, Maintenance, Watch } from './generated/rpc_pb.js'

/** What a member of the fake answers. Calls that are not given are refused as not implemented. */
export interface FakeMember {
  readonly kv?: Partial<ServiceImpl<typeof KV>>
  readonly watch?: Partial<ServiceImpl<typeof Watch>>
  readonly lease?: Partial<ServiceImpl<typeof Lease>>
  readonly version?: string
  /** Nobody listens there. */
  down?: boolean
}

/** Opens connections to members in memory, and counts what was opened. */
export function fakeEtcd(
  members: Readonly<Record<string, FakeMember>>,
): (endpoint: string) => EtcdConnection {
  return (endpoint) => {
    const member = members[endpoint]!
    const transport = createRouterTransport(({ service }) => {
      service(KV, member.kv ?? {})
      service(Watch, member.watch ?? {})
      service(Lease, member.lease ?? {})
      service(Maintenance, { status: () => ({ version: member.version ?? '3.6.1', leader: 1n }) })
    })
    return connectionOver(endpoint, transport, {
      connect: () =>
        member.down === true
          ? Promise.reject(new EtcdError('unavailable', `${endpoint} is down`))
          : Promise.resolve(),
      close: () => undefined,
    })
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
    async sleep(ms, signal) {
      if (ms >= NEVER_MS) return new Promise((resolve) => signal?.addEventListener('abort', () => resolve()))
      this.passedMs += ms
      await new Promise((resolve) => setImmediate(resolve))
    },
  }
}
