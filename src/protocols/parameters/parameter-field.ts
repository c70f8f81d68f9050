import { Refusal } from '../../core/refusal.ts'
import { shown } from '../../core/text/shown.ts'
import { checkJsonDepth, checkJsonSize, MOST_LISTED_VALUES } from './json-depth.ts'

/** How parameters of a route are read: the oddities of clients that it accepts (http-compat.md section 0). */
export interface ParameterRules {
  /** Values are trimmed (naming), or taken as they are (configuration). */
  readonly trim: boolean
  /** An unreadable boolean is false (as clients of `/nacos` expect), or refused. */
  readonly lenientBooleans: boolean
  /** A text that clients of this part send for an absent optional parameter. */
  readonly absentText?: string
  /**
   * Bodies of other types than a form: the fields of multipart forms are parameters and other types stay unread, or all
   * are refused. Absent: they stay unread.
   */
  readonly otherBodies?: 'fields' | 'refused'
  /** Whether answers to changes say which names were sent with blanks around. */
  readonly saysTrimmed?: boolean
  /** The greatest depth of a JSON parameter; absent: no limit. */
  readonly maxJsonDepth?: number
}

/** The value of a parameter once it is read. */
export type FieldValue = string | number | boolean

/** The part of JSON Schema that a parameter may use, and our additions to it. */
export interface FieldSchema {
  readonly type?: 'string' | 'integer' | 'number' | 'boolean'
  readonly enum?: readonly string[]
  readonly minLength?: number
  readonly maxLength?: number
  /** Checked after the length. Must be linear: no repetition within a repetition, no overlapping ones. */
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly default?: FieldValue
  readonly description?: string
  /** Other names of the parameter, read in this order if its own is absent or empty. */
  readonly aliases?: readonly string[]
  /** '' is a value; otherwise an empty parameter counts as absent, because clients often send empty ones. */
  readonly allowEmpty?: boolean
  /** Overrides the rule of the dialect; true: any blanks around the value go. */
  readonly trim?: boolean
  /** The most bytes of UTF-8 that the value may take. */
  readonly maxBytes?: number
  /** The text may be JSON, whose depth the rules bound. */
  readonly mayBeJson?: boolean
  /** The allowed values, in words, if the pattern is not clear enough. */
  readonly allowed?: string
}

/** Turns the text of one parameter into its value, or throws Refusal `invalid-parameter`. */
export type ParseField = (text: string) => FieldValue

/** Builds the parser of one parameter; `name` is its name in refusals. Throws on a schema it cannot read. */
export function compileField(name: string, schema: FieldSchema, rules: ParameterRules): ParseField {
  if (schema.enum !== undefined) return enumField(name, schema.enum)
  switch (schema.type) {
    case 'string':
      return schema.mayBeJson === true && rules.maxJsonDepth !== undefined
        ? jsonField(name, stringField(name, schema), rules.maxJsonDepth)
        : stringField(name, schema)
    case 'integer':
      return numberField(name, schema, { syntax: /^-?\d{1,20}$/, noun: 'an integer' })
    case 'number':
      return numberField(name, schema, {
        syntax: /^-?(\d{1,400}(\.\d{0,400})?|\.\d{1,400})([eE][+-]?\d{1,4})?$/,
        noun: 'a number',
      })
    case 'boolean':
      return rules.lenientBooleans ? lenientBoolean : strictBoolean(name)
    default:
      throw new TypeError(`${name}: parameters are strings, numbers, booleans or one of several words`)
  }
}

/**
 * Whether a number or a boolean, as JSON has it, is a value of the field as it is; undefined: its text must be read. Texts
 * of other values are read too, or refused.
 */
export function compilePlain({ type, enum: choices, ...schema }: FieldSchema): IsPlainValue | undefined {
  if (choices !== undefined) return undefined
  if (type === 'boolean') return (value) => typeof value === 'boolean'
  if (type !== 'number' && type !== 'integer') return undefined
  const { minimum = -Number.MAX_VALUE, maximum = Number.MAX_VALUE } = schema
  return (value) =>
    typeof value === 'number' &&
    value >= minimum &&
    value <= maximum &&
    (type === 'number' || Number.isSafeInteger(value)) &&
    !Object.is(value, -0)
}

/** See {@link compilePlain}. */
export type IsPlainValue = (value: unknown) => boolean

