import { connectTo } from '@waypost/etcd-client/connection'
import { systemClock } from '@waypost/etcd-client/clock'
import { EtcdClient } from '@waypost/etcd-client/etcd-client'
import type { Etcd } from './etcd.ts'

/** A client of an etcd, for tests that read and write its keys as somebody else would. Call `close` at the end. */
export function clientOf({ endpoints }: Pick<Etcd, 'endpoints'>): EtcdClient {
  const limits = { callMs: 20_000, attemptMs: 5_000 }
  const open = connectTo(systemClock)
  return new EtcdClient({ endpoints, clock: systemClock, random: Math.random, open, limits })
}
