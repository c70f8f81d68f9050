import type { Properties, ObjectSchema } from './schema.ts'
import { Refusal } from '../../core/refusal.ts'
import { detachedFrom } from './detached-text.ts'
import {
  allowedBy,
  compileField,
  compilePlain,
  type FieldSchema,
  type FieldValue,
  type IsPlainValue,
  type ParseField,
  type ParameterRules,
} from './parameter-field.ts'

/** The texts of parameters by name. */
export interface ParameterValues {
  get(name: string): string | undefined
  /** The value of JSON, if it is a number or a boolean; absent: all values are texts. */
  plain?(name: string): number | boolean | undefined
}

/** Reads and checks all parameters of one route; throws Refusal `missing-parameter` or `invalid-parameter`. */
export type ReadParameters = (values: ParameterValues) => Record<string, FieldValue>

/**
 * Builds the reader of a route from its schemas. An empty value counts as absent unless the schema says `allowEmpty`.
 * An absent parameter is refused if it is required, gets its default, or is no key of the result.
 */
export function compileReader(params: ObjectSchema<Properties>, rules: ParameterRules): ReadParameters {
  const required = new Set<string>(params.required as readonly string[] | undefined)
  const fields = Object.entries(params.properties).map(([name, schema]) =>
    compileEntry(name, schema as FieldSchema, { rules, required: required.has(name) }),
  )
  return (values) => {
    const read: Record<string, FieldValue> = {}
    for (const field of fields) {
      const value = readField(field, values)
      if (value !== undefined) read[field.name] = value
    }
    return read
  }
}

/** Which parameters of a request were sent with blanks around that go, as the sender calls them. */
export type TrimmedNames = (values: ParameterValues) => string[]

/** The same for the names among the parameters of a route; undefined if it has none. */
export function compileTrimmed(params: ObjectSchema<Properties>): TrimmedNames | undefined {
  const entries = Object.entries(params.properties) as [string, FieldSchema][]
  const names = entries.flatMap(([name, { trim, aliases = [] }]) => (trim === true ? [name, ...aliases] : []))
  if (names.length === 0) return undefined
  return (values) =>
    names.filter((name) => {
      const text = values.get(name)
      return text !== undefined && trimmedName(text) !== text
    })
}

interface ReadableField {
  readonly name: string
  readonly aliases: readonly string[]
  readonly trim: (text: string) => string
  readonly allowEmpty: boolean
  /** A text that means absence too. */
  readonly absentText: string | undefined
  readonly required: boolean
  readonly fallback: FieldValue | undefined
  readonly allowed: string
  readonly parse: ParseField
  readonly isPlain: IsPlainValue | undefined
}

function compileEntry(
  name: string,
  schema: FieldSchema,
  { rules, required }: { rules: ParameterRules; required: boolean },
): ReadableField {
  return {
    name,
    aliases: schema.aliases ?? [],
    trim: schema.trim === true ? trimmedName : (schema.trim ?? rules.trim) ? trimmed : asIs,
    allowEmpty: schema.allowEmpty ?? false,
    absentText: required ? undefined : rules.absentText,
    required,
    fallback: schema.default,
    allowed: allowedBy(schema),
    parse: compileField(name, schema, rules),
    isPlain: compilePlain(schema),
  }
}

function readField(field: ReadableField, values: ParameterValues): FieldValue | undefined {
  const plain = field.isPlain === undefined ? undefined : values.plain?.(field.name)
  if (plain !== undefined && field.isPlain?.(plain) === true) return plain
  const text = findText(field, values)
  if (text !== undefined) return text === '' && field.allowEmpty ? text : field.parse(text)
  if (field.fallback === undefined && field.required) throw missing(field)
  return field.fallback
}

function findText(field: ReadableField, values: ParameterValues): string | undefined {
  const own = textOf(field, values.get(field.name))
  if (own !== undefined) return own
  for (const alias of field.aliases) {
    const other = textOf(field, values.get(alias))
    if (other !== undefined) return other
  }
  return undefined
}

/** The value to parse, if any. */
function textOf(field: ReadableField, sent: string | undefined): string | undefined {
  if (sent === undefined) return undefined
  const text = field.trim(sent)
  if (text === field.absentText) return undefined
  return text === '' && !field.allowEmpty ? undefined : text
}

const asIs = (text: string): string => text

/** A name, without any blanks around it. */
export function trimmedName(text: string): string {
  const name = trimmed(text)
  const trimmedAgain = name.trim()
  return trimmedAgain.length === name.length ? name : detachedFrom(text, trimmedAgain)
}

/** Without the blanks and control characters around it, as the reference server trims. */
function trimmed(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && text.charCodeAt(start) <= 0x20) start++
  while (end > start && text.charCodeAt(end - 1) <= 0x20) end--
  return end - start === text.length ? text : detachedFrom(text, text.slice(start, end))
}

function missing({ name, allowed }: ReadableField): Refusal {
  const facts = { parameter: name, allowed }
  return new Refusal('missing-parameter', `${name} is required: ${allowed}.`, facts)
}
