import { type Command, commandOn } from '../../decisions/decision.ts'
import { synced, unchanged } from '../../decisions/decision.ts'
import { number, object, text } from '../../records/shape.ts'
import { defineRecordKind, recordRemoved, recordSaved } from '../../records/record-kind.ts'
import { MEMBER } from './member-records.ts'

/** A server of the installation, whether it runs or not. */
export interface KnownServer {
  readonly ip: string
  readonly port: number
  readonly site: string
}

/** All servers that were ever members, by member id, so that operators see who is missing. */
export const SERVER = defineRecordKind<KnownServer>('server', object({ ip: text, port: number, site: text }))

/** Notes a server that becomes a member. */
export function noteServer(id: string, value: KnownServer): Command<void> {
  return commandOn(subjectOf(id), (view, { stamp }) => {
    const known = view.record(SERVER, id)
    const isKnown = known?.ip === value.ip && known.port === value.port && known.site === value.site
    return isKnown ? unchanged(undefined) : synced([recordSaved(SERVER, { id, value, stamp })], undefined)
  })
}

/** Forgets a server that has been no member for long. */
export function forgetServer(id: string): Command<void> {
  return commandOn(subjectOf(id), (view, { stamp }) => {
    if (view.record(SERVER, id) === undefined || view.record(MEMBER, id) !== undefined)
      return unchanged(undefined)
    return synced([recordRemoved(SERVER, id, stamp)], undefined)
  })
}

function subjectOf(id: string): string {
  return `server ${id}`
}
