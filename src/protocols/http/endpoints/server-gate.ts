import type { State } from '../../../core/engine/state.ts'
import { type CutOff, requireServing } from '../../../operations/server/serving.ts'
import { originFormOf } from '../../parameters/request-target.ts'
import { TEXT } from '../routing/answers.ts'
import type { Route, Answer } from '../routing/route.ts'

/**
 * Refuses requests that operators have closed: URLs of the switch limitedUrlMap, and naming (`requireServing`). Operator
 * routes and measurements always answer, so that both can be lifted. Throws Refusals `server-status` and `cut-off`.
 */
export function serverGate(
  state: State,
  cutOff?: CutOff,
): (route: Route, rawUrl: string) => Answer | undefined {
  const require = requireServing(state, cutOff)
  return ({ permission }, rawUrl) => {
    const { resource } = permission
    if (resource === 'operator' || resource === 'metrics' || resource === 'public') return undefined
    const limited = limitOf(state.switches.limitedUrlMap, originFormOf(rawUrl))
    if (limited !== undefined) return { status: limited, contentType: TEXT, body: '' }
    require(permission)
    return undefined
  }
}

function limitOf(limits: Readonly<Record<string, number>>, target: string): number | undefined {
  for (const prefix in limits) if (target.startsWith(prefix)) return limits[prefix]
  return undefined
}
