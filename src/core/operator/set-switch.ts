import type { Change } from '../decisions/changes.ts'
import { type Command, commandOn, synced, unchanged } from '../decisions/decision.ts'
import { HERE_ALREADY, type ImportOutcome, keeping, TAKEN } from '../decisions/import-outcome.ts'
import { recordRemoved, recordSaved } from '../records/record-kind.ts'
import type { View } from '../decisions/view.ts'
import { readSwitch } from '../switches/read-switch.ts'
import { LOCAL_SWITCH, SWITCH, type SwitchValue } from '../switches/switch-records.ts'
import { announcedChanges } from './keep-announced-interval.ts'

/** Sets one switch, or several at once (`batch`, a JSON object). `localOnly`: this server, until it restarts. */
export function setSwitch(entry: string, text: string, localOnly: boolean): Command<'ok'> {
  return commandOn('switches', (view, { stamp, wallMs }) => {
    const patch = readSwitch(entry, text)
    const announced = announcedChanges(view, patch.clientBeatInterval, { stamp, wallMs, localOnly })
    const switches = Object.entries(patch).map(([id, value]) => ({ id, value, stamp }))
    if (switches.length === 0) return unchanged('ok')
    if (!localOnly) return synced([...switches.flatMap((one) => kept(view, one)), ...announced], 'ok')
    const changes = switches.map((one) => recordSaved(LOCAL_SWITCH, one))
    if (announced.length > 0) return synced([...changes, ...announced], 'ok')
    return { changes, durability: 'local', outcome: 'ok' }
  })
}

/** Imports a switch, unless it was set here. Refuses as `setSwitch` does. */
export function importSwitch(entry: string, text: string, overwrite: boolean): Command<ImportOutcome> {
  return commandOn('switches', (view, { stamp, wallMs }) => {
    const patch = readSwitch(entry, text, 'kept')
    const values = Object.entries(patch)
    const other = values.filter(([id, value]) => !isSet(view, id, value))
    if (other.length === 0) return unchanged(HERE_ALREADY)
    const isSetHere = other.some(([id]) => view.record(SWITCH, id) !== undefined)
    if (isSetHere && !overwrite) return keeping('the switch is set to another value here')
    const announced = announcedChanges(view, patch.clientBeatInterval, { stamp, wallMs, localOnly: false })
    return synced([...other.flatMap(([id, value]) => kept(view, { id, value, stamp })), ...announced], TAKEN)
  })
}

function isSet(view: View, id: string, value: SwitchValue): boolean {
  return JSON.stringify(view.record(SWITCH, id)) === JSON.stringify(value)
}

/** Keeping a switch ends its setting for this server alone. */
function kept(view: View, one: { id: string; value: SwitchValue; stamp: number }): Change[] {
  const saved = recordSaved(SWITCH, one)
  if (view.record(LOCAL_SWITCH, one.id) === undefined) return [saved]
  return [saved, recordRemoved(LOCAL_SWITCH, one.id, one.stamp)]
}
