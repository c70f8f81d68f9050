import type { Change } from '../decisions/changes.ts'
import { msOf } from '../decisions/stamps.ts'
import type { View } from '../decisions/view.ts'
import { defineRecordKind, recordSaved } from '../records/record-kind.ts'
import { fieldsOf } from '../records/shape.ts'
import { DEFAULT_SWITCHES } from './switches.ts'

/** An interval between beats that clients were asked for, and that was lowered since. */
export interface ToldInterval {
  readonly intervalMs: number
  /** When it was lowered, epoch ms; absent: it was in force on one server alone, until that server stops. */
  readonly endedAtMs?: number
}

/** A client learns of a lower interval with its next beat. There is one record, of the interval that was lowered last. */
export const TOLD_INTERVAL = defineRecordKind<ToldInterval>('told-interval', (json) => {
  const { intervalMs, endedAtMs } = fieldsOf(json)
  if (typeof intervalMs !== 'number') throw new Error('its interval is not a number')
  return { intervalMs, ...(typeof endedAtMs === 'number' ? { endedAtMs } : {}) }
})

/** The id of the only record. */
const OF_ALL_CLIENTS = 'all'

/** The least wait for a client that beats this often, ms: one beat may be lost, and another one late. */
export function leastWaitMs(intervalMs: number): number {
  return 2 * intervalMs + 1_000
}

/** The changes that keep the interval which clients were told, when the switch gets this value. */
export function toldChanges(
  view: View,
  nextMs: number | undefined,
  { stamp, localOnly }: { readonly stamp: number; readonly localOnly: boolean },
): Change[] {
  if (nextMs === undefined) return []
  const { clientBeatInterval: nowMs } = view.switches
  const isLowered = nextMs < nowMs
  if (Math.max(nextMs, nowMs) <= DEFAULT_SWITCHES.clientBeatInterval || (!isLowered && !localOnly)) return []
  const value = isLowered
    ? { intervalMs: Math.max(nowMs, stillTold(view, stamp)), endedAtMs: msOf(stamp) }
    : { intervalMs: nextMs }
  return [recordSaved<ToldInterval>(TOLD_INTERVAL, { id: OF_ALL_CLIENTS, value, stamp })]
}

function stillTold(view: View, stamp: number): number {
  const told = view.record(TOLD_INTERVAL, OF_ALL_CLIENTS)
  if (told?.endedAtMs === undefined) return 0
  return told.endedAtMs + leastWaitMs(told.intervalMs) > msOf(stamp) ? told.intervalMs : 0
}
