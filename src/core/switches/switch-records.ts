import { defineRecordKind } from '../records/record-kind.ts'
import type { RecordView } from '../records/record-tables.ts'
import { readSwitch } from './read-switch.ts'
import { DEFAULT_SWITCHES, type Switches, type SwitchPatch } from './switches.ts'

/** The value of any switch. */
export type SwitchValue = Switches[keyof Switches]

/** The switches that were set: a record for each, so that two servers that set different ones do not conflict. */
export const SWITCH = defineRecordKind<SwitchValue>('switch', switchValue)

/** The switches that were set for this server alone (`debug=true`), until it stops. They go before the others. */
export const LOCAL_SWITCH = defineRecordKind<SwitchValue>('local-switch', switchValue, { isLocal: true })

/** The switches in force. */
export function switchesIn(records: RecordView): Switches {
  const patches = [SWITCH, LOCAL_SWITCH].map((kind) => Object.fromEntries(records.records(kind)))
  return Object.freeze(Object.assign({}, DEFAULT_SWITCHES, ...(patches as SwitchPatch[])) as Switches)
}

/** Read like a value that an operator sends. */
function switchValue(json: unknown, id: string): SwitchValue {
  const patch = readSwitch(id, typeof json === 'string' ? json : JSON.stringify(json), 'kept')
  if (!Object.hasOwn(patch, id)) throw new Error(`there is no switch called ${id}`)
  return patch[id as keyof Switches] as SwitchValue
}
