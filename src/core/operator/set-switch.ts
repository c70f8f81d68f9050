import type { Change } from '../decisions/changes.ts'
import { type Command, synced, unchanged } from '../decisions/decision.ts'
import { recordRemoved, recordSaved } from '../records/record-kind.ts'
import type { View } from '../decisions/view.ts'
import { readSwitch } from '../switches/read-switch.ts'
import { LOCAL_SWITCH, SWITCH, type SwitchValue } from '../switches/switch-records.ts'

/** Sets one switch, or several at once (`batch`, a JSON object). `localOnly`: this server, until it restarts. */
export function setSwitch(entry: string, text: string, localOnly: boolean): Command<'ok'> {
  return {
    subject: 'switches',
    decide(view, { stamp }) {
      const switches = Object.entries(readSwitch(entry, text)).map(([id, value]) => ({ id, value, stamp }))
      if (switches.length === 0) return unchanged('ok')
      if (!localOnly)
        return synced(
          switches.flatMap((one) => kept(view, one)),
          'ok',
        )
      const changes = switches.map((one) => recordSaved(LOCAL_SWITCH, one))
      return { changes, durability: 'local', outcome: 'ok' }
    },
  }
}

/** Keeping a switch ends what was set for it here alone. */
function kept(view: View, one: { id: string; value: SwitchValue; stamp: number }): Change[] {
  const saved = recordSaved(SWITCH, one)
  if (view.record(LOCAL_SWITCH, one.id) === undefined) return [saved]
  return [saved, recordRemoved(LOCAL_SWITCH, one.id, one.stamp)]
}
