import type { Administrators } from './administrators.ts'
import type { PlanItem } from '../../move/plan.ts'

/** Which records of the history are read. */
export interface HistoryBound {
  readonly isWanted: boolean
  /** Epoch ms; -Infinity: all. */
  readonly sinceMs: number
}

/** What is not read once more. */
export interface EarlierPlan {
  hasRecord(item: PlanItem, oldId: string): boolean
}

/** What a reading of a source is to give, and where it shows how far it is. */
export interface PlanReading {
  /** `naming`: the other things come from a database. */
  readonly parts: 'all' | 'naming'
  readonly history: HistoryBound
  /** Whether ephemeral instances are read, for a warm swap. */
  readonly ephemeral: boolean
  /** What an earlier plan has. */
  readonly earlier: EarlierPlan
  readonly administrators: Administrators
  /** Shows how far a step is; a `total` of 0 is not known. */
  readonly show: (step: string, done: number, total: number) => void
}
