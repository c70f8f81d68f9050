import { Refusal } from '../../../../core/refusal.ts'
import { endOfText } from '../../../parameters/json-depth.ts'

/** A shorter line is read at once, whatever it has. */
const SMALL_LENGTH = 65_536
/** A service with a thousand clusters has some ten thousand. */
const MOST_MARKS = 100_000

const MARKS = new Set(['[', '{', ','].map((mark) => mark.charCodeAt(0)))
const QUOTE = '"'.charCodeAt(0)

/**
 * Throws Refusal `malformed-request` for a line that has more brackets and commas outside of its texts than any thing
 * has. Reading such a one would hold up everything else for seconds. Texts may be long: contents are.
 */
export function checkPlanLine(line: string, number: number): void {
  if (line.length <= SMALL_LENGTH) return
  let marks = 0
  for (let at = 0; at < line.length; at++) {
    const code = line.charCodeAt(at)
    if (code === QUOTE) at = endOfText(line, at)
    else if (MARKS.has(code) && ++marks > MOST_MARKS) throw tooMany(number)
  }
}

function tooMany(number: number): Refusal {
  const message = `line ${number} of the plan: it has more than ${MOST_MARKS} brackets and commas outside of its texts.`
  return new Refusal('malformed-request', message)
}
