import { ReadyAnswer, type Answer } from './answer.ts'
import { isLongText, type SentText } from '../../../core/text/long-text.ts'
import type { InTurns } from '../../../core/work/long-walks.ts'

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
export function jsonAnswer(value: unknown, status = 200): Answer {
  return { status, contentType: JSON_TYPE, body: JSON.stringify(value) }
}

/** JSON that has been made already, as text or as bytes. */
export function jsonTextAnswer(body: Buffer | string, status = 200): Answer {
  return { status, contentType: JSON_TYPE, body }
}

/** JSON that was made for many. */
export function sentJsonAnswer(body: SentText): Answer {
  if (isLongText(body)) return { status: 200, contentType: JSON_TYPE, body: body.head, rest: body.rest }
  return { status: 200, contentType: JSON_TYPE, body, isAscii: typeof body === 'string' }
}

/** About how many characters of a long answer are made at once. */
const MOST_AT_ONCE = 256 * 1024

/**
 * JSON of these texts, one after the other. A short answer is made at once; a long one has no length, and is made in
 * turns, as fast as its client reads it.
 */
export function jsonOfTexts(texts: Iterable<string>, inTurns: InTurns): Answer {
  const pieces = piecesOf(texts)
  const first = pieces.next().value ?? ''
  if (first.length < MOST_AT_ONCE) return jsonTextAnswer(first)
  async function* chunks(): AsyncGenerator<Buffer> {
    yield Buffer.from(first)
    for await (const piece of inTurns(pieces)) yield Buffer.from(piece)
  }
  return { ...jsonTextAnswer(''), chunks: chunks() }
}

/** All but the last have at least as many characters as are made at once. */
function* piecesOf(texts: Iterable<string>): Generator<string, void> {
  let piece = ''
  for (const text of texts) {
    piece += text
    if (piece.length < MOST_AT_ONCE) continue
    yield piece
    piece = ''
  }
  yield piece
}

/** A value as JSON with the label that the configuration part of `/nacos` uses. */
export function csJsonAnswer(value: unknown, status = 200): Answer {
  return { status, contentType: JSON_UTF8, body: JSON.stringify(value) }
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
