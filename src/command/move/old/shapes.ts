import { type Fields, fieldsOf } from './fields.ts'
import { CallError } from './call-error.ts'

/** The status of an answer that came with 200, and reports an error. */
const ANSWERED = 200

/**
 * The objects of a list. Throws CallError if the list is missing: a half server, or a proxy before it, would silently make
 * everything of the list missing. `null` is a list without entries if the answer counts none.
 */
export function entriesOf(value: unknown, name: string, total?: unknown): readonly Fields[] {
  if (Array.isArray(value)) return value.map(fieldsOf)
  if (value === null && total === 0) return []
  throw new CallError(`the answer has no list ${name}`, ANSWERED)
}

/** The value of a field that must be there, if only as null. Throws CallError. */
export function fieldIn(answer: unknown, name: string): unknown {
  const fields = fieldsOf(answer)
  if (!Object.hasOwn(fields, name)) throw new CallError(`the answer has no field ${name}`, ANSWERED)
  return fields[name]
}

/** Refuses an envelope with an error, at any HTTP status: servers answer so while their database is away. */
export function refuseErrorIn(answer: unknown, call: string): void {
  const { code, message } = fieldsOf(answer)
  if (typeof code !== 'number' || code === 0 || code === ANSWERED) return
  const status = code >= 400 && code < 600 ? code : ANSWERED
  throw new CallError(`GET ${call} answers with code ${code}: ${String(message).slice(0, 300)}`, status)
}
