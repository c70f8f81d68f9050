import type { ResponseHeader } from './generated/rpc_pb.js'
import { keyBytes } from './key-text.ts'

/** A key as etcd has it. Numbers of revisions count commits, so they stay exact as `number`. */
export interface KeyValue {
  /** See `keyText`: also keys that are no UTF-8 have a text of their own. */
  readonly key: string
  /** Part of a larger buffer: copy a value that is kept for long. */
  readonly value: Uint8Array
  /** The revision that created the key, the revision of its last change, and the number of writes since. */
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
 * A condition. It must hold for all keys of a range, also an empty one. A missing key has 0 in each number: `mod < n`
 * holds.
 */
export interface KeyCondition extends KeyRange {
  readonly of: 'create' | 'mod' | 'version' | 'value'
  readonly is: '=' | '!=' | '<' | '>'
  /** A number, or the bytes of a value. */
  readonly to: number | Uint8Array
}

/** An operation of a transaction. */
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
  /** It is done whatever the guard of the client says (`TxnGuard`). */
  readonly isUnguarded?: true
}

/** The result of a transaction. */
export interface TxnResult {
  /** etcd's revision afterwards. It is the transaction's own if it has changed anything. */
  readonly revision: number
  /** Whether all comparisons held. */
  readonly succeeded: boolean
  readonly results: readonly TxnOperationResult[]
}

/** The result of an operation. */
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
  return { key: keyBytes(key), rangeEnd: end === undefined ? NO_BYTES : keyBytes(end) }
}

const NO_BYTES = new Uint8Array()

/** True if the transaction cannot change anything, so that it may be repeated. */
export function onlyReads(txn: Txn): boolean {
  return [...txn.success, ...(txn.failure ?? [])].every(
    (operation) => operation.do === 'range' || (operation.do === 'txn' && onlyReads(operation)),
  )
}

/** The revision of etcd when it answered; 0 in the answer of a nested transaction, which has no revision. */
export function revisionOf(header: ResponseHeader | undefined): number {
  return header === undefined ? 0 : toNumber(header.revision)
}

/** A number of 64 bits that counts something. Throws where it would not be exact. */
export function toNumber(value: bigint): number {
  const number = Number(value)
  if (!Number.isSafeInteger(number)) throw new Error(`etcd sent the number ${value}, which is too large`)
  return number
}
