import { serverStatus, serves } from '../../../core/operator/server-status.ts'
import { Refusal } from '../../../core/refusal.ts'
import type { State } from '../../../core/state.ts'
import { originFormOf } from '../../parameters/request-target.ts'
import { TEXT } from '../routing/answers.ts'
import type { Answer, Route } from '../routing/route.ts'

/**
 * What operators have closed: the URLs of the switch limitedUrlMap, and naming while the server's status is
 * overridden. Operator routes always answer, so that both can be lifted, and so do measurements. Throws Refusal `server-status`.
 */
export function serverGate(state: State): (route: Route, rawUrl: string) => Answer | undefined {
  return (route, rawUrl) => {
    const { resource, action } = route.permission
    if (resource === 'operator' || resource === 'metrics' || resource === 'public') return undefined
    const { switches } = state
    const limited = limitOf(switches.limitedUrlMap, originFormOf(rawUrl))
    if (limited !== undefined) return { status: limited, contentType: TEXT, body: '' }
    const status = serverStatus(switches)
    if (resource !== 'naming' || serves(status, action)) return undefined
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
