import { setTimeout as sleep } from 'node:timers/promises'
import type { EtcdClient } from '@waypost/etcd-client/etcd-client'
import type { Watch, WatchOptions } from '@waypost/etcd-client/watch'
import type { KeyRevision } from '@waypost/etcd-client/whole-revisions'

/** The reports of a watch so far. */
export interface WatchRecord {
  readonly watch: Watch
  readonly revisions: readonly KeyRevision[]
  readonly reached: number
  readonly connections: number
  readonly broken: 'compacted' | 'restored' | undefined
  /** Resolves when this holds for the record. Rejects if that takes too long. */
  until(holds: (record: WatchRecord) => boolean): Promise<void>
}

const LIMIT_MS = 60_000

/** Starts a watch that is recorded. The client ends it. */
export function recordWatch(client: EtcdClient, options: WatchOptions): WatchRecord {
  const revisions: KeyRevision[] = []
  const seen = { reached: 0, connections: 0, broken: undefined as 'compacted' | 'restored' | undefined }
  const watch = client.watch(options, {
    changed: (revision) => void revisions.push(revision),
    reached: (revision) => (seen.reached = revision),
    broken: (why) => (seen.broken = why),
    connected: () => (seen.connections += 1),
  })
  const record: WatchRecord = {
    watch,
    revisions,
    get reached() {
      return seen.reached
    },
    get connections() {
      return seen.connections
    },
    get broken() {
      return seen.broken
    },
    async until(holds) {
      const deadline = Date.now() + LIMIT_MS
      while (!holds(record)) {
        if (Date.now() > deadline) throw new Error(`the watch has reported ${JSON.stringify(seen)} so far`)
        await sleep(20)
      }
    },
  }
  return record
}
