import { type Decision, unchanged } from './decision.ts'

/**
 * What became of a thing that somebody imports. `unchanged`: it is here like this. `kept`: what is here stays. Something that is
 * not allowed here throws a Refusal.
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
