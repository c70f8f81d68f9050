import { Refusal } from '../../core/refusal.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** A text of JSON, with its bytes of UTF-8 where they are at hand. */
export interface ReceivedJson {
  readonly text: string
  readonly bytes?: Uint8Array
}

/**
 * Throws Refusal `too-deep` for JSON that is nested more than `most` deep: recursive code
 * that works on it later needs a stack of that depth. Reads each character once, unless there are too few brackets.
 * A text that is not JSON passes: its parser has the better message.
 */
export function checkJsonDepth(parameter: string, json: string | ReceivedJson, most: number): void {
  const { text, bytes }: ReceivedJson = typeof json === 'string' ? { text: json } : json
  if (text.length <= most || !hasMoreBrackets(text, most)) return
  if (depthOf(bytes ?? Buffer.from(text), most) > most) throw tooDeep(parameter, most)
}

/** The refusal of JSON that is nested deeper. */
export function tooDeep(parameter: string, most: number): Refusal {
  const allowed = `JSON that is nested at most ${most} deep`
  return new Refusal('too-deep', `${parameter} must be ${allowed}.`, { parameter, allowed })
}

/** Whether there are more opening brackets than `most`: without that many no text is nested so deeply. */
function hasMoreBrackets(text: string, most: number): boolean {
  let left = most
  for (const bracket of ['{', '[']) {
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) {
      if (left-- === 0) return true
    }
  }
  return false
}

/** The depth of the brackets outside of texts, or the first that is more than `most`. Bytes are read faster than characters. */
function depthOf(bytes: Uint8Array, most: number): number {
  let depth = 0
  let deepest = 0
  for (let at = 0; at < bytes.length && deepest <= most; at++) {
    const code = bytes[at]
    if (code === QUOTE) at = endOfTextIn(bytes, at)
    else if (code === 0x7b || code === 0x5b) deepest = Math.max(deepest, ++depth)
    else if (code === 0x7d || code === 0x5d) depth--
  }
  return deepest
}

/** The same as {@link endOfText}, in bytes of UTF-8. */
export function endOfTextIn(bytes: Uint8Array, start: number): number {
  let at = start + 1
  for (; at < bytes.length && bytes[at] !== QUOTE; at++) if (bytes[at] === BACKSLASH) at++
  return at
}

/** Where the text that begins at `start` ends: at its closing quote, or with the whole. */
export function endOfText(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === BACKSLASH) at++
    else if (code === QUOTE) return at
  }
  return text.length
}

/** The most values of a list that a request names: 10,000 things with seven fields each. */
export const MOST_LISTED_VALUES = 80_000

/**
 * Throws Refusal `malformed-request` for JSON of more than `most` values, lists and objects included. A parser takes far longer
 * for many small values than for a long text. Reads each byte once.
 */
export function checkJsonSize(parameter: string, text: string, most: number): void {
  if (text.length > most && valuesIn(Buffer.from(text)) > most) throw tooManyValues(parameter, most)
}

/** The refusal of JSON of more values. */
export function tooManyValues(parameter: string, most: number): Refusal {
  const allowed = `JSON of at most ${most} values`
  return new Refusal('malformed-request', `${parameter} must be ${allowed}.`, { parameter, allowed })
}

/** 1 for the code of a comma, or of an opening bracket: a value begins there. */
const BEGINS = Uint8Array.from({ length: 256 }, (_, code) =>
  ',[{'.includes(String.fromCharCode(code)) ? 1 : 0,
)

/** The commas and opening brackets outside of texts. */
function valuesIn(bytes: Uint8Array): number {
  let values = 0
  for (let at = 0; at < bytes.length; at++) {
    const code = bytes[at]!
    if (code === QUOTE) at = endOfTextIn(bytes, at)
    else values += BEGINS[code]!
  }
  return values
}
