import type { AuditLimit } from '../../../core/audit/audit-event.ts'
import { firstStampOf } from '../../../core/decisions/stamps.ts'
import type { EtcdClient } from '@waypost/etcd-client/etcd-client'
import type { TxnOperation } from '@waypost/etcd-client/messages'
import { prefixEnd } from '@waypost/etcd-client/range-end'
import type { KeyPlace, Keys } from '../keys/keys.ts'

/** How many events one step reads. */
const LOOKED_AT = 2_000
/** How many events are removed with one request. */
const AT_ONCE = 100

type AuditPlace = Extract<KeyPlace, { of: 'audit' }>

/** The result of looking at some events. */
interface Looked {
  readonly due: readonly string[]
  /** The place where the next step begins; undefined: all events were checked. */
  readonly next: string | undefined
}

/** Removes audit events beyond the limits, in small steps, newest first. The newest stays: later stamps must be larger. */
export class AuditCleaning {
  readonly #client: Pick<EtcdClient, 'range' | 'txn'>
  readonly #keys: Keys
  /** The place where the next step begins; undefined: at the newest event. */
  #from: string | undefined
  /** How many of the events checked since the newest one stay. */
  #kept = 0
  #keptRefused = 0
  /** The newest event was checked. */
  #hasNewest = false

  constructor(client: Pick<EtcdClient, 'range' | 'txn'>, keys: Keys) {
    this.#client = client
    this.#keys = keys
  }

  /** One step. The stamp of an event gives its age. `more`: older events were not checked. */
  async step(limit: AuditLimit): Promise<{ removed: number; more: boolean }> {
    if (this.#from === undefined) {
      this.#kept = this.#keptRefused = 0
      this.#hasNewest = false
    }
    const { due, next } = await this.#look(limit)
    for (let at = 0; at < due.length; at += AT_ONCE) {
      const success = due.slice(at, at + AT_ONCE).map((key): TxnOperation => ({ do: 'delete', key }))
      await this.#client.txn({ compare: [], success })
    }
    this.#from = next
    return { removed: due.length, more: next !== undefined }
  }

  async #look(limit: AuditLimit): Promise<Looked> {
    const all = this.#keys.every('audit')
    const { kvs, more } = await this.#client.range({
      key: this.#from ?? all,
      end: prefixEnd(all),
      limit: LOOKED_AT,
      keysOnly: true,
    })
    const due: string[] = []
    for (const { key } of kvs) {
      if (due.length === limit.most) return { due, next: key }
      const place = this.#keys.read(key)
      // A key that no server has written is not ours to remove.
      if (place?.of !== 'audit') continue
      const isNewest = !this.#hasNewest
      this.#hasNewest = true
      if (!this.#stays(place, limit) && !isNewest) due.push(key)
    }
    return { due, next: more ? `${kvs.at(-1)!.key}\0` : undefined }
  }

  /** Counts only events that stay, so removed refusals do not push out other events. */
  #stays({ stamp, isRefused }: AuditPlace, { beforeMs, keep, keepRefused }: AuditLimit): boolean {
    const isOld = stamp < firstStampOf(beforeMs)
    if (isOld || this.#kept >= keep || (isRefused && this.#keptRefused >= keepRefused)) return false
    this.#kept++
    if (isRefused) this.#keptRefused++
    return true
  }
}
