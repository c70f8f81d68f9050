import type { AuditEvent } from '../../core/audit/audit-event.ts'
import type { AuditLimit, AuditSearch, FoundEvents } from '../../core/audit/audit-search.ts'
import { firstStampOf } from '../../core/stamps.ts'
import type { EtcdClient } from './client/etcd-client.ts'
import type { Operation } from './client/messages.ts'
import { prefixEnd } from './client/range-end.ts'
import type { Keys } from './keys.ts'
import { fromJson, toJson } from './values.ts'

/** How many events one search looks at. */
const LOOKED_AT = 2_000
/** How many events are written or removed with one request. */
const AT_ONCE = 100

/** The events of the audit, of all servers: a key for each, newest first. */
export class AuditKeys {
  readonly #client: Pick<EtcdClient, 'range' | 'txn'>
  readonly #keys: Keys
  readonly #member: string

  /** `member`: tells events of one stamp on two servers apart. */
  constructor(client: Pick<EtcdClient, 'range' | 'txn'>, keys: Keys, member: string) {
    this.#client = client
    this.#keys = keys
    this.#member = member
  }

  /** See the port. Writing an event twice changes nothing, so a lost answer is no harm. */
  async save(events: readonly AuditEvent[]): Promise<void> {
    const puts = events.map((event): Operation => {
      return { do: 'put', key: this.#keyOf(event), value: toJson(event) }
    })
    await this.#inSteps(puts)
  }

  /** See the port. */
  async find(search: AuditSearch, most: number): Promise<FoundEvents> {
    const { before } = search
    const key = before === undefined ? this.#keys.every('audit') : this.#keys.auditBefore(before)
    const { kvs, more } = await this.#client.range({ key, end: this.#end, limit: LOOKED_AT })
    const all = kvs.map(({ value }) => fromJson(value) as AuditEvent)
    const floor = firstStampOf(search.fromMs ?? 0)
    const looked = all.filter(({ id }) => id >= floor)
    const events = looked.filter((event) => matches(event, search)).slice(0, most)
    const reached = events.length === most ? events.at(-1)?.id : looked.at(-1)?.id
    const isMore = events.length === most || (more && looked.length === all.length)
    return { events, goOn: isMore ? reached : undefined }
  }

  /** See the port. The newest event always stays. */
  async clean({
    beforeMs,
    keep,
    keepRefused,
    most,
  }: AuditLimit): Promise<{ removed: number; more: boolean }> {
    const { kvs } = await this.#client.range({
      key: this.#keys.every('audit'),
      end: this.#end,
      keysOnly: true,
    })
    const refused = kvs.filter(({ key }) => this.#isRefused(key)).slice(keepRefused)
    const old = this.#keys.auditBefore(firstStampOf(beforeMs))
    const due = new Set([
      ...refused.map(({ key }) => key),
      ...kvs.slice(keep).map(({ key }) => key),
      ...kvs.filter(({ key }) => key >= old).map(({ key }) => key),
    ])
    if (kvs[0] !== undefined) due.delete(kvs[0].key)
    const now = [...due].slice(-most)
    await this.#inSteps(now.map((key): Operation => ({ do: 'delete', key })))
    return { removed: now.length, more: due.size > now.length }
  }

  get #end(): string {
    return prefixEnd(this.#keys.every('audit'))
  }

  #keyOf({ id: stamp, result }: AuditEvent): string {
    return this.#keys.of({ of: 'audit', stamp, isRefused: result !== 'done', member: this.#member })
  }

  #isRefused(key: string): boolean {
    const place = this.#keys.read(key)
    return place?.of === 'audit' && place.isRefused
  }

  async #inSteps(operations: readonly Operation[]): Promise<void> {
    for (let from = 0; from < operations.length; from += AT_ONCE)
      await this.#client.txn({ compare: [], success: operations.slice(from, from + AT_ONCE) })
  }
}

function matches(event: AuditEvent, search: AuditSearch): boolean {
  const { username, operation, itemPart, ip, result, fromMs, toMs } = search
  return (
    (username === undefined || event.username === username) &&
    (operation === undefined || event.operation === operation) &&
    (itemPart === undefined || event.item.includes(itemPart)) &&
    (ip === undefined || event.ip === ip) &&
    (result === undefined || event.result === result) &&
    (fromMs === undefined || event.atMs >= fromMs) &&
    (toMs === undefined || event.atMs <= toMs)
  )
}
