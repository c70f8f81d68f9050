import type { Answer, AnswerSchemas, JsonSchema } from './route.ts'
import { ReadyAnswer } from './answer.ts'
import { jsonBody } from '../../answers/json-content.ts'
import { isLongText, type SentText } from '../../../core/text/long-text.ts'
import type { InTurns } from '../../../core/work/long-walks.ts'
import type { PageRequest } from '../../../operations/page.ts'

/** Content types of the interface's answers. */
export const TEXT = 'text/plain;charset=UTF-8'
export const JSON_TYPE = 'application/json'
/** The content type of JSON in the configuration part of `/nacos` (http-compat.md section 0, success types). */
export const JSON_UTF8 = 'application/json;charset=UTF-8'
export const PROBLEM_JSON = 'application/problem+json'

/** A plain text answer. */
export function textAnswer(body: Buffer | string, status = 200, headers?: Answer['headers']): Answer {
  return headers === undefined
    ? { status, contentType: TEXT, body }
    : { status, contentType: TEXT, body, headers }
}

/** A value as JSON. */
export function jsonAnswer(value: unknown, status = 200, headers?: Answer['headers']): Answer {
  const answer = { status, contentType: JSON_TYPE, ...jsonBody(value) }
  return headers === undefined ? answer : { ...answer, headers }
}

/** JSON that has been made already, as text or as bytes. */
export function jsonTextAnswer(body: Buffer | string): Answer {
  return { status: 200, contentType: JSON_TYPE, body }
}

/** JSON that was made for many. */
export function sentJsonAnswer(body: SentText): Answer {
  if (isLongText(body)) return { status: 200, contentType: JSON_TYPE, body: body.head, rest: body.rest }
  return { status: 200, contentType: JSON_TYPE, body, isAscii: typeof body === 'string' }
}

/** About how many bytes of a long answer are made at once. */
const MOST_AT_ONCE = 256 * 1024

/**
 * JSON of these texts, one after the other. A short answer is made at once; a long one has no length, and is made in
 * turns, as fast as its client reads it.
 */
export function jsonOfTexts(texts: Iterable<string>, inTurns: InTurns): Answer {
  const pieces = piecesOf(texts)
  const first = pieces.next().value ?? EMPTY
  if (first.length < MOST_AT_ONCE) return jsonTextAnswer(first)
  async function* chunks(): AsyncGenerator<Buffer> {
    yield first
    yield* inTurns(pieces)
  }
  return { ...jsonTextAnswer(''), chunks: chunks(), kept: [first] }
}

const EMPTY = Buffer.alloc(0)

/** All but the last have at least as many characters as are made at once. None is a text: it waits for its client. */
function* piecesOf(texts: Iterable<string>): Generator<Buffer, void> {
  let piece = ''
  for (const text of texts) {
    piece += text
    if (piece.length < MOST_AT_ONCE) continue
    const bytes = Buffer.from(piece)
    piece = ''
    yield bytes
  }
  yield Buffer.from(piece)
}

/** A value as JSON with the label that the configuration part of `/nacos` uses. */
export function csJsonAnswer(value: unknown): Answer {
  return { status: 200, contentType: JSON_UTF8, ...jsonBody(value) }
}

// Made once: these are the answers of the hottest writes. None ends in a newline, clients compare exactly.
export const OK_TEXT: Answer = asciiAnswer(textAnswer('ok'))
export const EMPTY_TEXT: Answer = asciiAnswer(textAnswer(''))
export const TRUE_JSON: Answer = asciiAnswer(jsonTextAnswer('true'))
export const FALSE_JSON: Answer = asciiAnswer(jsonTextAnswer('false'))
export const CS_TRUE_JSON: Answer = asciiAnswer(csJsonAnswer(true))

/** An answer in ASCII that is given often: its head is made once. */
export function asciiAnswer({ status, contentType, body, headers = {} }: Answer): ReadyAnswer {
  return new ReadyAnswer({ status, contentType, body, headers, isAscii: true })
}

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

/** The schema of a page; `more`: further fields. */
export function pageSchema(
  title: string,
  item: JsonSchema,
  more: Readonly<Record<string, JsonSchema>> = {},
): JsonSchema {
  const { integer, list } = Json
  const page = { totalCount: integer(), pageNumber: integer(), pagesAvailable: integer() }
  return Json.named(title, Json.object({ ...page, pageItems: list(item), ...more }))
}

/** The page object of histories and searches (interface.md, History page). */
export function pageJson(page: PageRequest, totalCount: number, pageItems: readonly object[]): object {
  const pagesAvailable = Math.ceil(totalCount / page.pageSize)
  return { totalCount, pageNumber: page.pageNo, pagesAvailable, pageItems }
}

/** The ids of the servers that have not replied in time, separated by commas. */
const MISSING_HEADER = 'Waypost-Missing-Servers'

/** An answer that is collected from all servers, with a header that names the servers without a reply. */
export function withMissing(answer: Answer, missing: readonly string[]): Answer {
  if (missing.length === 0) return answer
  return { ...answer, headers: { ...answer.headers, [MISSING_HEADER]: missing.join(',') } }
}
