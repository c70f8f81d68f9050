import { type Finding, isWarning } from './finding.ts'
import { read } from './read.ts'
import { withoutSecrets } from './secrets.ts'
import { unseenIn } from './unseen.ts'

const MOST_FINDINGS = 100

/**
 * The errors in the form of a text of this type, and then what is odd in it, without the values of secrets. Types without keys have
 * no errors.
 */
export async function check(type: string, text: string): Promise<Finding[]> {
  const reading = await read(type, text)
  const found = reading === undefined ? [] : withoutSecrets(reading, type, text)
  const errors = found.filter((one) => !isWarning(one))
  const wrongPlaces = new Set(errors.map(({ from }) => from))
  const unseen = unseenIn(type, text).filter(({ from }) => !wrongPlaces.has(from))
  const odd = [...found.filter(isWarning), ...unseen].toSorted((a, b) => a.from - b.from)
  return [...errors, ...odd].slice(0, MOST_FINDINGS)
}
