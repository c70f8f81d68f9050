import type { Liveness } from '../../naming/liveness/liveness.ts'
import type { InstancePlace } from '../../naming/state/presence.ts'
import type { Silence } from '../../naming/liveness/silence.ts'
import type { State } from '../../engine/state.ts'

/** What a server answers about instances: for how long it has not heard each. */
export function silencesOf(
  places: readonly InstancePlace[],
  { state, liveness }: { readonly state: State; readonly liveness: Liveness },
  nowMs: number,
): Silence[] {
  return places.map(({ serviceKey, address }) => {
    const instance = state.instance(serviceKey, address)
    // Nobody has heard what does not beat. An instance that this server does not know yet, it has not heard either.
    if (instance === undefined || !liveness.isWatched(instance)) return { kind: 'unknown' }
    const { isHeard, heardMs } = liveness.hearingOf(instance)
    return { kind: isHeard ? 'heard' : 'learned', agoMs: nowMs - heardMs }
  })
}
