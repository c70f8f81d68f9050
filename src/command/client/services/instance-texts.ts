import type { ExplainedInstance, ShownInstance } from '../answers.ts'
import { spanText } from '../../command-line.ts'

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

const WHY_LISTED: Readonly<Record<ExplainedInstance['reasons'][number], string>> = {
  healthy: 'it is healthy',
  unhealthy: 'it is unhealthy',
  protection: 'too few are healthy: the protect threshold gives out all',
  'no-weight': 'its weight is 0',
  disabled: 'it is disabled',
  'other-cluster': 'the client asks for other clusters',
  selector: 'the selector of the service leaves it out',
}

/** Why a client gets an instance or not, in words. */
export function whyListed({ listed, healthy, reasons }: ExplainedInstance): string {
  // Clients get unhealthy ones unless they ask for healthy ones only.
  if (listed && !healthy && !reasons.includes('protection'))
    return 'it is unhealthy, and the client did not ask for healthy ones only'
  return reasons.map((reason) => WHY_LISTED[reason]).join('; ')
}