/** The allowed values of a schema, in words, as refusals and documents name them. */
export function allowedBy(schema: FieldSchema): string {
  if (schema.allowed !== undefined) return schema.allowed
  const choices = schema.enum
  if (choices !== undefined) return `one of ${choices.join(', ')}`
  if (schema.type === 'integer') return `an integer${rangeText(schema)}`
  if (schema.type === 'number') return `a number${rangeText(schema)}`
  if (schema.type === 'boolean') return 'true or false'
  return `${schema.minLength === undefined ? 'a text' : `at least ${schema.minLength} characters`}${sizeText(schema)}`
}

/** A refusal of a value, with the parameter, the allowed values and the sent one. */
export function invalid(name: string, allowed: string, value: string): Refusal {
  const facts = { parameter: name, allowed, names: { value: value.slice(0, 256) } }
  return new Refusal('invalid-parameter', `${name} must be ${allowed}, but is ${shown(value)}.`, facts)
}

function enumField(name: string, choices: readonly string[]): ParseField {
  const known = new Set(choices)
  const allowed = `one of ${choices.join(', ')}`
  return (text) => {
    if (!known.has(text)) throw invalid(name, allowed, text)
    return text
  }
}

function stringField(name: string, schema: FieldSchema): (text: string) => string {
  const { minLength = 0, maxLength = Infinity, maxBytes = Infinity } = schema
  const pattern = schema.pattern === undefined ? undefined : new RegExp(schema.pattern, 'u')
  return (text) => {
    // Length first, so that no pattern runs on a text that is too long.
    if (text.length > maxLength) throw tooLong(name, `at most ${maxLength} characters`, text.length)
    if (text.length < minLength) throw invalid(name, `at least ${minLength} characters`, text)
    // A UTF-16 unit is at most three bytes, so only large values have to be measured.
    if (text.length * 3 > maxBytes) checkBytes(name, text, maxBytes)
    if (pattern !== undefined && !pattern.test(text)) throw invalid(name, allowedBy(schema), text)
    return text
  }
}

/** Only an object or a list can be nested. */
function jsonField(name: string, parse: (text: string) => string, maxDepth: number): ParseField {
  return (text) => {
    const value = parse(text)
    if (!/^\s*[[{]/.test(value)) return value
    checkJsonDepth(name, value, maxDepth)
    checkJsonSize(name, value, MOST_LISTED_VALUES)
    return value
  }
}

function checkBytes(name: string, text: string, maxBytes: number): void {
  const bytes = Buffer.byteLength(text)
  if (bytes > maxBytes) throw tooLong(name, `at most ${maxBytes} bytes of UTF-8`, bytes)
}

function tooLong(name: string, allowed: string, size: number): Refusal {
  const facts = { parameter: name, allowed, names: { size: String(size) } }
  return new Refusal('invalid-parameter', `${name} must have ${allowed}, but has ${size}.`, facts)
}

function numberField(name: string, schema: FieldSchema, form: { syntax: RegExp; noun: string }): ParseField {
  const { minimum = -Number.MAX_VALUE, maximum = Number.MAX_VALUE } = schema
  const isInteger = schema.type === 'integer'
  return (text) => {
    const value = form.syntax.test(text) ? Number(text) : NaN
    const inRange = value >= minimum && value <= maximum
    if (!inRange || (isInteger && !Number.isSafeInteger(value))) throw invalid(name, allowedBy(schema), text)
    return value === 0 ? 0 : value
  }
}

/** The spellings that clients use, in any case; `/svc` refuses every other. */
function strictBoolean(name: string): ParseField {
  return (text) => {
    if (text === 'true') return true
    if (text === 'false') return false
    const short = text.length > 5 ? '' : text.toLowerCase()
    if (TRUE_WORDS.has(short)) return true
    if (FALSE_WORDS.has(short)) return false
    throw invalid(name, 'true or false', text)
  }
}

const TRUE_WORDS = new Set(['true', 'yes', 'on', 't', 'y', '1'])
const FALSE_WORDS = new Set(['false', 'no', 'off', 'f', 'n', '0'])

/** http-compat.md section 0: a few words are true, anything else is false, `1` too. */
function lenientBoolean(text: string): boolean {
  if (text === 'true') return true
  return text.length <= 4 && LENIENT_TRUE.has(text.toLowerCase())
}

const LENIENT_TRUE = new Set(['true', 'yes', 'on', 'y', 't'])

function rangeText({ minimum, maximum }: FieldSchema): string {
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`
  if (minimum !== undefined) return ` of at least ${minimum}`
  return maximum === undefined ? '' : ` of at most ${maximum}`
}

function sizeText({ maxLength, maxBytes }: FieldSchema): string {
  if (maxLength !== undefined) return ` of at most ${maxLength} characters`
  return maxBytes === undefined ? '' : ` of at most ${maxBytes} bytes of UTF-8`
}
