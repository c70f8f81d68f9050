import type { Change } from '../decisions/changes.ts'
import { msOf } from '../decisions/stamps.ts'
import type { View } from '../decisions/view.ts'
import { recordSaved } from '../records/record-kind.ts'
import { DEFAULT_SWITCHES } from '../switches/switches.ts'
import { leastWaitMs, OF_ALL_CLIENTS, TOLD_INTERVAL, type ToldInterval } from '../switches/told-interval.ts'

/** The changes that keep the interval which clients were asked for, when the switch gets this value. */
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
