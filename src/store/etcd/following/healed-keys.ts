import type { EtcdClient } from '@waypost/etcd-client/etcd-client'
import type { KeyValue } from '@waypost/etcd-client/messages'
import type { DamagedKeys } from '../failures/damaged-keys.ts'
import type { KeyPlace, Keys } from '../keys/keys.ts'
import type { ComparedKind } from '../keys/known-keys.ts'
import { type ReadParts, readItem, readWholeRecord } from '../keys/read-values.ts'
import { recordOfPlace } from '../keys/record-places.ts'
import {
  instanceOf,
  isWithoutLease,
  judgedValue,
  requestOf,
  serviceOf,
  silencedKeys,
} from '../keys/values.ts'

/** The dependencies of {@link healedKinds}. */
export interface HealedParts {
  readonly client: Pick<EtcdClient, 'range'>
  readonly keys: Keys
  readonly readParts: ReadParts
  readonly damaged?: DamagedKeys | undefined
}

/** How many left-out keys are read again. */
const MOST_TRIED = 100

/**
 * The kinds to load again, where left-out keys can be read now, or are gone. The watch does not show all of that:
 * a piece of a content has a key of its own. Keys that are no part of the state are forgotten here.
 */
export async function healedKinds(parts: HealedParts): Promise<Set<ComparedKind>> {
  const { keys, damaged } = parts
  const healed = new Set<ComparedKind>()
  for (const { key } of (damaged?.all ?? []).slice(0, MOST_TRIED)) {
    const place = keys.read(key)
    if (!(await isHealed(parts, key, place))) continue
    const kind = kindOf(place)
    if (kind === undefined) damaged?.forget(key)
    // The marks of damaged items are among the records, and are made after the items.
    else healed.add(kind).add('small-record')
  }
  return healed
}

/** Services and instances are loaded together. */
function kindOf(place: KeyPlace | undefined): ComparedKind | undefined {
  if (place?.of === 'config') return 'config'
  if (place?.of === 'service' || place?.of === 'instance') return 'instance'
  return recordOfPlace(place) === undefined ? undefined : 'small-record'
}

/** Whether a key is gone, or has a value that can be read. False if etcd is away: the next look tries again. */
async function isHealed(parts: HealedParts, key: string, place: KeyPlace | undefined): Promise<boolean> {
  try {
    const [kv] = (await parts.client.range({ key })).kvs
    if (kv === undefined) return true
    return place !== undefined && (await isReadable(parts, place, kv))
  } catch {
    return false
  }
}

/** Whether the value of a key belongs to the data. Rejects if it cannot be read. */
async function isReadable(parts: HealedParts, place: KeyPlace, kv: KeyValue): Promise<boolean> {
  const { client, keys, readParts } = parts
  if (isWithoutLease(place, kv)) return false
  const record = recordOfPlace(place)
  if (record !== undefined) await readWholeRecord(record, kv.value, readParts)
  if (place.of === 'config') await readItem(place.key, kv.value, readParts)
  if (place.of === 'service') serviceOf(place.service, kv.value)
  if (place.of === 'request') requestOf(kv.value)
  if (place.of === 'silenced') silencedKeys(kv.value)
  if (place.of === 'remembered') judgedValue(place, kv)
  if (place.of !== 'instance') return true
  instanceOf(place.address, kv.value)
  const [service] = (await client.range({ key: keys.of({ of: 'service', service: place.service }) })).kvs
  return service !== undefined && serviceOf(place.service, service.value) !== undefined
}
