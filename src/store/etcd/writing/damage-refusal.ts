import {
  ADMINISTRATORS,
  ROLE_PERMISSION,
  SESSION,
  SIGNING_KEY,
  USER,
  USER_ROLE,
} from '../../../core/access/access-records.ts'
import type { Change } from '../../../core/decisions/changes.ts'
import { changedThing, type Read } from '../../../core/decisions/reads.ts'
import type { Unit } from '../../../core/engine/ports.ts'
import { Refusal } from '../../../core/refusal.ts'
import type { DamagedKeys } from '../failures/damaged-keys.ts'
import { shownKey } from '@waypost/etcd-client/key-text'
import type { Keys } from '../keys/keys.ts'
import { placeOfRecord } from '../keys/record-places.ts'

/** Changes that need the value before. An instance and some records are replaced: their owners write them again. */
const SAVED: ReadonlySet<Change['kind']> = new Set(['config-published', 'service-saved', 'record-saved'])
/** Records of these kinds, and their absence, decide who may do something. */
const GRANTING: ReadonlySet<string> = new Set(
  [USER, USER_ROLE, ADMINISTRATORS, ROLE_PERMISSION, SIGNING_KEY, SESSION].map(({ name }) => name),
)

/** The dependencies of a refusal. */
interface DamageParts {
  readonly keys: Keys
  readonly damaged?: DamagedKeys | undefined
}

/**
 * Why a unit must not be written; undefined: it may. It has read that something is not there, or has counted things,
 * and a key of these is left out. Otherwise a damaged value would grant, or lift a bound.
 */
export function refusalOfDamage(
  { keys, damaged }: DamageParts,
  { reads, changes }: Unit,
): Refusal | undefined {
  if (damaged === undefined || damaged.size === 0) return undefined
  // The knowledge of this server from before the damage is no ground for a change.
  const saved = changes.filter(({ kind }) => SAVED.has(kind))
  const written = saved.map((change) => ({ ...changedThing(change), found: false }) as Read)
  const removed = new Set(
    changes.flatMap((change) => (change.kind === 'config-deleted' ? [change.key.text] : [])),
  )
  for (const read of [...reads, ...written]) {
    // Deleting an item needs nothing of it.
    if (read.of === 'config' && removed.has(read.key.text)) continue
    // A list that lacks something may be answered; nothing may be decided on it.
    if (read.of === 'records' && changes.length === 0) continue
    const key = damagedIn(keys, damaged, read)
    if (key !== undefined)
      return new Refusal(
        'damaged',
        `The value of the key ${shownKey(key)} in etcd is damaged, and this change depends on it. Remove the key, or restore a backup; ` +
          '`waypost doctor --store etcd` says more.',
      )
  }
  return undefined
}

function damagedIn(keys: Keys, damaged: DamagedKeys, read: Read): string | undefined {
  const ifDamaged = (key: string): string | undefined => (damaged.has(key) ? key : undefined)
  switch (read.of) {
    case 'config':
      return read.found ? undefined : ifDamaged(keys.of({ of: 'config', key: read.key }))
    case 'service':
      return read.found ? undefined : ifDamaged(keys.of({ of: 'service', service: read.key }))
    case 'record':
      return read.found || !GRANTING.has(read.recordKind)
        ? undefined
        : ifDamaged(keys.of(placeOfRecord(read)))
    case 'records':
      if (!GRANTING.has(read.recordKind)) return undefined
      return damaged.firstOf(keys.of({ of: 'small-record', kind: read.recordKind, id: '' }))
    case 'instances':
      return read.none ? damaged.firstOf(keys.instancesOf(read.serviceKey)) : undefined
    case 'instance':
      // The next registration replaces it.
      return undefined
  }
}
