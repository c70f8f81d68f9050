import { defineRecordKind } from '../records/record-kind.ts'
import { fieldsOf } from '../records/shape.ts'

/** An interval between beats that clients were asked for, and that was lowered since. */
export interface AnnouncedInterval {
  readonly intervalMs: number
  /** When it was lowered, epoch ms; absent: it was in force on one server alone, until that server stops. */
  readonly endedAtMs?: number
}

/** A client learns of a lower interval with its next beat. There is one record, of the interval that was lowered last. */
export const ANNOUNCED_INTERVAL = defineRecordKind<AnnouncedInterval>('announced-interval', (json) => {
  const { intervalMs, endedAtMs } = fieldsOf(json)
  if (typeof intervalMs !== 'number') throw new Error('its interval is not a number')
  return { intervalMs, ...(typeof endedAtMs === 'number' ? { endedAtMs } : {}) }
})

/** The id of the only record. */
export const OF_ALL_CLIENTS = 'all'

/** The least wait for a client that beats this often, ms: one beat may be lost, and another one late. */
export function leastWaitMs(intervalMs: number): number {
  return 2 * intervalMs + 1_000
}
