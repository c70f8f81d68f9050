import type { HeaderField } from './header-table.ts'

const MOST_SHARED = 1_000

/** The most characters of a field that is shared. */
const LONGEST_SHARED = 128

/** Fields with credentials stay with their connection (RFC 7541, section 7.1). */
const NEVER_SHARED = new Set(['authorization', 'proxy-authorization', 'cookie', 'accesstoken'])

const shared = new Map<string, HeaderField>()

/**
 * A field for the table of a connection. Most clients send the same fields, so connections share one object. A client
 * with many fields of its own costs others only the sharing.
 */
export function sharedField(field: HeaderField): HeaderField {
  const { name, value } = field
  if (name.length + value.length > LONGEST_SHARED || NEVER_SHARED.has(name)) return field
  const text = `${name}: ${value}`
  const known = shared.get(text)
  // A name that is malformed may have a colon too.
  if (known !== undefined) return known.name === name && known.value === value ? known : field
  if (shared.size >= MOST_SHARED) shared.clear()
  shared.set(text, field)
  return field
}
