import type { ServerStatus, Switches } from '../switches/switches.ts'

/** Whether the server serves: what an operator has set it to, or UP. */
export function serverStatus(switches: Switches): ServerStatus {
  return switches.overriddenServerStatus ?? 'UP'
}

/** Whether naming requests are served in a status: all, reads or writes only, or none (http-compat.md section 4). */
export function serves(status: ServerStatus, action: 'read' | 'write'): boolean {
  if (status === 'UP') return true
  return action === 'read' ? status === 'READ_ONLY' : status === 'WRITE_ONLY'
}
