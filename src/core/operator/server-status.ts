import type { ServerStatus, Switches } from '../switches/switches.ts'

/** The status that an operator has set, or UP. */
export function serverStatus(switches: Switches): ServerStatus {
  return switches.overriddenServerStatus ?? 'UP'
}

/** Whether a status serves naming reads or writes (http-compat.md section 4). */
export function serves(status: ServerStatus, action: 'read' | 'write'): boolean {
  if (status === 'UP') return true
  return action === 'read' ? status === 'READ_ONLY' : status === 'WRITE_ONLY'
}
