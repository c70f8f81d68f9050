import { DEFAULT_SWITCHES, type Switches } from '../../../core/switches/switches.ts'
import type { PlanLine } from '../../../move/plan.ts'

/** The switches that come. */
const COMING: readonly (keyof Switches)[] = [
  'pushEnabled',
  'defaultCacheMillis',
  'defaultPushCacheMillis',
  'pushJavaVersion',
  'pushGoVersion',
  'pushCVersion',
  'pushCSharpVersion',
  'clientBeatInterval',
  'lightBeatEnabled',
  'defaultInstanceEphemeral',
  'healthCheckEnabled',
  'healthCheckWhiteList',
  'checkTimes',
  'httpHealthParams',
  'tcpHealthParams',
  'mysqlHealthParams',
]

/** Switches that may have frozen the old server for the move: they would freeze this server. */
const FREEZING: readonly (keyof Switches)[] = [
  'overriddenServerStatus',
  'disableAddIP',
  'sendBeatOnly',
  'limitedUrlMap',
]

/** The lines of switches that are not at their defaults. */
export function* switchLines(switches: Readonly<Record<string, unknown>>): Generator<PlanLine> {
  for (const name of COMING)
    if (isSet(switches, name)) yield { kind: 'switch', name, value: valueText(switches[name]) }
  for (const name of FREEZING)
    if (isSet(switches, name))
      yield left(name, 'it would stop requests here, too; set it here if you want it')
}

function left(name: string, reason: string): PlanLine {
  return { kind: 'cannot-come', about: 'switch', name, reason }
}

function isSet(switches: Readonly<Record<string, unknown>>, name: keyof Switches): boolean {
  const value = switches[name]
  return value !== undefined && valueText(value) !== valueText(DEFAULT_SWITCHES[name])
}

function valueText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
