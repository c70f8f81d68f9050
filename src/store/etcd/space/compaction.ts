import type { Revision } from '../../../core/engine/ports.ts'
import type { EtcdClient } from '@waypost/etcd-client/etcd-client'
import { EtcdError } from '@waypost/etcd-client/etcd-error'
import { prefixEnd } from '@waypost/etcd-client/range-end'

/** Whether the servers compact etcd. `auto`: if no other keys are in it. */
export type CompactMode = 'auto' | 'on' | 'off'

/** Older versions are discarded. A server that is further behind loads everything again. */
const KEPT_MS = 10 * 60_000

/** The dependencies of `Compaction`. */
export interface CompactionParts {
  readonly client: Pick<EtcdClient, 'range' | 'compact'>
  /** The beginning of all keys of this installation. */
  readonly prefix: string
  readonly mode: CompactMode
  readonly nowMs: () => number
}

/**
 * Makes etcd discard versions of keys older than ten minutes: only then is the space of deleted and overwritten values free.
 * Call `step` of the elected server about once a minute.
 */
export class Compaction {
  readonly #parts: CompactionParts
  /** The revisions and their times, oldest first. */
  #seen: { readonly atMs: number; readonly revision: Revision }[] = []
  #compacted: Revision = 0

  constructor(parts: CompactionParts) {
    this.#parts = parts
  }

  /** The revision up to which this server has compacted; 0 before the first compaction. */
  get compacted(): Revision {
    return this.#compacted
  }

  /** Notes the revision, and compacts up to the revision of ten minutes ago. */
  async step(): Promise<void> {
    const { client, prefix, mode, nowMs } = this.#parts
    if (mode === 'off') return
    const { revision } = await client.range({ key: prefix, limit: 1, keysOnly: true })
    const atMs = nowMs()
    // A restored etcd counts from a smaller revision again.
    if (revision < (this.#seen.at(-1)?.revision ?? 0)) this.#seen = []
    this.#seen.push({ atMs, revision })
    const due = this.#seen.findLast((one) => one.atMs <= atMs - KEPT_MS)
    if (due === undefined) return
    this.#seen = this.#seen.filter((one) => one.atMs >= due.atMs)
    if (due.revision <= this.#compacted && due.revision <= revision) return
    if (mode === 'auto' && (await this.#isShared())) return
    await client.compact(due.revision)
    this.#compacted = due.revision
  }

  /** Whether etcd has keys of others. Assumes so if they may not be read. */
  async #isShared(): Promise<boolean> {
    const { client, prefix } = this.#parts
    const before = { key: '\0', end: prefix }
    const after = { key: prefixEnd(prefix), end: '\0' }
    try {
      for (const range of [before, after])
        if ((await client.range({ ...range, limit: 1, keysOnly: true })).kvs.length > 0) return true
      return false
    } catch (error) {
      if (error instanceof EtcdError && error.kind === 'denied') return true
      throw error
    }
  }
}
