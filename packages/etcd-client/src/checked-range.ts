import { EtcdError } from './etcd-error.ts'
import { keyBytes, shownKey } from './key-text.ts'
import type { KeyRange } from './messages.ts'

/** A range as it was asked for. */
interface AskedRange extends KeyRange {
  readonly limit?: number
  readonly descending?: boolean
  readonly countOnly?: boolean
}

/** The keys of an answer. */
interface FoundKeys {
  readonly kvs: readonly { readonly key: string }[]
  /** How many keys the range has, whatever the limit. */
  readonly count: number
  readonly more: boolean
}

/** The end of a range without an end. */
const NO_END = '\0'
/** More keys than any etcd holds: each takes some 200 bytes of its memory. */
const MOST_KEYS = 100_000_000

/**
 * An answer, if its keys lie in the range, in its order, and are no more than the limit. So whoever continues after the
 * last key of an answer gets on. Throws `EtcdError` for any other answer: another member may give a better one.
 */
export function checkedRange<Found extends FoundKeys>(range: AskedRange, result: Found): Found {
  const { limit = 0, countOnly = false } = range
  const { kvs, more } = result
  if (more && kvs.length === 0 && !countOnly) throw wrong('says that there are more keys, and sends no key')
  if (limit > 0 && kvs.length > limit) throw wrong(`sends ${kvs.length} keys where ${limit} are wanted`)
  checkKeys(range, result)
  return result
}

function checkKeys({ key, end, descending = false }: AskedRange, { kvs }: FoundKeys): void {
  const first = keyBytes(key)
  const last = end === undefined || end === NO_END ? undefined : keyBytes(end)
  let before: Buffer | undefined
  for (const kv of kvs) {
    const own = keyBytes(kv.key)
    const isAfter = end === undefined ? own.equals(first) : Buffer.compare(own, first) >= 0
    const isBefore = last === undefined || Buffer.compare(own, last) < 0
    if (!isAfter || !isBefore) throw wrong(`sends the key ${shownKey(kv.key)}, which is not in the range`)
    const order = before === undefined ? 1 : Buffer.compare(own, before)
    if (descending ? before !== undefined && order >= 0 : order <= 0)
      throw wrong(`sends the key ${shownKey(kv.key)} after a key that does not come before it`)
    before = own
  }
}

/** The number of keys that pages may have altogether, by the count of the first page. */
export class PagedKeys {
  #left: number | undefined

  /** The next page. Throws `EtcdError` if the pages have more keys than the first one has counted. */
  take({ kvs, count }: FoundKeys): void {
    this.#left ??= Math.min(count, MOST_KEYS)
    this.#left -= kvs.length
    if (this.#left < 0) throw wrong('sends more keys than it has counted')
  }
}

function wrong(text: string): EtcdError {
  return new EtcdError('unavailable', `etcd: a member ${text}`)
}
