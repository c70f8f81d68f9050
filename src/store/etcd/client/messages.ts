import type { ResponseHeader } from './generated/rpc_pb.js'

/** A key as etcd has it. Numbers of revisions count commits, so they stay exact as `number`. */
export interface KeyValue {
  readonly key: string
  /** Part of a larger buffer: copy what is kept for long. */
  readonly value: Uint8Array
  /** The revision that created the key, the one that changed it last, and how often it was written since. */
  readonly createRevision: number
  readonly modRevision: number
  readonly version: number
  /** The lease that the key lives as long as, or 0. Leases have random numbers of 64 bits. */
  readonly lease: bigint
  /** The id of the key that the value was sealed with; absent: it was not sealed (`Sealing`). */
  readonly sealedBy?: string
}

/** One key, or all from `key` on and before `end`. `range-end.ts` computes the end of a prefix. */
export interface KeyRange {
  readonly key: string
  readonly end?: string
}

/**
 * A condition. Over a range it must hold for all keys there, and holds if there is none. A key that does not exist has
 * 0 in each number: `mod < n` holds for it.
 */
export interface KeyCondition extends KeyRange {
  readonly of: 'create' | 'mod' | 'version' | 'value'
  readonly is: '=' | '!=' | '<' | '>'
  /** A number, or the bytes of a value. */
  readonly to: number | Uint8Array
}

/** What a transaction does. */
export type TxnOperation =
  | { readonly do: 'put'; readonly key: string; readonly value: Uint8Array; readonly lease?: bigint }
  | ({ readonly do: 'delete' } & KeyRange)
  | ({ readonly do: 'range'; readonly limit?: number; readonly countOnly?: boolean } & KeyRange)
  | ({ readonly do: 'txn' } & Txn)

/** If all comparisons hold then one list of operations is done, else the other. All of it in one revision. */
export interface Txn {
  readonly compare: readonly KeyCondition[]
  readonly success: readonly TxnOperation[]
  readonly failure?: readonly TxnOperation[]
}

/** What a transaction did. */
export interface TxnResult {
  /** etcd's revision afterwards. It is the transaction's own if it has changed anything. */
  readonly revision: number
  /** Whether all comparisons held. */
  readonly succeeded: boolean
  readonly results: readonly TxnOperationResult[]
}

/** What an operation did. */
export type TxnOperationResult =
  | { readonly did: 'put' }
  | { readonly did: 'delete'; readonly deleted: number }
  | {
      readonly did: 'range'
      readonly kvs: readonly KeyValue[]
      readonly count: number
      readonly more: boolean
    }
  | ({ readonly did: 'txn' } & TxnResult)

/** A key or a range as it is sent. */
export function toRange({ key, end }: KeyRange): { key: Uint8Array; rangeEnd: Uint8Array } {
  return { key: Buffer.from(key), rangeEnd: end === undefined ? NO_BYTES : Buffer.from(end) }
}

const NO_BYTES = new Uint8Array()

/** True if the transaction cannot change anything, so that it may be repeated. */
export function onlyReads(txn: Txn): boolean {
  return [...txn.success, ...(txn.failure ?? [])].every(
    (operation) => operation.do === 'range' || (operation.do === 'txn' && onlyReads(operation)),
  )
}

/** The revision of etcd when it answered; 0 in an answer of a part of a transaction, which has none. */
export function revisionOf(header: ResponseHeader | undefined): number {
  return header === undefined ? 0 : toNumber(header.revision)
}

/** A number of 64 bits that counts something. Throws where it would not be exact. */
export function toNumber(value: bigint): number {
  const number = Number(value)
  if (!Number.isSafeInteger(number)) throw new Error(`etcd sent the number ${value}, which is too large`)
  return number
}
