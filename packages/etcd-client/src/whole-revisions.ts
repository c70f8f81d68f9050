import type { WatchResponse } from './generated/rpc_pb.js'
import type { KeyValue } from './messages.ts'
import { readEvent } from './wire-messages.ts'

/** A change of one key. */
export type KeyChange =
  | { readonly kind: 'put'; readonly kv: KeyValue }
  | { readonly kind: 'deleted'; readonly key: string }

/** Everything that one revision changed, in the order in which etcd reports it. */
export interface KeyRevision {
  readonly revision: number
  readonly changes: readonly KeyChange[]
}

/**
 * Makes whole revisions from the responses of a watch. etcd never splits a revision between responses, but may split a
 * response into fragments. Events come in the order of revisions, so an event of a later revision completes the earlier
 * revision. Revisions that were given out before are skipped.
 */
export class WholeRevisions {
  #next: number
  #partial: { readonly revision: number; readonly changes: KeyChange[] } | undefined

  /** @param next the first revision that is wanted */
  constructor(next: number) {
    this.#next = next
  }

  /** The first revision that was not given out yet: from here a new watch continues. */
  get next(): number {
    return this.#next
  }

  /**
   * The revisions that are complete with this response, one by one. If an event cannot be read, the earlier revisions
   * were given out, and a new watch continues after them.
   */
  *add({ events, fragment }: Pick<WatchResponse, 'events' | 'fragment'>): Generator<KeyRevision> {
    for (const bytes of events) {
      const { isDeletion, kv } = readEvent(bytes)
      const revision = kv.modRevision
      if (revision < this.#next) continue
      if (this.#partial !== undefined && this.#partial.revision !== revision)
        yield this.#complete(this.#partial)
      this.#partial ??= { revision, changes: [] }
      this.#partial.changes.push(isDeletion ? { kind: 'deleted', key: kv.key } : { kind: 'put', kv })
    }
    if (!fragment && this.#partial !== undefined) yield this.#complete(this.#partial)
  }

  /** All revisions up to this one were received. False if that is nothing new. */
  reach(revision: number): boolean {
    if (this.#partial !== undefined || revision < this.#next) return false
    this.#next = revision + 1
    return true
  }

  /** The connection was lost: forgets a revision that arrived only in part. */
  interrupt(): void {
    this.#partial = undefined
  }

  #complete(partial: KeyRevision): KeyRevision {
    this.#partial = undefined
    this.#next = partial.revision + 1
    return partial
  }
}
