import { serverStatus, serves } from '../../core/operator/server-status.ts'
import { Refusal } from '../../core/refusal.ts'
import type { State } from '../../core/engine/state.ts'
import type { Permission } from '../authorisation.ts'

/** Why a server cannot answer naming requests though others can; undefined while it can. */
export type CutOff = () => { readonly reason: string } | undefined

/**
 * Throws where naming is closed. `server-status`: the server's status is overridden. `cut-off`: this server
 * alone is cut off from the store, so clients must use another one. Everything else is served.
 */
export function requireServing(
  state: Pick<State, 'switches'>,
  cutOff?: CutOff,
): (permission: Permission) => void {
  return ({ resource, action }) => {
    if (resource !== 'naming') return
    const lost = cutOff?.()
    if (lost !== undefined) throw new Refusal('cut-off', lost.reason, { retryAfterSeconds: 5 })
    const status = serverStatus(state.switches)
    if (serves(status, action)) return
    const message = `The server is ${status}: an operator has set overriddenServerStatus.`
    throw new Refusal('server-status', message, { names: { status } })
  }
}
