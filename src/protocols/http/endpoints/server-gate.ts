import { serverStatus, serves } from '../../../core/operator/server-status.ts'
import { Refusal } from '../../../core/refusal.ts'
import type { State } from '../../../core/state.ts'
import { originFormOf } from '../../parameters/request-target.ts'
import { TEXT } from '../routing/answers.ts'
import type { Answer, Route } from '../routing/route.ts'

/** Why a server cannot answer naming requests though others can; undefined while it can. */
type CutOff = () => { readonly reason: string } | undefined

/**
 * What operators have closed: the URLs of the switch limitedUrlMap, and naming while the server's status is
 * overridden. Operator routes always answer, so that both can be lifted, and so do measurements. Naming is closed also while
 * this server alone is cut off from the store: clients must use another one. Throws Refusals `server-status` and `cut-off`.
 */
export function serverGate(
  state: State,
  cutOff?: CutOff,
): (route: Route, rawUrl: string) => Answer | undefined {
  return (route, rawUrl) => {
    const { resource, action } = route.permission
    if (resource === 'operator' || resource === 'metrics' || resource === 'public') return undefined
    const { switches } = state
    const limited = limitOf(switches.limitedUrlMap, originFormOf(rawUrl))
    if (limited !== undefined) return { status: limited, contentType: TEXT, body: '' }
    if (resource !== 'naming') return undefined
    const lost = cutOff?.()
    if (lost !== undefined) throw new Refusal('cut-off', lost.reason, { retryAfterSeconds: 5 })
    const status = serverStatus(switches)
    if (serves(status, action)) return undefined
    throw new Refusal(
      'server-status',
      `The server is ${status}: an operator has set overriddenServerStatus.`,
      {
        names: { status },
      },
    )
  }
}

function limitOf(limits: Readonly<Record<string, number>>, target: string): number | undefined {
  for (const prefix in limits) if (target.startsWith(prefix)) return limits[prefix]
  return undefined
}
