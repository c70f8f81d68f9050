import type { PlanNote } from '../../move/plan.ts'

/** The note for a thing that should come, and does not: unreadable, or invalid. A plan with such a note exits with 1. */
export function missedNote(about: string, name: string, reason: string): PlanNote {
  return { kind: 'cannot-come', about, name, reason, missed: true }
}

/** Whether somebody must look at a note before the plan is applied. Other things stay behind by rule, such as tag versions over HTTP. */
export function isForPeople({ kind, missed }: PlanNote): boolean {
  return kind === 'conflict' || missed === true
}
