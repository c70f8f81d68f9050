import { SIGNING_KEY } from '../../../core/access/access-records.ts'
import type { EtcdClient } from '@waypost/etcd-client/etcd-client'
import type { KeyValue } from '@waypost/etcd-client/messages'
import type { KeyChange } from '@waypost/etcd-client/whole-revisions'
import type { StoreInUse } from '../format/store-in-use.ts'
import type { Keys } from '../keys/keys.ts'
import { readRecord } from '../keys/read-values.ts'

/** The dependencies of `KeptKeys`. */
export interface KeptKeysParts {
  readonly client: Pick<EtcdClient, 'txn'>
  readonly keys: Keys
  readonly inUse: Pick<StoreInUse, 'installation'>
  /** Called for a key that is written again. */
  readonly mended?: ((key: string) => void) | undefined
}

/**
 * The signing keys, of which every installation with sign-in has one from then on. Only a server removes one, in a revision with its
 * request. Where another hand has removed one, the server keeps what it knows and writes it again (docs/decisions/0071).
 */
export class KeptKeys {
  readonly #parts: KeptKeysParts
  readonly #prefix: string
  #values = new Map<string, Buffer>()
  /** The values before everything is loaded, and the installation that they belong to. */
  #before: { readonly values: ReadonlyMap<string, Buffer>; readonly of: string | undefined } | undefined
  /** The keys to write again. */
  readonly #lost = new Map<string, Buffer>()

  constructor(parts: KeptKeysParts) {
    this.#parts = parts
    this.#prefix = parts.keys.of({ of: 'small-record', kind: SIGNING_KEY.name, id: '' })
  }

  /** Everything is loaded from now on. */
  loading(): void {
    if (this.#values.size > 0) this.#before = { values: this.#values, of: this.#parts.inUse.installation }
    this.#values = new Map()
  }

  /** A key that was loaded. */
  loaded(kv: KeyValue): void {
    if (!kv.key.startsWith(this.#prefix)) return
    const value = valueOf(kv)
    if (value !== undefined) this.#values.set(kv.key, value)
    this.#lost.delete(kv.key)
  }

  /** Everything was loaded. True: all keys were lost and are there again, so it must be loaded once more. */
  async putBackAll(): Promise<boolean> {
    const before = this.#before
    this.#before = undefined
    if (before === undefined || this.#values.size > 0 || before.of !== this.#parts.inUse.installation)
      return false
    for (const [key, value] of before.values) await this.#putBack(key, value)
    return true
  }

  /** The changes of a revision without the removals that no server has made. */
  withoutLosses(changes: readonly KeyChange[]): readonly KeyChange[] {
    for (const change of changes) if (change.kind === 'put') this.loaded(change.kv)
    const removed = changes.flatMap((change) =>
      change.kind === 'deleted' && this.#values.has(change.key) ? [change.key] : [],
    )
    if (removed.length === 0) return changes
    if (changes.some((change) => this.#isRequest(change))) {
      for (const key of removed) this.#values.delete(key)
      return changes
    }
    for (const key of removed) this.#lost.set(key, this.#values.get(key)!)
    void this.care().catch(() => undefined)
    return changes.filter((change) => change.kind === 'put' || !removed.includes(change.key))
  }

  /** Writes lost keys again. Call it once a second: etcd may be away. */
  async care(): Promise<void> {
    for (const [key, value] of this.#lost) {
      await this.#putBack(key, value)
      this.#lost.delete(key)
    }
  }

  #isRequest(change: KeyChange): boolean {
    return change.kind === 'put' && this.#parts.keys.read(change.kv.key)?.of === 'request'
  }

  async #putBack(key: string, value: Buffer): Promise<void> {
    const { client, keys, mended } = this.#parts
    const { succeeded } = await client.txn({
      compare: [
        { key, of: 'create', is: '=', to: 0 },
        { key: keys.of({ of: 'format' }), of: 'create', is: '>', to: 0 },
      ],
      success: [{ do: 'put', key, value }],
      isUnguarded: true,
    })
    if (succeeded) mended?.(key)
  }
}

/** Undefined: no server has written it, or it is sealed with a key that this server does not have. */
function valueOf(kv: KeyValue): Buffer | undefined {
  try {
    readRecord(SIGNING_KEY.name, '', kv.value)
    return Buffer.from(kv.value)
  } catch {
    return undefined
  }
}
