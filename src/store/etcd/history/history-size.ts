import type { Revision } from '../../../core/engine/ports.ts'
import { wholeNumber } from '../../../core/records/shape.ts'
import type { EtcdClient } from '@waypost/etcd-client/etcd-client'
import { prefixEnd } from '@waypost/etcd-client/range-end'
import type { KeyChange } from '@waypost/etcd-client/whole-revisions'
import type { Keys } from '../keys/keys.ts'
import { MOST_INLINE_BYTES } from '../contents/large-contents.ts'
import { fromJson, type StoredEntry } from '../keys/values.ts'
import { placedEntry } from './stored-entry.ts'

/** Estimated bytes of a record besides its content: its two keys with their values, and etcd's own overhead. */
const RECORD_BYTES = 1024
const PAGE_SIZE = 2_000
/** No request makes history grow or shrink by more. */
const MOST_GROWN = 2 ** 40

/** The bytes of a record. The pieces of a large new content belong to its item until the next record. */
export function bytesOfRecord({
  op,
  size,
  ownsContent,
  sharesContent,
}: Pick<StoredEntry, 'op' | 'size'> & {
  readonly [Mark in 'ownsContent' | 'sharesContent']?: true | undefined
}): number {
  const isOfVersion = op === 'I' && size > MOST_INLINE_BYTES && !ownsContent
  return RECORD_BYTES + (isOfVersion || sharesContent ? 0 : size)
}

/**
 * How many bytes the history of all items takes. It is counted once after everything was loaded, at that revision. A
 * server that adds or removes records writes the difference with them, so every server follows it.
 */
export class HistorySize {
  readonly #client: Pick<EtcdClient, 'pages'>
  readonly #keys: Keys
  readonly #grown: string
  #counted: number | undefined
  #since = 0
  #round = 0

  constructor(client: Pick<EtcdClient, 'pages'>, keys: Keys) {
    this.#client = client
    this.#keys = keys
    this.#grown = keys.every('history-grown')
  }

  /** Undefined: it is not counted yet. */
  get total(): number | undefined {
    return this.#counted === undefined ? undefined : this.#counted + this.#since
  }

  /** Counts the records at a revision; follows later revisions. */
  async begin(revision: Revision): Promise<void> {
    const round = ++this.#round
    this.#counted = undefined
    this.#since = 0
    const key = this.#keys.every('history')
    let bytes = 0
    for await (const { kvs } of this.#client.pages({
      key,
      end: prefixEnd(key),
      revision,
      pageSize: PAGE_SIZE,
    })) {
      for (const kv of kvs) {
        const entry = placedEntry(this.#keys, kv)?.entry
        if (entry !== undefined) bytes += bytesOfRecord(entry)
      }
      if (round !== this.#round) return
    }
    this.#counted = bytes
  }

  /** Follows the changes of a revision. */
  follow(events: readonly KeyChange[]): void {
    for (const event of events) {
      if (event.kind !== 'put' || !event.kv.key.startsWith(this.#grown)) continue
      // No other key counts, such as one with more parts.
      if (this.#keys.read(event.kv.key) !== undefined) this.#since += grownIn(event.kv.value)
    }
  }
}

/** The bytes in a value that tells the growth; 0: no server has written it. */
function grownIn(value: Uint8Array): number {
  try {
    return grownBytes(value)
  } catch {
    return 0
  }
}

/** The bytes in a value that tells the growth. Throws a ShapeError, or a SyntaxError. */
export function grownBytes(value: Uint8Array): number {
  return wholeNumber(-MOST_GROWN, MOST_GROWN)(fromJson(value))
}
