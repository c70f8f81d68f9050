import type { Write } from './journal.ts'

/** A history record: `content` is the new text of an I, the text before a U, the deleted text of a D. */
export interface Record {
  readonly id: number
  readonly op: string
  readonly content: string
}

/**
 * The errors in the records of one item, oldest first, given its writes and its present content. Every
 * acknowledged write has its record, in their order; one whose outcome is unknown may have one; nothing else is
 * there, and the newest record belongs to the present content: a change and its record are both kept, or neither.
 */
export function wrongInHistory(
  records: readonly Record[],
  writes: readonly Write[],
  present: string | undefined,
): string[] {
  const wrong: string[] = []
  const values = records.map((_, at) => valueAfter(records, { at, present }))
  const last = records.at(-1)
  if (last === undefined && present !== undefined) wrong.push('it has content and no record')
  if (last?.op === 'D' && present !== undefined)
    wrong.push('its newest record says deleted, and it has content')
  if (last !== undefined && last.op !== 'D' && present === undefined)
    wrong.push(`its newest record is ${last.op}, and it has no content`)
  if (records.some(({ id }, at) => at > 0 && id <= records[at - 1]!.id))
    wrong.push('its record ids do not rise')
  for (const [at, record] of records.entries()) {
    const before = at === 0 ? undefined : values[at - 1]
    if (record.op === 'I' && record.content !== values[at])
      wrong.push(`record ${record.id} (I) is not what came after it`)
    if (record.op !== 'I' && at > 0 && record.content !== before)
      wrong.push(`record ${record.id} (${record.op}) does not hold the text before it`)
  }
  return [...wrong, ...unmatched(values, writes)]
}

/** The item after the record: what the next record replaced, or the current content. */
function valueAfter(
  records: readonly Record[],
  { at, present }: { at: number; present: string | undefined },
): string | undefined {
  if (records[at]!.op === 'D') return undefined
  const next = records[at + 1]
  if (next === undefined) return present
  return next.op === 'I' ? records[at]!.content : next.content
}

/** Walks both: an acknowledged write must be the next value, an unknown one may be. Deleting an unknown item leaves no record. */
function unmatched(values: readonly (string | undefined)[], writes: readonly Write[]): string[] {
  let at = 0
  for (const { value, outcome } of writes) {
    const now = values[at - 1]
    if (at < values.length && values[at] === value) at++
    else if (outcome === 'acknowledged' && !(value === undefined && now === undefined))
      return [`record ${at + 1} is not that of the acknowledged write of ${shown(value)}`]
  }
  return at === values.length ? [] : [`it has ${values.length - at} records that nobody wrote`]
}

/** A value, shortened for a message. */
export function shown(value: string | undefined): string {
  return value === undefined ? 'nothing' : `"${value.slice(0, 40)}"`
}
