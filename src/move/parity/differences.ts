import type { ComparedFields } from './compared-fields.ts'

/** A thing that only one server has, or a field that differs. */
export interface Difference {
  /** A kind of thing, or of a read. */
  readonly kind: string
  readonly name: string
  /** The only server with the thing. */
  readonly only?: 'old' | 'new'
  readonly field?: string
  readonly old?: string
  readonly new?: string
}

/** The things of one kind, by their names. */
export type ByName = ReadonlyMap<string, ComparedFields>

/** The differences of two servers in one kind of thing. */
export function differencesOf(kind: string, old: ByName, other: ByName): Difference[] {
  const found: Difference[] = []
  for (const [name, fields] of old) {
    const those = other.get(name)
    if (those === undefined) found.push({ kind, name, only: 'old' })
    else found.push(...differingFields(kind, name, [fields, those]))
  }
  for (const name of other.keys()) if (!old.has(name)) found.push({ kind, name, only: 'new' })
  return found
}

/** The fields that both have and that differ. */
export function differingFields(
  kind: string,
  name: string,
  [old, other]: readonly [ComparedFields, ComparedFields],
): Difference[] {
  return Object.entries(old)
    .filter(([field, text]) => other[field] !== undefined && other[field] !== text)
    .map(([field, text]) => ({ kind, name, field, old: text, new: other[field]! }))
}
