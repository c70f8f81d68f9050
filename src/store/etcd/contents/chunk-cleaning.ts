import { firstStampOf } from '../../../core/decisions/stamps.ts'
import type { EtcdClient } from '../client/etcd-client.ts'
import type { TxnOperation } from '../client/messages.ts'
import { prefixEnd } from '../client/range-end.ts'
import type { Keys } from '../keys/keys.ts'

/** How many chunks one step checks. */
const LOOKED_AT = 1_000
/** How many contents are checked with one request. */
const AT_ONCE = 50
/** Chunks that are not named yet may be of a commit that is underway. */
const YOUNG_MS = 10 * 60_000

/**
 * Removes chunks that no unit has named: their server was killed, or the change was refused. Chunks that a unit has
 * named are removed with its history. A later unit compares that its chunks exist, so it conflicts and is made again.
 */
export class ChunkCleaning {
  readonly #client: Pick<EtcdClient, 'range' | 'txn'>
  readonly #keys: Keys
  /** The place where the next step begins; undefined: at the beginning. */
  #from: string | undefined

  constructor(client: Pick<EtcdClient, 'range' | 'txn'>, keys: Keys) {
    this.#client = client
    this.#keys = keys
  }

  /** One step. `removed`: contents. `more`: there are chunks that were not checked since the beginning. */
  async step(nowMs: number): Promise<{ removed: number; more: boolean }> {
    const key = this.#from ?? this.#keys.every('chunk')
    const end = this.#keys.chunksOf(firstStampOf(nowMs - YOUNG_MS))
    this.#from = undefined
    if (key >= end) return { removed: 0, more: false }
    const { kvs, more } = await this.#client.range({ key, end, limit: LOOKED_AT, keysOnly: true })
    const removed = await this.#removeUnnamed([...new Set(kvs.flatMap((kv) => this.#stampOf(kv.key)))])
    if (more) this.#from = `${kvs.at(-1)!.key}\0`
    return { removed, more }
  }

  async #removeUnnamed(stamps: readonly number[]): Promise<number> {
    let removed = 0
    for (let at = 0; at < stamps.length; at += AT_ONCE) {
      const success = stamps.slice(at, at + AT_ONCE).map((stamp) => this.#removal(stamp))
      const { results } = await this.#client.txn({ compare: [], success })
      removed += results.filter((result) => result.did === 'txn' && result.succeeded).length
    }
    return removed
  }

  #removal(stamp: number): TxnOperation {
    const prefix = this.#keys.chunksOf(stamp)
    return {
      do: 'txn',
      compare: [{ key: this.#keys.of({ of: 'named-chunks', stamp }), of: 'create', is: '=', to: 0 }],
      success: [{ do: 'delete', key: prefix, end: prefixEnd(prefix) }],
    }
  }

  #stampOf(key: string): number[] {
    const place = this.#keys.read(key)
    return place?.of === 'chunk' ? [place.stamp] : []
  }
}
