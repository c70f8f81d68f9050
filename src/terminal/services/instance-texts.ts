import type { ExplainedInstance, ShownInstance } from '../answers.ts'
import { spanText } from '../../command/command-line.ts'

/** Why an instance is healthy or not, and since when. */
export function healthText({ health, lastBeatAgoMs }: ShownInstance): string {
  const { reason, check, connection } = health
  const beat = lastBeatAgoMs === null ? '' : `last beat ${spanText(lastBeatAgoMs)} ago`
  switch (reason) {
    case 'beat':
    case 'beat-timeout':
      return beat === '' ? 'beats at another server' : beat
    case 'probe':
      return check === null ? 'another server probes it' : `probe ${check.type}: ${check.text}`
    case 'connection':
      return connectionText(connection)
    case 'operator':
      return ['set by an operator', beat].filter((part) => part !== '').join(', ')
    case 'never':
      return 'nobody has looked at it yet'
  }
}

function connectionText(connection: ShownInstance['health']['connection']): string {
  switch (connection?.where) {
    case undefined:
      return 'connection'
    case 'gone':
      return 'the server of its connection is gone'
    case 'elsewhere':
      return `connected to ${connection.server ?? 'another server'}`
    case 'here': {
      const { connectedMs, library, silentMs } = connection
      if (silentMs !== null) return `silent for ${spanText(silentMs)}`
      const since = connectedMs === null ? 'connected' : `connected ${spanText(Date.now() - connectedMs)} ago`
      return library === null || library === '' ? since : `${since}, ${library}`
    }
  }
}

/** When an instance leaves the list by itself, if it does. */
export function leavesText({ expiresInMs, healthy, health: { connection } }: ShownInstance): string {
  const leavesMs = connection === null ? expiresInMs : connection.removedInMs
  if (leavesMs === null || (connection === null && healthy)) return ''
  return `in ${spanText(leavesMs)}`
}

/** Whether an instance is enabled, or else who has disabled it, and when. */
export function enabledText({ enabled, disabled }: ShownInstance): string {
  if (enabled) return 'yes'
  if (disabled === null) return 'no'
  const { atMs, user, fromIp, cause } = disabled
  const who = cause === 'operator' ? (user ?? fromIp ?? 'an operator') : `the ${cause}`
  return `no: by ${who}, ${spanText(Date.now() - atMs)} ago`
}

/** The fields that operators have set, with the value of the application, who set each, and when. */
export function overridesText({ overrides }: Pick<ShownInstance, 'overrides'>): string {
  return overrides
    .map(({ field, value, application, atMs, user, fromIp }) => {
      const said = application === null ? '' : ` (application: ${application})`
      const who = atMs === null ? 'unknown' : `${user ?? fromIp ?? ''}, ${spanText(Date.now() - atMs)} ago`
      return `${field}=${value}${said} by ${who}`
    })
    .join('; ')
}

/** How an instance has come, in words; empty where the server does not know. */
export function cameText({ came }: ExplainedInstance): string {
  if (came === null) return ''
  const how = { claim: 'claim taken over', memory: 'revived from memory' } as const
  const words = came.cause in how ? how[came.cause as keyof typeof how] : came.cause
  return `${words}, ${spanText(Date.now() - came.atMs)} ago`
}

const WHY_LISTED: Readonly<Record<Exclude<ExplainedInstance['reasons'][number], 'unhealthy'>, string>> = {
  healthy: 'it is healthy',
  protection: 'too few are healthy: the protect threshold gives out all',
  'no-weight': 'its weight is 0',
  disabled: 'it is disabled',
  'other-cluster': 'the client asks for other clusters',
  selector: 'the selector of the service leaves it out',
  'short-wait': 'its metadata ask for a wait that is shorter than the interval of its beats',
}

/** Why a client gets an instance or not, in words. */
export function whyListed({ listed, reasons }: ExplainedInstance): string {
  // Clients get unhealthy ones unless they ask for healthy ones only.
  const unhealthy = listed
    ? 'it is unhealthy, and the client did not ask for healthy ones only'
    : 'it is unhealthy'
  return reasons.map((reason) => (reason === 'unhealthy' ? unhealthy : WHY_LISTED[reason])).join('; ')
}
