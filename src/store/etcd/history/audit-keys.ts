import type { AuditEvent, AuditLimit, AuditSearch, FoundEvents } from '../../../core/audit/audit-event.ts'
import { firstStampOf } from '../../../core/decisions/stamps.ts'
import { fieldsOf, numberIn, textIn } from '../../../core/records/shape.ts'
import { AuditCleaning } from './audit-cleaning.ts'
import type { EtcdClient } from '@waypost/etcd-client/etcd-client'
import type { KeyValue, TxnOperation } from '@waypost/etcd-client/messages'
import { prefixEnd } from '@waypost/etcd-client/range-end'
import type { Keys } from '../keys/keys.ts'
import { fromJson, toJson } from '../keys/values.ts'

/** How many events one search reads: a few milliseconds. */
const LOOKED_AT = 1_000
/** How many events are written with one request. */
const AT_ONCE = 100

/** The events of the audit, of all servers: a key for each, newest first. */
export class AuditKeys {
  readonly #client: Pick<EtcdClient, 'range' | 'txn'>
  readonly #keys: Keys
  readonly #member: string
  readonly #cleaning: AuditCleaning

  /** `member` distinguishes events of one stamp on two servers. */
  constructor(client: Pick<EtcdClient, 'range' | 'txn'>, keys: Keys, member: string) {
    this.#client = client
    this.#keys = keys
    this.#member = member
    this.#cleaning = new AuditCleaning(client, keys)
  }

  /** See the port. Writing an event twice changes nothing, so a lost answer is no harm. */
  async save(events: readonly AuditEvent[]): Promise<void> {
    const puts = events.map((event): TxnOperation => {
      return { do: 'put', key: this.#keyOf(event), value: toJson(event) }
    })
    await this.#inSteps(puts)
  }

  /** See the port. */
  async find(search: AuditSearch, most: number): Promise<FoundEvents> {
    const { before } = search
    const key = before === undefined ? this.#keys.every('audit') : this.#keys.auditBefore(before)
    const { kvs, more } = await this.#client.range({ key, end: this.#end, limit: LOOKED_AT })
    const read = kvs.flatMap((kv) => this.#eventOf(kv) ?? [])
    const all = more ? wholeStamps(read) : read
    const floor = firstStampOf(search.fromMs ?? 0)
    const looked = all.filter(({ id }) => id >= floor)
    const matching = looked.filter((event) => matches(event, search))
    const last = matching[most - 1]?.id
    const events = matching.filter(({ id }, index) => index < most || id === last)
    const isFull = matching.length > events.length
    const reached = isFull ? events.at(-1)?.id : looked.at(-1)?.id
    const isMore = isFull || (more && looked.length === all.length)
    return { events, goOn: isMore ? reached : undefined }
  }

  /** See the port. */
  clean(limit: AuditLimit): Promise<{ removed: number; more: boolean }> {
    return this.#cleaning.step(limit)
  }

  get #end(): string {
    return prefixEnd(this.#keys.every('audit'))
  }

  /** Undefined: no server has written this key, or this value. */
  #eventOf({ key, value }: KeyValue): AuditEvent | undefined {
    if (this.#keys.read(key)?.of !== 'audit') return undefined
    try {
      return eventOf(value)
    } catch {
      return undefined
    }
  }

  #keyOf({ id: stamp, result }: AuditEvent): string {
    return this.#keys.of({ of: 'audit', stamp, isRefused: result !== 'done', member: this.#member })
  }

  async #inSteps(operations: readonly TxnOperation[]): Promise<void> {
    for (let from = 0; from < operations.length; from += AT_ONCE)
      await this.#client.txn({ compare: [], success: operations.slice(from, from + AT_ONCE) })
  }
}

/** The event of a value. Throws a ShapeError, or a SyntaxError. */
export function eventOf(value: Uint8Array): AuditEvent {
  const fields = fieldsOf(fromJson(value))
  numberIn(fields, 'id')
  textIn(fields, 'item')
  return fields as unknown as AuditEvent
}

/**
 * Events without the last stamp, which more events may have: two servers may have events of one stamp, and a search
 * continues with lower stamps.
 */
function wholeStamps(events: readonly AuditEvent[]): readonly AuditEvent[] {
  const last = events.at(-1)?.id
  const whole = events.filter(({ id }) => id !== last)
  return whole.length > 0 ? whole : events
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
