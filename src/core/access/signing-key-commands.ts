import type { Change } from '../decisions/changes.ts'
import { type Command, commandOn, synced, unchanged } from '../decisions/decision.ts'
import { recordRemoved, recordSaved } from '../records/record-kind.ts'
import { SIGNING_KEY, type SigningKey, latestLeak } from './access-records.ts'

const SUBJECT = 'signing-keys'

/** A key that was made outside of core: an id, and a secret of 32 random bytes as base64url. */
export interface NewKey {
  readonly id: string
  readonly secret: string
}

/** Stores the key unless there is a key: servers that start at once all get the same one. */
export function createFirstKey({ id, secret }: NewKey): Command<void> {
  return commandOn(SUBJECT, (view, { stamp }) => {
    for (const _ of view.records(SIGNING_KEY)) return unchanged(undefined)
    const value = { secret, createdStamp: stamp, verifiesUntilMs: null, leakedBefore: 0 }
    return synced([recordSaved(SIGNING_KEY, { id, value, stamp })], undefined)
  })
}

/** The most keys, with the one that signs: all can be changed in one transaction of any store. */
const MOST_KEYS = 100

/**
 * Signs with this key from now on. The others verify until their last token has expired, `ttlMs` from now; 'leaked':
 * they have leaked, and end at once. Keys that do not verify any longer are removed, and the oldest ones of very many.
 */
export function rotateKeys({ id, secret }: NewKey, oldOnes: { ttlMs: number } | 'leaked'): Command<void> {
  return commandOn(SUBJECT, (view, { stamp, wallMs }) => {
    const ttlMs = oldOnes === 'leaked' ? 0 : oldOnes.ttlMs
    const leakedBefore = oldOnes === 'leaked' ? stamp : latestLeak(view)
    const newestFirst = Array.from(view.records(SIGNING_KEY)).sort(
      ([, one], [, other]) => other.createdStamp - one.createdStamp,
    )
    const replaced = newestFirst.flatMap(([oldId, key], index): Change[] => {
      if (isOver(key, wallMs) || index >= MOST_KEYS - 1) return [recordRemoved(SIGNING_KEY, oldId, stamp)]
      const verifiesUntilMs = Math.min(key.verifiesUntilMs ?? Infinity, wallMs + ttlMs)
      if (verifiesUntilMs === key.verifiesUntilMs) return []
      return [recordSaved(SIGNING_KEY, { id: oldId, value: { ...key, verifiesUntilMs }, stamp })]
    })
    const value = { secret, createdStamp: stamp, verifiesUntilMs: null, leakedBefore }
    return synced([...replaced, recordSaved(SIGNING_KEY, { id, value, stamp })], undefined)
  })
}

/** Removes the keys that do not verify any longer. */
export function removeOldKeys(): Command<void> {
  return commandOn(SUBJECT, (view, { stamp, wallMs }) => {
    const old = Array.from(view.records(SIGNING_KEY)).filter(([, key]) => isOver(key, wallMs))
    if (old.length === 0) return unchanged(undefined)
    const removed = old.slice(0, MOST_KEYS).map(([id]) => recordRemoved(SIGNING_KEY, id, stamp))
    return synced(removed, undefined)
  })
}

function isOver({ verifiesUntilMs }: SigningKey, wallMs: number): boolean {
  return verifiesUntilMs !== null && verifiesUntilMs <= wallMs
}
