/** Switches that may have frozen the old server for the move: they would freeze this server. No plan brings them. */
export const FREEZING_SWITCHES = [
  'overriddenServerStatus',
  'disableAddIP',
  'sendBeatOnly',
  'limitedUrlMap',
] as const

/** Why such a switch stays out. */
export const WOULD_FREEZE = 'it would stop requests here, too; set it here if you want it'

/** Whether a switch is one of these. */
export function isFreezing(name: string): boolean {
  return FREEZING_SWITCHES.some((one) => one === name)
}
