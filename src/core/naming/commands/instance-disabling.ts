import type { Change } from '../../decisions/changes.ts'
import { type Command, commandOn, synced, unchanged } from '../../decisions/decision.ts'
import { ownText, ownTextOrNull } from '../../text/own-text.ts'
import { fieldsOf, numberIn, textIn } from '../../records/shape.ts'
import { defineRecordKind, recordRemoved, recordSaved } from '../../records/record-kind.ts'
import { msOf } from '../../decisions/stamps.ts'
import type { View } from '../../decisions/view.ts'
import type { InstancePlace } from '../state/presence.ts'
import { placeIn, REMEMBERED_METADATA, rememberedId } from '../state/remembered-metadata.ts'
import { serviceSubject } from './service-commands.ts'
import type { Actor } from '../timeline/timeline-entry.ts'

/** The person that disabled an instance, and the time (epoch ms): for people who look days later. */
export interface InstanceDisabling extends InstancePlace {
  readonly atMs: number
  readonly actor: Actor
}

/** The instances that somebody has disabled; the id is `rememberedId`. */
export const INSTANCE_DISABLING = defineRecordKind<InstanceDisabling>('instance-disabling', (json) => {
  const fields = fieldsOf(json)
  const actor = fieldsOf(fields['actor'])
  const { user } = actor
  return {
    ...placeIn(fields),
    atMs: numberIn(fields, 'atMs'),
    actor: { user: typeof user === 'string' ? user : null, ip: textIn(actor, 'ip') },
  }
})

/** Keeps who switched an instance off, and forgets it when the instance is switched on. */
export function disablingChanges(
  view: Pick<View, 'record'>,
  { serviceKey, address }: InstancePlace,
  { enabled, actor, stamp }: { enabled: boolean; actor: Actor | undefined; stamp: number },
): Change[] {
  const id = rememberedId({ serviceKey, address })
  if (!enabled && actor !== undefined) {
    const by = { user: ownTextOrNull(actor.user), ip: ownText(actor.ip) }
    const { namespaceId, groupedName } = serviceKey
    const key = { namespaceId: ownText(namespaceId), groupedName: ownText(groupedName) }
    const value = { serviceKey: key, address, atMs: msOf(stamp), actor: by }
    return [recordSaved(INSTANCE_DISABLING, { id, value, stamp })]
  }
  return view.record(INSTANCE_DISABLING, id) === undefined
    ? []
    : [recordRemoved(INSTANCE_DISABLING, id, stamp)]
}

/** Forgets it of instances that are not there, or are enabled: their clients have registered them again. */
export function forgetDisablings(view: Pick<View, 'records' | 'record' | 'instance'>): Command<void>[] {
  const gone: Command<void>[] = []
  for (const [, value] of view.records(INSTANCE_DISABLING))
    if (isOver(view, value)) gone.push(forgetDisabling(value))
  return gone
}

function forgetDisabling(place: InstancePlace): Command<void> {
  const id = rememberedId(place)
  return commandOn(serviceSubject(place.serviceKey), (view, { stamp }) => {
    if (view.record(INSTANCE_DISABLING, id) === undefined || !isOver(view, place)) return unchanged(undefined)
    return synced([recordRemoved(INSTANCE_DISABLING, id, stamp)], undefined)
  })
}

function isOver(view: Pick<View, 'instance' | 'record'>, place: InstancePlace): boolean {
  const known = view.instance(place.serviceKey, place.address)
  if (known !== undefined) return known.record.enabled
  return view.record(REMEMBERED_METADATA, rememberedId(place))?.enabled !== false
}
