import { type Command, unchanged } from '../../decisions/decision.ts'
import { isMoved } from '../state/connection-publisher.ts'
import { BEATS } from '../state/instance.ts'
import type { InstancePlace } from '../state/presence.ts'
import { saveInFull, serviceSubject } from './service-commands.ts'

/** The client of an imported instance has sent a beat: the instance is its own from now on, and healthy. */
export function keepMoved({ serviceKey, address }: InstancePlace): Command<void> {
  return {
    subject: serviceSubject(serviceKey),
    growsBy: 0,
    decide(view, { stamp }) {
      const known = view.instance(serviceKey, address)
      if (known === undefined || !isMoved(known.record.publisher)) return unchanged(undefined)
      const record = { ...known.record, publisher: BEATS }
      const saved = { ...saveInFull(view, serviceKey, { record, healthy: true, stamp }), beat: true }
      return { changes: [saved], durability: 'behind', outcome: undefined }
    },
  }
}
