import type { KeyValue, Txn, TxnOperation, TxnOperationResult } from './messages.ts'
import type { KeyRevision } from './whole-revisions.ts'

/** The stored form of values, if it differs from the form for callers. */
export interface ValueForm {
  /** The value to keep. */
  readonly kept: (key: string, value: Uint8Array) => Uint8Array
  /** The key with the value that was written. If the value cannot be read, `value` throws when it is used. */
  readonly read: (kv: KeyValue) => KeyValue
}

/** The transaction with its values as they are kept. */
export function keptTxn(form: ValueForm, { compare, success, failure }: Txn): Txn {
  const kept = (operation: TxnOperation): TxnOperation => {
    if (operation.do === 'txn') return { do: 'txn', ...keptTxn(form, operation) }
    if (operation.do !== 'put') return operation
    const value = form.kept(operation.key, operation.value)
    return value === operation.value ? operation : { ...operation, value }
  }
  return { compare, success: success.map(kept), ...(failure && { failure: failure.map(kept) }) }
}

/** The result of a transaction, with the values as they were before they were written. */
export function readResult(form: ValueForm, result: TxnOperationResult): TxnOperationResult {
  if (result.did === 'range') return { ...result, kvs: result.kvs.map(form.read) }
  if (result.did !== 'txn') return result
  return { ...result, results: result.results.map((one) => readResult(form, one)) }
}

/** A revision of a watch, with the values that were written. */
export function readRevision(form: ValueForm, { revision, changes }: KeyRevision): KeyRevision {
  const read = changes.map((change) =>
    change.kind === 'put' ? { kind: change.kind, kv: form.read(change.kv) } : change,
  )
  return { revision, changes: read }
}
