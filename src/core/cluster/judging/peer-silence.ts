import type { Liveness } from '../../naming/liveness/liveness.ts'
import type { InstancePlace } from '../../naming/state/presence.ts'
import type { Silence } from '../../naming/liveness/silence.ts'
import type { State } from '../../engine/state.ts'

/** The answer of a server about instances: how long ago each last beat here. */
export function silencesOf(
  places: readonly InstancePlace[],
  { state, liveness }: { readonly state: State; readonly liveness: Liveness },
  nowMs: number,
): Silence[] {
  return places.map(({ serviceKey, address }) => {
    const instance = state.instance(serviceKey, address)
    // An instance that does not beat is unknown, and so is one that this server does not know yet.
    if (instance === undefined || !liveness.isWatched(instance)) return { kind: 'unknown' }
    const { isBeat, atMs } = liveness.lastBeatOf(instance)
    return { kind: isBeat ? 'heard' : 'learned', agoMs: nowMs - atMs }
  })
}
