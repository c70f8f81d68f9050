import type { PlanItem, PlanNote } from '../plan/plan.ts'

/** Which records of the history are read. */
export interface HistoryBound {
  readonly isWanted: boolean
  /** Epoch ms; -Infinity: all. */
  readonly sinceMs: number
}

/** The records of an earlier plan, which are not read once more. */
export interface EarlierPlan {
  hasRecord(item: PlanItem, oldId: string): boolean
}

/** The parts to read from a source, and the display of progress. */
export interface PlanReading {
  /** `naming`: the other things come from a database. */
  readonly parts: 'all' | 'naming'
  readonly history: HistoryBound
  /** Whether ephemeral instances are read, for a warm swap. */
  readonly ephemeral: boolean
  /** The earlier plan. */
  readonly earlier: EarlierPlan
  readonly administrators: Administrators
  /** Shows how far a step is; a `total` of 0 is not known. */
  readonly show: (step: string, done: number, total: number) => void
}

/** The administrators of here: these users, or all who are administrators of the source. */
export type Administrators = ReadonlySet<string> | 'as-there'

/** The names of `--administrators`. */
export function administratorsIn(text = ''): ReadonlySet<string> {
  return new Set(text.split(',').filter((name) => name !== ''))
}

/** The names without a user: after a slip in a name nobody would be an administrator, and nobody would notice. */
export function unknownAmong(names: Administrators, users: ReadonlySet<string>): string[] {
  return names === 'as-there' ? [] : [...names].filter((name) => !users.has(name))
}

/** The note for a thing that should come, and does not: unreadable, or invalid. A plan with such a note exits with 1. */
export function missedNote(about: string, name: string, reason: string): PlanNote {
  return { kind: 'cannot-come', about, name, reason, missed: true }
}

/** Whether somebody must look at a note before the plan is applied. Other things stay behind by rule, such as tag versions over HTTP. */
export function isForPeople({ kind, missed }: PlanNote): boolean {
  return kind === 'conflict' || missed === true
}
