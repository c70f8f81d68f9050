import { JSON_TYPE } from './answers.ts'

/** The JSON Schema of an answer, or of a part of one. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** The answers of an operation at 200, by content type. */
export type AnswerSchemas = Readonly<Record<string, JsonSchema>>

/** Marks a field that may be absent. A symbol, so that the published schema does not contain it. */
const OPTIONAL: unique symbol = Symbol('optional')

/** Builds the schemas of answers: plain JSON Schema. An object has all its fields, and no others. */
export const Json = {
  string: (description?: string) => described({ type: 'string' }, description),
  integer: (description?: string) => described({ type: 'integer' }, description),
  number: (description?: string) => described({ type: 'number' }, description),
  boolean: (description?: string) => described({ type: 'boolean' }, description),
  /** A time in epoch milliseconds. */
  time: (description = 'Epoch milliseconds.') => described({ type: 'integer' }, description),
  /** One of the words. */
  words: (words: readonly string[], description?: string) => described({ enum: words }, description),
  constant: (value: unknown) => ({ const: value }) as JsonSchema,
  nullable: (schema: JsonSchema) => ({ anyOf: [schema, { type: 'null' }] }) as JsonSchema,
  anyOf: (...schemas: JsonSchema[]) => ({ anyOf: schemas }) as JsonSchema,
  list: (items: JsonSchema) => ({ type: 'array', items }) as JsonSchema,
  /** An object with fields of any name. */
  map: (values: JsonSchema) => ({ type: 'object', additionalProperties: values }) as JsonSchema,
  object: objectOf,
  /** A field of an object that may be absent. */
  optional: (schema: JsonSchema) => ({ ...schema, [OPTIONAL]: true }) as JsonSchema,
  /** A schema with a name of its own in the document. */
  named: (title: string, schema: JsonSchema) => ({ title, ...schema }) as JsonSchema,
}

/** The answer is JSON of this schema. */
export function answersJson(schema: JsonSchema): AnswerSchemas {
  return { [JSON_TYPE]: schema }
}

/** The answer is a text. */
export function answersText(description: string): AnswerSchemas {
  return { 'text/plain': { type: 'string', description } }
}

/** The answer is `ok`. */
export const ANSWERS_OK: AnswerSchemas = { 'text/plain': Json.constant('ok') }
/** The answer is `true`. */
export const ANSWERS_TRUE = answersJson(Json.constant(true))

function described(schema: JsonSchema, description: string | undefined): JsonSchema {
  return description === undefined ? schema : { ...schema, description }
}

function objectOf(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  const isRequired = (name: string) => !(OPTIONAL in properties[name]!)
  const required = Object.keys(properties).filter(isRequired)
  return { type: 'object', properties, required, additionalProperties: false }
}
