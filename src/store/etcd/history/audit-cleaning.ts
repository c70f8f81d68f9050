import type { AuditLimit } from '../../../core/audit/audit-event.ts'
import { firstStampOf } from '../../../core/decisions/stamps.ts'
import type { EtcdClient } from '../client/etcd-client.ts'
import type { TxnOperation } from '../client/messages.ts'
import { prefixEnd } from '../client/range-end.ts'
import type { Keys } from '../keys/keys.ts'

/** How many events one step reads. */
const LOOKED_AT = 2_000
/** How many events are removed with one request. */
const AT_ONCE = 100

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

  constructor(client: Pick<EtcdClient, 'range' | 'txn'>, keys: Keys) {
    this.#client = client
    this.#keys = keys
  }

  /** One step. The stamp of an event gives its age. `more`: older events were not checked. */
  async step(limit: AuditLimit): Promise<{ removed: number; more: boolean }> {
    if (this.#from === undefined) this.#kept = this.#keptRefused = 0
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
      const isNewest = this.#from === undefined && key === kvs[0]?.key
      if (!this.#stays(key, limit) && !isNewest) due.push(key)
    }
    return { due, next: more ? `${kvs.at(-1)!.key}\0` : undefined }
  }

  /** Counts only events that stay, so removed refusals do not push out other events. */
  #stays(key: string, { beforeMs, keep, keepRefused }: AuditLimit): boolean {
    const place = this.#keys.read(key)
    const isRefused = place?.of === 'audit' && place.isRefused
    const isOld = key >= this.#keys.auditBefore(firstStampOf(beforeMs))
    if (isOld || this.#kept >= keep || (isRefused && this.#keptRefused >= keepRefused)) return false
    this.#kept++
    if (isRefused) this.#keptRefused++
    return true
  }
}
