import { type Command, commandOn, synced, unchanged } from '../decisions/decision.ts'
import { recordRemoved, recordSaved } from '../records/record-kind.ts'
import type { RecordView } from '../records/record-tables.ts'
import { SESSION, USER, isSessionOpen } from './access-records.ts'

const SUBJECT = 'sessions'
/** Sessions that a user has at the same time. */
const MOST_OF_USER = 20
/** The use of a session is written once in this time, ms. */
const WRITTEN_EVERY_MS = 60_000

/** A session of a user whose password was checked. The id is the hash of the browser's id. */
export interface NewSession {
  readonly id: string
  readonly username: string
  readonly credentialStamp: number
}

/**
 * Begins a session. The one that its user has not used for the longest time ends if the user has too many. False where
 * the user is gone, or has another password by now.
 */
export function beginSession({ id, username, credentialStamp }: NewSession): Command<boolean> {
  return commandOn(SUBJECT, (view, { stamp, wallMs }) => {
    if (view.record(USER, username)?.credentialStamp !== credentialStamp) return unchanged(false)
    const others = Array.from(view.records(SESSION))
      .filter(([, session]) => session.username === username)
      .sort(([, one], [, other]) => other.usedMs - one.usedMs)
    const ended = others.slice(MOST_OF_USER - 1).map(([other]) => recordRemoved(SESSION, other, stamp))
    const value = { username, credentialStamp, createdMs: wallMs, usedMs: wallMs }
    return synced([...ended, recordSaved(SESSION, { id, value, stamp })], true)
  })
}

/** Notes that a session is in use, once a minute. One that has ended stays so. */
export function useSession(id: string): Command<void> {
  return commandOn(SUBJECT, (view, { stamp, wallMs }) => {
    const session = view.record(SESSION, id)
    if (session === undefined || !isSessionOpen(session, view, wallMs)) return unchanged(undefined)
    if (!mustWriteUse(session, wallMs)) return unchanged(undefined)
    return synced([recordSaved(SESSION, { id, value: { ...session, usedMs: wallMs }, stamp })], undefined)
  })
}

/** Whether the use of a session is written now. */
export function mustWriteUse({ usedMs }: { readonly usedMs: number }, nowMs: number): boolean {
  return nowMs >= usedMs + WRITTEN_EVERY_MS
}

/** Ends a session, if it exists. */
export function endSession(id: string): Command<void> {
  return commandOn(SUBJECT, (view, { stamp }) => {
    if (view.record(SESSION, id) === undefined) return unchanged(undefined)
    return synced([recordRemoved(SESSION, id, stamp)], undefined)
  })
}

/** The ids of the sessions that have ended and are there still. */
export function endedSessions(records: RecordView, nowMs: number): string[] {
  const ended = Array.from(records.records(SESSION)).filter(
    ([, session]) => !isSessionOpen(session, records, nowMs),
  )
  return ended.map(([id]) => id)
}

/**
 * Removes the ended ones of these sessions. It reads only these sessions and their users: a shared store compares each read.
 */
export function removeEndedSessions(ids: readonly string[]): Command<void> {
  return commandOn(SUBJECT, (view, { stamp, wallMs }) => {
    const ended = ids.filter((id) => {
      const session = view.record(SESSION, id)
      return session !== undefined && !isSessionOpen(session, view, wallMs)
    })
    if (ended.length === 0) return unchanged(undefined)
    return synced(
      ended.map((id) => recordRemoved(SESSION, id, stamp)),
      undefined,
    )
  })
}
