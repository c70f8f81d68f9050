import type { Revision } from '../../../core/engine/ports.ts'
import type { EtcdClient } from '@waypost/etcd-client/etcd-client'
import { EtcdError } from '@waypost/etcd-client/etcd-error'
import { prefixEnd } from '@waypost/etcd-client/range-end'
import type { KeyValue } from '@waypost/etcd-client/messages'
import type { KeyChange } from '@waypost/etcd-client/whole-revisions'
import type { KeyPlace, Keys } from './keys.ts'
import { bytesOf, CODES, sizeCode } from './size-code.ts'

/** The kinds of keys of the state. Keys on leases and keys of messages are not compared. */
const COMPARED = [
  'config',
  'service',
  'instance',
  'small-record',
] as const satisfies readonly KeyPlace['of'][]

/** A kind of keys that is compared. */
export type ComparedKind = (typeof COMPARED)[number]

/** A difference: how many keys of this kind a server knows, and how many etcd has, or the first differing key. */
export interface Difference {
  readonly kind: ComparedKind
  readonly known: number
  readonly stored: number
  readonly key?: string
}

/** See `KnownKeys.compareCounts`. */
interface ComparedCounts {
  readonly counts: Partial<Record<ComparedKind, number>>
  readonly leftOut: (kind: ComparedKind) => number
}

/** Keys come without their values, so a page may have many. */
const PAGE_SIZE = 5_000

/**
 * The keys that a server has received, with the revision of each key's last change. Comparing them with etcd finds
 * changes that were lost on the way, though nothing noticed the loss.
 */
export class KnownKeys {
  readonly #keys: Keys
  readonly #prefixes: readonly (readonly [ComparedKind, string])[]
  /** For each key its revision and a code of its size, in one number, to save memory. */
  readonly #packed: Record<ComparedKind, Map<string, number>> = emptyMaps()
  readonly #bytes: Record<ComparedKind, number> = { config: 0, service: 0, instance: 0, 'small-record': 0 }
  /** The keys deleted since a comparison began. */
  #deleted: Set<string> | undefined

  constructor(keys: Keys) {
    this.#keys = keys
    this.#prefixes = COMPARED.map((kind) => [kind, keys.every(kind)])
  }

  /** Everything is loaded again, or only these kinds. */
  clear(kinds: readonly ComparedKind[] = COMPARED): void {
    for (const kind of kinds) {
      this.#packed[kind].clear()
      this.#bytes[kind] = 0
    }
    if (kinds === COMPARED) this.#deleted?.clear()
  }

  /** A key that was loaded. */
  loaded(kv: Pick<KeyValue, 'key' | 'value' | 'modRevision'>): void {
    const { key, modRevision } = kv
    const kind = this.#kindOf(key)
    if (kind === undefined) return
    const code = sizeCode(Buffer.byteLength(key) + sizeOfValue(kv))
    this.#forget(kind, key)
    this.#packed[kind].set(key, modRevision * CODES + code)
    this.#bytes[kind] += bytesOf(code)
  }

