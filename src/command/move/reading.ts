import type { Administrators } from './administrators.ts'
import type { PlanItem } from '../../move/plan.ts'

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
