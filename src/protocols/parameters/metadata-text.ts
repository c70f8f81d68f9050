import type { Metadata } from '../../core/naming/state/instance.ts'
import { Refusal } from '../../core/refusal.ts'
import { detachedFrom } from './detached-text.ts'
import { invalid } from './parameter-field.ts'
import { checkJsonSize } from './json-depth.ts'
import { KnownTexts } from '../../core/text/known-texts.ts'

const ALLOWED = 'a JSON object or k=v,k2=v2'

/**
 * Metadata as clients send it: a JSON object or `k=v,k2=v2`. '' and `null` are empty metadata: the Java client sends
 * `null` for an instance without metadata. Throws Refusal `invalid-parameter` naming `parameter` for anything else, and
 * for keys and values of more than `maxBytes` of UTF-8 together.
 */
export function parseMetadata(text: string, parameter: string, maxBytes: number): Metadata {
  const known = KNOWN.get(text)
  if (known?.maxBytes === maxBytes) return known.metadata
  return KNOWN.keep(text, { metadata: readMetadata(text, parameter, maxBytes), maxBytes }).metadata
}

/** Each with the limit that it was checked by. Most instances of a service send the same text. */
const KNOWN = new KnownTexts<{ metadata: Metadata; maxBytes: number }>({ longest: 512, most: 4_096 })

function readMetadata(text: string, parameter: string, maxBytes: number): Metadata {
  const source = text.trim()
  if (source === '' || source === 'null') return {}
  if (!source.startsWith('{')) return parsePairs(source, parameter, maxBytes)
  checkJsonSize(parameter, source, MOST_KEYS)
  return toMetadata(parseJsonObject(source, parameter, ALLOWED), parameter, maxBytes)
}

/** Objects of more keys take far longer to read than their length says. */
export const MOST_KEYS = 10_000

/** Metadata from a JSON object: values become texts, null the empty text. Refuses as `parseMetadata` does. */
export function toMetadata(source: object, parameter: string, maxBytes: number): Metadata {
  // Nearly always nothing has to change, and a copy costs more than parsing the JSON.
  return isSmallMetadata(source as Record<string, unknown>, maxBytes)
    ? (source as Metadata)
    : withTexts(source, parameter, maxBytes)
}

/** One copy of each value: most instances of a framework have the same metadata. */
const VALUES = new KnownTexts<string>({ longest: 64, most: 4_096 })
/** Sharing shorter texts saves no memory. */
const SHORTEST_SHARED = 8

function shared(text: string): string {
  return text.length < SHORTEST_SHARED ? text : (VALUES.get(text) ?? VALUES.keep(text, text))
}

/**
 * Whether all values are texts and surely below the limit (a UTF-16 unit is at most three bytes). Makes equal values
 * share their memory.
 */
function isSmallMetadata(source: Record<string, unknown>, maxBytes: number): boolean {
  let characters = 0
  for (const key of Object.keys(source)) {
    const value = source[key]
    if (typeof value !== 'string') return false
    characters += key.length + value.length
    if (characters * 3 > maxBytes) return false
    // An assignment to `__proto__` would set the prototype.
    if (key !== '__proto__') source[key] = shared(value)
  }
  return true
}

function withTexts(source: object, parameter: string, maxBytes: number): Metadata {
  let bytes = 0
  const texts = Object.entries(source).map(([key, value]) => {
    const text = typeof value === 'string' ? value : valueText(value, parameter)
    bytes += Buffer.byteLength(key) + Buffer.byteLength(text)
    if (bytes > maxBytes) throw tooMuch(parameter, maxBytes)
    return [key, text] as const
  })
  // Also a key such as `__proto__` becomes a key like any other.
  return Object.fromEntries(texts)
}

/** The object that a JSON text holds; throws Refusal `invalid-parameter` for anything else. */
export function parseJsonObject(text: string, parameter: string, allowed: string): Record<string, unknown> {
  const value = parseJson(text, parameter, allowed)
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid(parameter, allowed, text)
  return value as Record<string, unknown>
}

/** The value of a JSON text; throws Refusal `invalid-parameter` for other texts. */
export function parseJson(text: string, parameter: string, allowed: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    throw invalid(parameter, allowed, text)
  }
}

function valueText(value: unknown, parameter: string): string {
  if (value === null) return ''
  if (typeof value !== 'object') return `${value as string | number | boolean}`
  try {
    return JSON.stringify(value)
  } catch {
    // JSON.parse reads any depth, but writing it back needs the stack.
    const message = `${parameter} must not be nested that deeply.`
    throw new Refusal('invalid-parameter', message, { parameter, allowed: ALLOWED })
  }
}

function parsePairs(text: string, parameter: string, maxBytes: number): Metadata {
  const parts = text.replace(/,$/, '').split(',', MOST_KEYS + 1)
  if (parts.length > MOST_KEYS) throw invalid(parameter, `of at most ${MOST_KEYS} keys`, text)
  const pairs = parts.map((pair) => {
    const equals = pair.indexOf('=')
    const key = pair.slice(0, Math.max(equals, 0)).trim()
    if (key === '') throw invalid(parameter, ALLOWED, text)
    return [detachedFrom(text, key), detachedFrom(text, pair.slice(equals + 1).trim())] as const
  })
  return toMetadata(Object.fromEntries(pairs), parameter, maxBytes)
}

function tooMuch(parameter: string, maxBytes: number): Refusal {
  const allowed = `at most ${maxBytes} bytes of UTF-8 in keys and values together`
  return new Refusal('invalid-parameter', `${parameter} must have ${allowed}.`, { parameter, allowed })
}
