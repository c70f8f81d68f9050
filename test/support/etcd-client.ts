import { connectTo } from '../../src/store/etcd/client/connection.ts'
import { systemClock } from '../../src/store/etcd/client/clock.ts'
import { EtcdClient } from '../../src/store/etcd/client/etcd-client.ts'
import type { Etcd } from './etcd.ts'

/** A client of an etcd, for tests that read and write its keys as somebody else would. Call `close` at the end. */
export function clientOf({ endpoints }: Pick<Etcd, 'endpoints'>): EtcdClient {
  const limits = { callMs: 20_000, attemptMs: 5_000 }
  const open = connectTo(systemClock)
  return new EtcdClient({ endpoints, clock: systemClock, random: Math.random, open, limits })
}
