import { fieldsOf } from '../../../core/records/shape.ts'
import { EtcdError } from '@waypost/etcd-client/etcd-error'

/** The ways out where data are missing. */
export const EMPTY_ADVICE =
  'Start etcd on the right data directory, or restore a backup into the prefix (`waypost restore`, `waypost copy-store`, ' +
  'or a snapshot of etcd). If the data may be lost, say so with `waypost confirm-empty --etcd-endpoints … --etcd-prefix …`.'

/** etcd has no data, or other data, where this server has seen its own. Nothing is written there. */
export class StoreEmpty extends EtcdError {
  /** The fact alone, without what the server does. */
  readonly fact: string
  /** The ways out. */
  readonly advice: string

  constructor(fact: string, advice = EMPTY_ADVICE) {
    super(
      'store-empty',
      `${fact} This server answers from memory, and refuses changes until an operator mends it.`,
    )
    this.fact = fact
    this.advice = advice
  }
}

/** The name of the remembered value with a {@link EmptyNotice}. */
export const STORE_EMPTY = 'store-empty'

/** A server misses its data, and tells servers that start. It stays until there are data again. */
export interface EmptyNotice {
  /** The id of the missing installation; null: it had no name yet. */
  readonly installation: string | null
  /** The server that has noticed. */
  readonly member: string
  /** The missing layout. */
  readonly layout: string
}

/** The stored bytes of a notice. */
export function noticeBytes(notice: EmptyNotice): Buffer {
  return Buffer.from(JSON.stringify(notice))
}

/** Reads stored bytes. A notice that cannot be read still says that somebody misses something. */
export function readNotice(bytes: Uint8Array): EmptyNotice {
  const or = (value: unknown): string => (typeof value === 'string' ? value : '')
  try {
    const fields = fieldsOf(JSON.parse(Buffer.from(bytes).toString()))
    const { installation } = fields
    const id = typeof installation === 'string' ? installation : null
    return { installation: id, member: or(fields['member']), layout: or(fields['layout']) }
  } catch {
    return { installation: null, member: '', layout: '' }
  }
}
