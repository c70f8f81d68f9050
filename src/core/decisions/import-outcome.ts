import { type Decision, unchanged } from './decision.ts'

/**
 * The outcome of an imported thing. `unchanged`: the same thing is here. `kept`: another one is here and stays. A thing
 * that is not allowed here throws a Refusal.
 */
export type ImportOutcome =
  | { readonly outcome: 'taken' }
  | { readonly outcome: 'unchanged' }
  | { readonly outcome: 'kept'; readonly reason: string }

/** The thing is here as the import has it. */
export const TAKEN: ImportOutcome = { outcome: 'taken' }

/** The thing was here like this. */
export const HERE_ALREADY: ImportOutcome = { outcome: 'unchanged' }

/** The decision to keep the present thing. */
export function keeping(reason: string): Decision<ImportOutcome> {
  return unchanged({ outcome: 'kept', reason })
}
