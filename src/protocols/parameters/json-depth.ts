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
  if (depthOf(bytes ?? Buffer.from(text), most) <= most) return
  const allowed = `JSON that is nested at most ${most} deep`
  throw new Refusal('too-deep', `${parameter} must be ${allowed}.`, { parameter, allowed })
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
function endOfTextIn(bytes: Uint8Array, start: number): number {
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

const COMMA = 0x2c

/**
 * Throws Refusal `malformed-request` for JSON of more than `most` values: a parser takes far longer for many small
 * values than for a long text. Reads each byte once, or each character where there is only a text, with that number of commas.
 */
export function checkJsonSize(parameter: string, json: string | ReceivedJson, most: number): void {
  const { text, bytes }: ReceivedJson = typeof json === 'string' ? { text: json } : json
  // A value and its comma take two characters.
  if (text.length < 2 * most) return
  const commas = bytes === undefined ? commasOf(text, most) : commasIn(bytes, most)
  if (commas < most) return
  const allowed = `JSON of at most ${most} values`
  throw new Refusal('malformed-request', `${parameter} must be ${allowed}.`, { parameter, allowed })
}

/** Whether there are at least `most` commas, in texts too. */
function hasMoreCommas(text: string, most: number): boolean {
  let left = most
  for (let at = text.indexOf(','); at >= 0; at = text.indexOf(',', at + 1)) if (--left === 0) return true
  return false
}

/** The commas outside of texts, or `most` where there are more. Zero at once where there are too few in texts too. */
function commasOf(text: string, most: number): number {
  let commas = 0
  if (!hasMoreCommas(text, most)) return commas
  for (let at = 0; at < text.length && commas < most; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfText(text, at)
    else if (code === COMMA) commas++
  }
  return commas
}

/** The same, in bytes of UTF-8. */
function commasIn(bytes: Uint8Array, most: number): number {
  let commas = 0
  for (let at = 0; at < bytes.length && commas < most; at++) {
    if (bytes[at] === QUOTE) at = endOfTextIn(bytes, at)
    else if (bytes[at] === COMMA) commas++
  }
  return commas
}
