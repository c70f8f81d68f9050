import { Refusal } from '../../../../core/refusal.ts'
import { endOfText } from '../../../parameters/json-depth.ts'

/** A shorter line is read at once, whatever it has. */
const SMALL_LENGTH = 16_384
/** A service with a thousand clusters has some ten thousand. */
const MOST_MARKS = 25_000

const [OPENED, CLOSED, COMMA, QUOTE] = Array.from('{},"', (mark) => mark.charCodeAt(0)) as [
  number,
  number,
  number,
  number,
]
const LIST = '['.charCodeAt(0)
const LIST_END = ']'.charCodeAt(0)
const MARKS = new Set([OPENED, LIST, COMMA])

/**
 * Throws Refusal `malformed-request` for a line that has more brackets and commas outside of its texts than any thing
 * has. It also refuses an object of more keys than metadata of `maxBytes` can have: keys differ, so few have one byte. Reading
 * such a line would hold up everything else. Texts may be long: contents are.
 */
export function checkPlanLine(line: string, number: number, maxBytes: number): void {
  if (line.length <= SMALL_LENGTH) return
  const mostKeys = maxBytes / 2 + 64
  /** The commas of each open bracket; of a list they do not count. */
  const commas: number[] = []
  let marks = 0
  for (let at = 0; at < line.length; at++) {
    const code = line.charCodeAt(at)
    if (code === QUOTE) at = endOfText(line, at)
    else if (code === OPENED || code === LIST) commas.push(code === LIST ? -Infinity : 0)
    else if (code === CLOSED || code === LIST_END) commas.pop()
    else if (code === COMMA && ++commas[commas.length - 1]! >= mostKeys) throw tooManyKeys(number)
    if (MARKS.has(code) && ++marks > MOST_MARKS) throw tooMany(number)
  }
}

function tooManyKeys(number: number): Refusal {
  const message = `line ${number} of the plan: it has an object with more keys than metadata may have bytes for.`
  return new Refusal('malformed-request', message)
}

function tooMany(number: number): Refusal {
  const message = `line ${number} of the plan: it has more than ${MOST_MARKS} brackets and commas outside of its texts.`
  return new Refusal('malformed-request', message)
}
