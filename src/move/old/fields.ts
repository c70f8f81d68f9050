import { printableWord } from '../../command/terminal-text.ts'
import type { PlanChecker, PlanCluster, PlanService } from '../../plan/plan.ts'

/** A call of an old server failed. The message names the call and the reason. */
export class CallError extends Error {
  /** 0: no answer, or no sign-in, so other calls will fail too. */
  readonly status: number
  /** The server shows it only to signed-in users, and no account was given. */
  readonly needsSignIn: boolean

  constructor(message: string, status: number, needsSignIn = false) {
    super(message)
    this.status = status
    this.needsSignIn = needsSignIn
  }
}

/** An object of an answer. Other values have no fields. */
export type Fields = Readonly<Record<string, unknown>>

/** The fields of a value; empty if it is no object. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}

/** The fields of an object in JSON; empty for other texts. */
export function fieldsIn(text: string): Fields {
  try {
    return fieldsOf(JSON.parse(text))
  } catch {
    return {}
  }
}

/** The objects of a list; empty if the value is no list. */
export function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : []
}

/** A text; null for other values. */
export function textOrNull(value: unknown): string | null {
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : null
}

/** A text; empty for other values. */
export function textOf(value: unknown): string {
  return textOrNull(value) ?? ''
}

/** A number, also written as a text; `other` for other values. */
export function numberOf(value: unknown, other: number): number {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : other
}

/** Epoch ms of a time: a number, or a text such as `2026-11-24T07:16:14.784+0000`. Null for other values. */
export function timeOrNull(value: unknown): number | null {
  const ms =
    typeof value === 'string' && !/^\d+$/.test(value)
      ? Date.parse(value.replace(/([+-]\d\d)(\d\d)$/, '$1:$2'))
      : numberOf(value, Number.NaN)
  return Number.isSafeInteger(ms) && ms > 0 ? ms : null
}

/** Metadata: an object of texts, also written as JSON. Throws for a text that begins as JSON and is not. */
export function metadataOf(value: unknown): Record<string, string> {
  const fields =
    typeof value === 'string' && value.startsWith('{') ? fieldsOf(parsedMetadata(value)) : fieldsOf(value)
  return Object.fromEntries(Object.entries(fields).map(([key, one]) => [key, textOf(one)]))
}

function parsedMetadata(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`its metadata is no JSON: ${JSON.stringify(text.slice(0, 100))}`)
  }
}

/** A selector: `none`, or a type with its expression. */
export function selectorOf(value: unknown): PlanService['selector'] {
  const { type, expression } = fieldsOf(value)
  return { type: textOf(type) || 'none', expression: textOf(expression) }
}

/** A checker; a checker without a type belongs to a new cluster. */
export function checkerOf(value: unknown): PlanChecker {
  const { type, ...rest } = fieldsOf(value)
  const known = Object.entries(rest).filter(([, field]) => field !== null)
  return { ...Object.fromEntries(known), type: textOf(type) || 'TCP' }
}

/** Whether nothing is configured at a cluster: then its instances make it again. */
export function isUsualCluster({ checker, checkPort, useInstancePort, metadata }: PlanCluster): boolean {
  return checker.type === 'TCP' && checkPort === 80 && useInstancePort && Object.keys(metadata).length === 0
}

/** The parts of `group@@name`; a name without a group gets the given group. */
export function splitName(name: string, group: string): { readonly group: string; readonly name: string } {
  const at = name.indexOf('@@')
  return at < 0 ? { group, name } : { group: name.slice(0, at), name: name.slice(at + 2) }
}

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
  throw new CallError(
    `GET ${call} answers with code ${code}: ${printableWord(String(message).slice(0, 300))}`,
    status,
  )
}
