import { judgeRemembered } from '../../../core/engine/remembered-values.ts'
import type { EtcdClient } from '@waypost/etcd-client/etcd-client'
import { createOnce } from './create-once.ts'
import type { Keys } from '../keys/keys.ts'
import { readingOf } from '../failures/unreadable.ts'

/** Small values that all servers remember together. */
export class RememberedValues {
  readonly #client: Pick<EtcdClient, 'range' | 'txn'>
  readonly #keys: Keys

  constructor(client: Pick<EtcdClient, 'range' | 'txn'>, keys: Keys) {
    this.#client = client
    this.#keys = keys
  }

  async remember(name: string, value: string): Promise<void> {
    const put = { do: 'put', key: this.#keyOf(name), value: Buffer.from(value) } as const
    await this.#client.txn({ compare: [], success: [put] })
  }

  async recall(name: string): Promise<string | undefined> {
    const { kvs } = await this.#client.range({ key: this.#keyOf(name) })
    return kvs[0] && Buffer.from(kvs[0].value).toString()
  }

  /** The value with the revision that wrote it. */
  async seen(name: string): Promise<{ readonly value: string; readonly revision: number } | undefined> {
    const { kvs } = await this.#client.range({ key: this.#keyOf(name) })
    return kvs[0] && { value: Buffer.from(kvs[0].value).toString(), revision: kvs[0].modRevision }
  }

  /** Replaces a value as it was seen. False: it has changed since. If the answer is lost, it may have been replaced. */
  async replace(name: string, { revision }: { readonly revision: number }, value: string): Promise<boolean> {
    const key = this.#keyOf(name)
    const put = { do: 'put', key, value: Buffer.from(value) } as const
    const unchanged = { key, of: 'mod', is: '=', to: revision } as const
    const { succeeded } = await this.#client.txn({ compare: [unchanged], success: [put] })
    return succeeded
  }

  /**
   * The remembered value, or else the result of `make`: all servers get the same value, also if they start at once. Rejects
   * with `UnreadableValue` if no server has written it.
   */
  async agree(name: string, make: () => string): Promise<string> {
    const key = this.#keyOf(name)
    const value = await createOnce(this.#client, key, make)
    readingOf(key, () => judgeRemembered(name, value))
    return value
  }

  #keyOf(name: string): string {
    return this.#keys.of({ of: 'remembered', name })
  }
}
