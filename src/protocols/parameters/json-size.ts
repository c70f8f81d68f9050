import { Refusal } from '../../core/refusal.ts'
import { endOfText } from './json-depth.ts'

const QUOTE = 0x22
const COMMA = 0x2c

/**
 * Throws Refusal `malformed-request` for JSON of more than `most` values: a parser takes far longer for many small
 * values than for a long text. Reads each character once, unless there are too few commas.
 */
export function checkJsonSize(parameter: string, text: string, most: number): void {
  // A value and its comma take two characters.
  if (text.length < 2 * most || !hasMoreCommas(text, most) || commasOf(text, most) < most) return
  const allowed = `JSON of at most ${most} values`
  throw new Refusal('malformed-request', `${parameter} must be ${allowed}.`, { parameter, allowed })
}

/** Whether there are at least `most` commas, in texts too. */
function hasMoreCommas(text: string, most: number): boolean {
  let left = most
  for (let at = text.indexOf(','); at >= 0; at = text.indexOf(',', at + 1)) if (--left === 0) return true
  return false
}

/** The commas outside of texts, or `most` where there are more. */
function commasOf(text: string, most: number): number {
  let commas = 0
  for (let at = 0; at < text.length && commas < most; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfText(text, at)
    else if (code === COMMA) commas++
  }
  return commas
}
