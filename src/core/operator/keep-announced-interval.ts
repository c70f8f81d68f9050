import type { Change } from '../decisions/changes.ts'
import type { Now } from '../decisions/stamps.ts'
import type { View } from '../decisions/view.ts'
import { recordSaved } from '../records/record-kind.ts'
import { DEFAULT_SWITCHES } from '../switches/switches.ts'
import {
  leastWaitMs,
  OF_ALL_CLIENTS,
  ANNOUNCED_INTERVAL,
  type AnnouncedInterval,
} from '../switches/announced-interval.ts'

/** The changes that keep the interval which clients were asked for, when the switch gets this value. */
export function announcedChanges(
  view: View,
  nextMs: number | undefined,
  { stamp, wallMs, localOnly }: Pick<Now, 'stamp' | 'wallMs'> & { readonly localOnly: boolean },
): Change[] {
  if (nextMs === undefined) return []
  const { clientBeatInterval: nowMs } = view.switches
  const isLowered = nextMs < nowMs
  if (Math.max(nextMs, nowMs) <= DEFAULT_SWITCHES.clientBeatInterval || (!isLowered && !localOnly)) return []
  const value = isLowered
    ? { intervalMs: Math.max(nowMs, stillTold(view, wallMs)), endedAtMs: wallMs }
    : { intervalMs: nextMs }
  return [recordSaved<AnnouncedInterval>(ANNOUNCED_INTERVAL, { id: OF_ALL_CLIENTS, value, stamp })]
}

function stillTold(view: View, wallMs: number): number {
  const announced = view.record(ANNOUNCED_INTERVAL, OF_ALL_CLIENTS)
  if (announced?.endedAtMs === undefined) return 0
  return announced.endedAtMs + leastWaitMs(announced.intervalMs) > wallMs ? announced.intervalMs : 0
}
