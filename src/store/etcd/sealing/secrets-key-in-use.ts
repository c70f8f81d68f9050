import { memberIdOf } from '../../../core/cluster/members/member-records.ts'
import { SECRETS_KEY } from '../../../core/engine/remembered-values.ts'
import type { EtcdClient } from '@waypost/etcd-client/etcd-client'
import { EtcdError } from '@waypost/etcd-client/etcd-error'
import type { KeyCondition, KeyValue, TxnOperationResult } from '@waypost/etcd-client/messages'
import { prefixEnd } from '@waypost/etcd-client/range-end'
import type { Keys } from '../keys/keys.ts'
import { readingOf } from '../failures/unreadable.ts'
import { memberOf } from '../keys/living-members.ts'
import type { Sealing } from './sealing.ts'

/** The dependencies of `SecretsKeyInUse`. */
export interface SecretsKeyParts {
  readonly client: Pick<EtcdClient, 'range' | 'txn'>
  readonly keys: Keys
  readonly sealing: Sealing
}

/** How many servers may join or leave while a key is taken into use. */
const MOST_TRIES = 5

/**
 * The key with which all servers seal secrets: etcd has its id. It is taken into use when all servers have it first
 * among their keys, so that every server can read sealed values.
 */
export class SecretsKeyInUse {
  readonly #parts: SecretsKeyParts
  readonly #key: string

  constructor(parts: SecretsKeyParts) {
    this.#parts = parts
    this.#key = parts.keys.of({ of: 'remembered', name: SECRETS_KEY.name })
  }

  /** Seals as the others do from now on. Throws `MissingSecretsKey` if this process does not have the key, and `UnreadableValue`. */
  async look(): Promise<void> {
    const { kvs } = await this.#parts.client.range({ key: this.#key })
    const { sealing } = this.#parts
    // Nobody withdraws a key without another one: a missing id is lost.
    if (kvs[0] === undefined && sealing.writesWith !== undefined) return
    sealing.writeWith(kvs[0] && readingOf(this.#key, () => SECRETS_KEY.read(textOf(kvs[0]!))))
  }

  /** The same before loading. If no key is in use, and no other server has another first key, takes the first own key. */
  async begin(): Promise<void> {
    await this.look()
    const { ids, writesWith } = this.#parts.sealing
    if (writesWith === undefined && ids[0] !== undefined) await this.take(ids[0])
  }

  /**
   * Takes the first own key into use. Returns the servers with another first key: then nothing changes. Rejects with
   * `EtcdError`.
   */
  async take(id: string): Promise<readonly string[]> {
    const { sealing, client } = this.#parts
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const { revision, current, without } = await this.#seen(id)
      if (without.length > 0) return without
      if (current === undefined || textOf(current) !== id) {
        const members = this.#parts.keys.every('member')
        const compare: KeyCondition[] = [
          { key: this.#key, of: 'mod', is: '=', to: current?.modRevision ?? 0 },
          { key: members, end: prefixEnd(members), of: 'mod', is: '<', to: revision + 1 },
        ]
        const put = { do: 'put', key: this.#key, value: Buffer.from(id) } as const
        if (!(await client.txn({ compare, success: [put] })).succeeded) continue
      }
      sealing.writeWith(id)
      return []
    }
    throw new EtcdError('unavailable', 'Too many servers join or leave at once.')
  }

  async #seen(id: string) {
    const prefix = this.#parts.keys.every('member')
    const { revision, results } = await this.#parts.client.txn({
      compare: [],
      success: [
        { do: 'range', key: this.#key },
        { do: 'range', key: prefix, end: prefixEnd(prefix) },
      ],
    })
    const [[current] = [], found = []] = results.map(kvsOf)
    const members = found.flatMap((kv) => memberOf(kv) ?? [])
    const without = members.filter(({ secretsKeys }) => secretsKeys?.[0] !== id)
    return { revision, current, without: without.map(memberIdOf) }
  }
}

function textOf({ value }: KeyValue): string {
  return Buffer.from(value).toString()
}

function kvsOf(result: TxnOperationResult): readonly KeyValue[] {
  return result.did === 'range' ? result.kvs : []
}
