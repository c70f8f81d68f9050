import type { Change } from '../changes.ts'
import { type Command, synced, unchanged } from '../decision.ts'
import { recordRemoved, recordSaved } from '../records/record-kind.ts'
import type { RecordView } from '../records/record-tables.ts'
import { latestLeak } from './standing.ts'
import { SIGNING_KEY, type SigningKey } from './access-records.ts'

const SUBJECT = 'signing-keys'

/** A key that was made outside of core: an id, and a secret of 32 random bytes as base64url. */
export interface NewKey {
  readonly id: string
  readonly secret: string
}

/** Stores the key if there is none yet: of several servers that start at once, all get the same. */
export function createFirstKey({ id, secret }: NewKey): Command<void> {
  return {
    subject: SUBJECT,
    decide(view, { stamp }) {
      for (const _ of view.records(SIGNING_KEY)) return unchanged(undefined)
      const value = { secret, createdStamp: stamp, verifiesUntilMs: null, leakedBefore: 0 }
      return synced([recordSaved(SIGNING_KEY, { id, value, stamp })], undefined)
    },
  }
}

/**
 * Signs with this key from now on. The others verify until their last token has expired, `ttlMs` from now; 'leaked': they
 * have leaked, and end at once. Those that verify no more are removed.
 */
export function rotateKeys({ id, secret }: NewKey, oldOnes: { ttlMs: number } | 'leaked'): Command<void> {
  return {
    subject: SUBJECT,
    decide(view, { stamp, wallMs }) {
      const replaced = Array.from(view.records(SIGNING_KEY)).filter(([, key]) => !isOver(key, wallMs))
      const ttlMs = oldOnes === 'leaked' ? 0 : oldOnes.ttlMs
      const leakedBefore = oldOnes === 'leaked' ? stamp : latestLeak(view)
      const value = { secret, createdStamp: stamp, verifiesUntilMs: null, leakedBefore }
      const changes = [
        ...replaced.map(([oldId, key]) => {
          const verifiesUntilMs = Math.min(key.verifiesUntilMs ?? Infinity, wallMs + ttlMs)
          return recordSaved(SIGNING_KEY, { id: oldId, value: { ...key, verifiesUntilMs }, stamp })
        }),
        recordSaved(SIGNING_KEY, { id, value, stamp }),
      ]
      return synced([...removalsOfOldKeys(view, wallMs, stamp), ...changes], undefined)
    },
  }
}

/** Removes the keys that verify no more. */
export function removeOldKeys(): Command<void> {
  return {
    subject: SUBJECT,
    decide(view, { stamp, wallMs }) {
      const changes = removalsOfOldKeys(view, wallMs, stamp)
      return changes.length === 0 ? unchanged(undefined) : synced(changes, undefined)
    },
  }
}

function removalsOfOldKeys(view: RecordView, wallMs: number, stamp: number): Change[] {
  const old = Array.from(view.records(SIGNING_KEY)).filter(([, key]) => isOver(key, wallMs))
  return old.map(([id]) => recordRemoved(SIGNING_KEY, id, stamp))
}

function isOver({ verifiesUntilMs }: SigningKey, wallMs: number): boolean {
  return verifiesUntilMs !== null && verifiesUntilMs <= wallMs
}