  /** The next revision, once it is applied. */
  follow(events: readonly KeyChange[]): void {
    for (const event of events)
      if (event.kind === 'put') this.loaded(event.kv)
      else {
        const kind = this.#kindOf(event.key)
        if (kind !== undefined && this.#forget(kind, event.key)) this.#deleted?.add(event.key)
      }
  }

  /** How many keys of a kind there are. */
  count(kind: ComparedKind): number {
    return this.#packed[kind].size
  }

  /** How many keys there are of all compared kinds. */
  get total(): number {
    return COMPARED.reduce((sum, kind) => sum + this.count(kind), 0)
  }

  /** About how many bytes the keys of a kind take, with their values. */
  bytes(kind: ComparedKind): number {
    return this.#bytes[kind]
  }

  /**
   * Compares the number of keys of each kind with etcd, at the revision applied last. `counts`: how many of some kinds
   * the state has, which must be equal too. `leftOut`: how many keys it leaves out; it may know an earlier value of some.
   */
  async compareCounts(
    client: Pick<EtcdClient, 'range'>,
    revision: Revision,
    { counts, leftOut }: ComparedCounts,
  ): Promise<Difference[]> {
    const known = COMPARED.map((kind) => [kind, this.count(kind), counts[kind], leftOut(kind)] as const)
    const compared = known.map(async ([kind, all, inState, without]): Promise<Difference[]> => {
      const key = this.#keys.every(kind)
      const { count: stored } = await client.range({ key, end: prefixEnd(key), revision, countOnly: true })
      if (all !== stored) return [{ kind, known: all, stored }]
      const isEqual = inState === undefined || (inState <= stored && inState >= stored - without)
      return isEqual ? [] : [{ kind, known: inState, stored }]
    })
    return unlessCompacted(Promise.all(compared).then((found) => found.flat()))
  }

  /** Compares each key and its revision with etcd, at the revision applied last. Call one at a time. */
  async compareRevisions(client: Pick<EtcdClient, 'pages'>, revision: Revision): Promise<Difference[]> {
    const counts = COMPARED.map((kind) => [kind, this.count(kind)] as const)
    this.#deleted = new Set()
    try {
      const found: Difference[] = []
      for (const [kind, known] of counts)
        found.push(...(await this.#compare(client, { kind, known, revision })))
      return found
    } finally {
      this.#deleted = undefined
    }
  }

  async #compare(
    client: Pick<EtcdClient, 'pages'>,
    { kind, known, revision }: { kind: ComparedKind; known: number; revision: Revision },
  ): Promise<Difference[]> {
    const prefix = this.#keys.every(kind)
    const range = { key: prefix, end: prefixEnd(prefix), revision, pageSize: PAGE_SIZE, keysOnly: true }
    const read = async (): Promise<Difference[]> => {
      let stored = 0
      for await (const { kvs } of client.pages(range)) {
        stored += kvs.length
        const other = kvs.find(({ key, modRevision }) => !this.#isAt(kind, key, { modRevision, revision }))
        if (other !== undefined) return [{ kind, known, stored, key: other.key }]
      }
      return stored === known ? [] : [{ kind, known, stored }]
    }
    return unlessCompacted(read())
  }

  /** Whether the key is known as etcd has it at the revision, or has changed since. */
  #isAt(
    kind: ComparedKind,
    key: string,
    { modRevision, revision }: { modRevision: Revision; revision: Revision },
  ): boolean {
    const packed = this.#packed[kind].get(key)
    if (packed === undefined) return this.#deleted?.has(key) === true
    const known = Math.floor(packed / CODES)
    return known === modRevision || known > revision
  }

  #kindOf(key: string): ComparedKind | undefined {
    return this.#prefixes.find(([, prefix]) => key.startsWith(prefix))?.[0]
  }

  /** Whether it was known. */
  #forget(kind: ComparedKind, key: string): boolean {
    const packed = this.#packed[kind].get(key)
    if (packed === undefined) return false
    this.#packed[kind].delete(key)
    this.#bytes[kind] -= bytesOf(packed % CODES)
    return true
  }
}

/** A sealed value that cannot be opened throws where it is read. Its reader says so; the key is there. */
function sizeOfValue(kv: Pick<KeyValue, 'value'>): number {
  try {
    return kv.value.byteLength
  } catch {
    return 0
  }
}

function emptyMaps(): Record<ComparedKind, Map<string, number>> {
  return { config: new Map(), service: new Map(), instance: new Map(), 'small-record': new Map() }
}

/** A revision that etcd has forgotten meanwhile cannot be compared. */
async function unlessCompacted(differences: Promise<Difference[]>): Promise<Difference[]> {
  try {
    return await differences
  } catch (error) {
    if (error instanceof EtcdError && error.kind === 'compacted') return []
    throw error
  }
}
