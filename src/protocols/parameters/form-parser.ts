import { isAscii, isUtf8 } from 'node:buffer'
import { Refusal } from '../../core/refusal.ts'
import { FormValues } from './form-values.ts'
import { queryOf } from './request-target.ts'
import { detachedFrom } from './detached-text.ts'

/** All parameters of a request: those of the query of its target, and those of a form body after them. */
export function valuesOf(rawUrl: string, body: Buffer | undefined, maxParameters: number): FormValues {
  const values = new FormValues()
  const query = queryOf(rawUrl)
  if (query !== undefined) parseQuery(query, values, maxParameters)
  if (body !== undefined) parseFormBody(body, values, maxParameters)
  return values
}

const PERCENT = 0x25
const PLUS = 0x2b
const SPACE = 0x20

/**
 * Adds the parameters of a request target's query to `values`. Node hands the target over with one character
 * a byte. Its parser refuses bytes above 127 (see client-error.ts); where one lets them through, they are UTF-8.
 */
export function parseQuery(query: string, values: FormValues, maxParameters: number): void {
  // oxlint-disable-next-line no-control-regex
  if (/[^\x00-\x7f]/.test(query)) parseFormBody(Buffer.from(query, 'latin1'), values, maxParameters)
  else parsePairs(query, decodeText, { values, maxParameters })
}

/**
 * Adds the parameters of a form body to `values`. A form is always UTF-8, whatever charset the client claims.
 * Throws Refusal `malformed-request` for other bytes, `too-many` for more than `maxParameters`.
 */
export function parseFormBody(body: Buffer, values: FormValues, maxParameters: number): void {
  const into = { values, maxParameters }
  if (isAscii(body)) parsePairs(body.toString('latin1'), decodeText, into)
  else if (isUtf8(body)) parsePairs(body.toString('utf8'), decodeText, into)
  // Some parameter is not UTF-8, or is so only with its percent sequences: decide value by value.
  else parsePairs(body.toString('latin1'), decodeLatin1, into)
}

type Decode = (text: string, parameter: string) => string

interface Target {
  readonly values: FormValues
  readonly maxParameters: number
}

function parsePairs(text: string, decode: Decode, { values, maxParameters }: Target): void {
  const encoded = new EncodedPlaces(text, decode)
  let count = 0
  let start = 0
  let equals = placeIn(text, '=', 0)
  while (start < text.length) {
    const end = placeIn(text, '&', start)
    // One search for each `=`: a search in every pair without one would go to the end of the form.
    if (equals < start) equals = placeIn(text, '=', start)
    if (end > start) {
      if (++count > maxParameters) throw tooMany(maxParameters)
      const nameEnd = Math.min(equals, end)
      const pair = [cut(text, start, nameEnd), cut(text, nameEnd + 1, end)] as const
      addPair(pair, encoded.isBefore(end) ? decode : undefined, values)
    }
    start = end + 1
  }
}

/** The place of the next such character; the length of the text if there is none. */
function placeIn(text: string, character: string, from: number): number {
  const place = text.indexOf(character, from)
  return place < 0 ? text.length : place
}

/** Names and values outlive their request: they must not keep all of it in memory. */
function cut(text: string, start: number, end: number): string {
  return start < end ? detachedFrom(text, text.slice(start, end)) : ''
}

/** Finds which pairs of a form are encoded, with one search through the form. Pairs are asked for in their order. */
class EncodedPlaces {
  readonly #text: string
  readonly #all: boolean
  #percentAt: number

  constructor(text: string, decode: Decode) {
    this.#text = text
    this.#all = decode !== decodeText || text.includes('+')
    this.#percentAt = text.indexOf('%')
  }

  /** Whether anything is encoded between the `end` of the last call and this one. */
  isBefore(end: number): boolean {
    if (this.#all) return true
    if (this.#percentAt < 0 || this.#percentAt >= end) return false
    this.#percentAt = this.#text.indexOf('%', end)
    return true
  }
}

/** `decode` is undefined if nothing is encoded. */
function addPair(
  [rawName, rawValue]: readonly [name: string, value: string],
  decode: Decode | undefined,
  values: FormValues,
): void {
  if (rawName === '') return
  const name = decode === undefined ? rawName : decode(rawName, 'a parameter name')
  // Repeated parameters are ignored, so they are not decoded.
  if (decode !== undefined && values.get(name) !== undefined) return
  values.add(name, decode === undefined ? rawValue : decode(rawValue, name))
}

/** Decodes text that is valid Unicode; returns the same text if nothing is encoded. */
function decodeText(text: string, parameter: string): string {
  const spaced = text.indexOf('+') < 0 ? text : text.replaceAll('+', ' ')
  if (spaced.indexOf('%') < 0) return spaced
  try {
    return decodeURIComponent(spaced)
  } catch {
    // A broken percent sign, which stays as it is, or bytes that are not UTF-8.
    return decodeBytes(Buffer.from(text, 'utf8'), parameter)
  }
}

function decodeLatin1(text: string, parameter: string): string {
  return decodeBytes(Buffer.from(text, 'latin1'), parameter)
}

/** Decodes `+` and `%xx` byte by byte, in place: the result is never longer than its source. */
function decodeBytes(bytes: Buffer, parameter: string): string {
  let length = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!
    const decoded = byte === PERCENT ? percentByte(bytes, at) : -1
    if (decoded >= 0) at += 2
    bytes[length++] = decoded >= 0 ? decoded : byte === PLUS ? SPACE : byte
  }
  const result = bytes.subarray(0, length)
  if (!isUtf8(result)) throw notUtf8(parameter)
  return result.toString('utf8')
}

/** The byte of `%xx` at this place, or -1 if there is no such sequence. */
function percentByte(bytes: Buffer, at: number): number {
  if (at + 2 >= bytes.length) return -1
  const high = hexDigit(bytes[at + 1]!)
  const low = hexDigit(bytes[at + 2]!)
  return high < 0 || low < 0 ? -1 : high * 16 + low
}

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const letter = code | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x61 + 10 : -1
}

function notUtf8(parameter: string): Refusal {
  const message = `${parameter} is not valid UTF-8. Send it as percent-encoded UTF-8.`
  return new Refusal('malformed-request', message, { parameter, allowed: 'percent-encoded UTF-8' })
}

function tooMany(maxParameters: number): Refusal {
  const allowed = `at most ${maxParameters} parameters`
  return new Refusal('too-many', `The request has too many parameters: ${allowed} are allowed.`, { allowed })
}
