import { historyIdOf } from '../../../core/decisions/stamps.ts'
import { fieldsOf, number, object, oneOf, optional, type Shape, textIn } from '../../../core/records/shape.ts'
import { configKey, type ConfigKey } from '../../../core/config/state/config-item.ts'
import type { KeyValue } from '@waypost/etcd-client/messages'
import type { KeyPlace, Keys } from '../keys/keys.ts'
import { fromJson, type RecordFacts, type StoredEntry, withContentOf } from '../keys/values.ts'

/** The fields of an entry that cleaning relies on. */
type EntryFacts = Pick<StoredEntry, 'id' | 'op' | 'atMs' | 'size' | 'ownsContent' | 'sharesContent'>

/** An entry that a server has written, with its place. */
export interface PlacedEntry extends Pick<KeyValue, 'key'> {
  readonly place: Extract<KeyPlace, { of: 'history' }>
  readonly entry: EntryFacts
}

const mark: Shape<true | undefined> = (value) => (value === true ? true : undefined)
const FACTS = object<EntryFacts>({
  id: number,
  op: oneOf(['I', 'U', 'D']),
  atMs: number,
  size: number,
  ownsContent: optional(mark),
  sharesContent: optional(mark),
})

/** The entry of a history key; undefined: no server has written this key, or this value. */
export function placedEntry(keys: Keys, kv: Pick<KeyValue, 'key' | 'value'>): PlacedEntry | undefined {
  const place = keys.read(kv.key)
  if (place?.of !== 'history') return undefined
  try {
    const entry = FACTS(fromJson(kv.value))
    return entry.id === historyIdOf(place.stamp) ? { key: kv.key, place, entry } : undefined
  } catch {
    return undefined
  }
}

/** The item of which this is the text of a record; undefined: no server has written this key, or this value. */
export function placedText(
  keys: Keys,
  { key, value }: Pick<KeyValue, 'key' | 'value'>,
): { readonly item: ConfigKey; readonly stamp: number } | undefined {
  const place = keys.read(key)
  if (place?.of !== 'record-text') return undefined
  try {
    const { facts } = withContentOf<RecordFacts>(value)
    const of = fieldsOf(facts.key)
    const item = configKey(textIn(of, 'namespaceId'), textIn(of, 'group'), textIn(of, 'dataId'))
    return facts.id === historyIdOf(place.stamp) ? { item, stamp: place.stamp } : undefined
  } catch {
    return undefined
  }
}
