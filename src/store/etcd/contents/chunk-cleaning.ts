import { firstStampOf } from '../../../core/decisions/stamps.ts'
import { inParts } from '../../../core/work/in-parts.ts'
import type { EtcdClient } from '@waypost/etcd-client/etcd-client'
import type { TxnOperation } from '@waypost/etcd-client/messages'
import type { Keys } from '../keys/keys.ts'
import { type ChunkRun, chunkRuns } from './chunk-runs.ts'

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
    const removed = await this.#removeUnnamed(chunkRuns(this.#keys, kvs))
    if (more) this.#from = `${kvs.at(-1)!.key}\0`
    return { removed, more }
  }

  async #removeUnnamed(runs: readonly ChunkRun[]): Promise<number> {
    const removed = new Set<number>()
    for (const some of inParts(runs, AT_ONCE)) {
      const success = some.map((run) => this.#removal(run))
      const { results } = await this.#client.txn({ compare: [], success })
      for (const [index, { stamp }] of some.entries()) {
        const result = results[index]
        if (result?.did === 'txn' && result.succeeded) removed.add(stamp)
      }
    }
    return removed.size
  }

  #removal({ stamp, range }: ChunkRun): TxnOperation {
    return {
      do: 'txn',
      compare: [{ key: this.#keys.of({ of: 'named-chunks', stamp }), of: 'create', is: '=', to: 0 }],
      success: [{ do: 'delete', ...range }],
    }
  }
}
