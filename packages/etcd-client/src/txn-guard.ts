import type { KeyCondition, Txn, TxnOperation, TxnOperationResult } from './messages.ts'

/** Conditions of all changes, besides the conditions of each. */
export interface TxnGuard {
  /** The conditions as they are now. Throws if nothing may be changed. */
  readonly compare: () => readonly KeyCondition[]
  /** Is read where a transaction has failed. */
  readonly reads: readonly TxnOperation[]
  /** Gets the results of these reads. Throws if nothing may be changed. Otherwise `compare` fits to them from then on. */
  readonly judge: (results: readonly TxnOperationResult[]) => void
}

/** Whether a transaction changes something, or confirms something: a range alone does neither. */
export function isGuarded({ isUnguarded, success, failure = [] }: Txn): boolean {
  return isUnguarded !== true && [...success, ...failure].some((operation) => operation.do !== 'range')
}

/** Whether both are the same conditions. */
export function areSame(one: readonly KeyCondition[], other: readonly KeyCondition[]): boolean {
  return (
    one.length === other.length &&
    one.every(({ key, to }, at) => {
      const { key: otherKey, to: otherTo } = other[at]!
      return key === otherKey && Buffer.from(to as Uint8Array).equals(otherTo as Uint8Array)
    })
  )
}
