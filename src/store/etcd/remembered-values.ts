import type { EtcdClient } from './client/etcd-client.ts'
import { createOnce } from './create-once.ts'
import type { Keys } from './keys.ts'

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

  /** What is remembered, or else what `make` gives: all servers get the same, also if they start at once. */
  agree(name: string, make: () => string): Promise<string> {
    return createOnce(this.#client, this.#keyOf(name), make)
  }

  #keyOf(name: string): string {
    return this.#keys.of({ of: 'remembered', name })
  }
}
