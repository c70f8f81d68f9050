import { isAscii, isUtf8 } from 'node:buffer'
import { Refusal } from '../../core/refusal.ts'
import { detachedFrom } from './detached-text.ts'
import { FormFields, MOST_EMPTY, tooMany } from './form-fields.ts'
import { decodePercents, spacePluses } from './percent-bytes.ts'
import { queryOf } from './request-target.ts'

/**
 * All parameters of a request: first from the query of its target, then from a form body. The body is used up: its
 * fields are decoded in place.
 */
export function valuesOf(rawUrl: string, body: Buffer | undefined, maxParameters: number): FormValues {
  const values = new FormValues()
  const query = queryOf(rawUrl)
  if (query !== undefined) parseQuery(query, values, maxParameters)
  if (body !== undefined) parseFormBody(body, values, maxParameters)
  return values
}

/**
 * Adds the parameters of a request target's query to `values`. Node hands the target over with one character
 * a byte. Its parser refuses bytes above 127 (see client-error.ts); where one lets them through, they are UTF-8.
 */
export function parseQuery(query: string, values: FormValues, maxParameters: number): void {
  // oxlint-disable-next-line no-control-regex
  if (/[^\x00-\x7f]/.test(query)) parseFormBody(Buffer.from(query, 'latin1'), values, maxParameters)
  else parsePairs(query, values, maxParameters)
}

/**
 * Adds the parameters of a form body to `values`, and uses up its bytes. A form is always UTF-8, whatever charset the
 * client claims. Throws Refusal `malformed-request` for other bytes, `too-many` for more than `maxParameters`.
 */
export function parseFormBody(body: Buffer, values: FormValues, maxParameters: number): void {
  if (body.length <= SMALL_FORM && isAscii(body)) parsePairs(body.toString('latin1'), values, maxParameters)
  else parseBytes(body, values, maxParameters)
}

/** Short texts are cut and decoded faster than bytes. */
const SMALL_FORM = 4_096

/** No parameter has a longer name, in bytes as they are sent: such fields are ignored as unknown ones are, and not decoded. */
const LONGEST_NAME = 4_096

function parseBytes(body: Buffer, values: FormValues, maxParameters: number): void {
  const fields = new FormFields(body, maxParameters)
  while (fields.next()) {
    const { start, nameEnd, valueStart, end } = fields
    if (nameEnd === start || nameEnd - start > LONGEST_NAME) continue
    const name = decodeBytes(body.subarray(start, nameEnd), 'a parameter name')
    // Repeated parameters are ignored, so they are not decoded.
    if (values.get(name) === undefined) values.add(name, decodeBytes(body.subarray(valueStart, end), name))
  }
}

function parsePairs(text: string, values: FormValues, maxParameters: number): void {
  const encoded = new EncodedPlaces(text)
  let count = 0
  let empty = 0
  let start = 0
  let equals = placeIn(text, '=', 0)
  while (start < text.length) {
    const end = placeIn(text, '&', start)
    // One search for each `=`: a search in every pair without one would go to the end of the query.
    if (equals < start) equals = placeIn(text, '=', start)
    if (end === start) {
      if (++empty > MOST_EMPTY) throw tooMany(maxParameters)
    } else {
      if (++count > maxParameters) throw tooMany(maxParameters)
      const nameEnd = Math.min(equals, end)
      const pair = [cut(text, start, nameEnd), cut(text, nameEnd + 1, end)] as const
      addPair(pair, encoded.isBefore(end), values)
    }
    start = end + 1
  }
}

/** The place of the next such character, or else the length of the text. */
function placeIn(text: string, character: string, from: number): number {
  const place = text.indexOf(character, from)
  return place < 0 ? text.length : place
}

/** Names and values outlive their request: they must not keep all of it in memory. */
function cut(text: string, start: number, end: number): string {
  return start < end ? detachedFrom(text, text.slice(start, end)) : ''
}

/** Finds which pairs of a query are encoded, with one search through it. Pairs are asked for in their order. */
class EncodedPlaces {
  readonly #text: string
  readonly #all: boolean
  #percentAt: number

  constructor(text: string) {
    this.#text = text
    this.#all = text.includes('+')
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

function addPair(
  [rawName, rawValue]: readonly [name: string, value: string],
  isEncoded: boolean,
  values: FormValues,
): void {
  if (rawName === '') return
  const name = isEncoded ? decodeText(rawName, 'a parameter name') : rawName
  // Repeated parameters are ignored, so they are not decoded.
  if (isEncoded && values.get(name) !== undefined) return
  values.add(name, isEncoded ? decodeText(rawValue, name) : rawValue)
}

/** In longer texts, replacing very many plus signs would take V8 long: they are decoded as bytes. */
const MOST_SPACED = 256

/** Decodes ASCII text; returns the same text if nothing is encoded. */
function decodeText(text: string, parameter: string): string {
  const hasSpaces = text.indexOf('+') >= 0
  if (hasSpaces && text.length > MOST_SPACED) return decodeBytes(Buffer.from(text, 'latin1'), parameter)
  const spaced = hasSpaces ? text.replaceAll('+', ' ') : text
  if (spaced.indexOf('%') < 0) return spaced
  try {
    return decodeURIComponent(spaced)
  } catch {
    // A broken percent sign, which stays as it is, or bytes that are not UTF-8.
    return decodeBytes(Buffer.from(text, 'latin1'), parameter)
  }
}

/** The text of a field, whose bytes are used up. Throws Refusal `malformed-request` where it is not UTF-8. */
export function decodeBytes(bytes: Buffer, parameter: string): string {
  spacePluses(bytes)
  const decoded = decodePercents(bytes)
  if (!isUtf8(decoded)) throw notUtf8(parameter)
  return decoded.toString('utf8')
}

function notUtf8(parameter: string): Refusal {
  const message = `${parameter} is not valid UTF-8. Send it as percent-encoded UTF-8.`
  return new Refusal('malformed-request', message, { parameter, allowed: 'percent-encoded UTF-8' })
}

/** With more parameters than this, a map is made. */
const FEW = 32

/**
 * The parameters of a request by name. The first of several with the same name counts. A request has few parameters and
 * each is read about once, so a linear search is cheaper than a map, in time and in garbage.
 */
export class FormValues {
  readonly #names: string[] = []
  readonly #values: string[] = []
  /** The first place of each name, once there are many. */
  #places: Map<string, number> | undefined

  /** Adds a parameter; a repeated name is never found. */
  add(name: string, value: string): void {
    const place = this.#names.push(name) - 1
    this.#values.push(value)
    if (this.#places === undefined) {
      if (place === FEW) this.#places = placesOf(this.#names)
    } else if (!this.#places.has(name)) this.#places.set(name, place)
  }

  /** The value of that name. */
  get(name: string): string | undefined {
    const place = this.#placeOf(name)
    return place < 0 ? undefined : this.#values[place]
  }

  /** The first value of each name, in order. */
  *[Symbol.iterator](): Generator<readonly [name: string, value: string]> {
    for (const [place, name] of this.#names.entries()) {
      if (this.#placeOf(name) === place) yield [name, this.#values[place]!]
    }
  }

  /** The place of a name, or -1. */
  #placeOf(name: string): number {
    return this.#places === undefined ? this.#names.indexOf(name) : (this.#places.get(name) ?? -1)
  }
}

function placesOf(names: readonly string[]): Map<string, number> {
  const places = new Map<string, number>()
  for (const [place, name] of names.entries()) if (!places.has(name)) places.set(name, place)
  return places
}
