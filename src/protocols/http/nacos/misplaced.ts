import { Refusal } from '../../../core/refusal.ts'

/** Refuses a publish that says in another place than the query, or in another spelling, that it is none. */
export function refuseMisplaced(said: Readonly<Record<string, boolean | undefined>>): void {
  for (const [parameter, isSaid] of Object.entries(said)) {
    if (isSaid !== true) continue
    const allowed = '`true` in the query'
    throw new Refusal('invalid-parameter', `${parameter} must be ${allowed}.`, { parameter, allowed })
  }
}
