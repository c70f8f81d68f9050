import { labelName } from '../../core/config/state/gray-rule.ts'

/**
 * The labels of a client as one text: `key=value`, separated by commas. A comma, a backslash and the equals sign of a
 * name have a backslash before them. A label without a value is left out.
 */
export function labelsText(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${escaped(name, /[\\,=]/g)}=${escaped(value, /[\\,]/g)}`)
    .join(',')
}

function escaped(text: string, characters: RegExp): string {
  return text.replace(characters, '\\$&')
}

/** The labels of {@link labelsText}, by their names as rules know them. White space around names and values does not count. */
export function labelsOf(text: string): ReadonlyMap<string, string> {
  const labels = new Map<string, string>()
  for (const [name, value] of pairsIn(text)) if (name !== '') labels.set(labelName(name), value)
  return labels
}

function* pairsIn(text: string): Generator<readonly [name: string, value: string]> {
  let name: string | undefined
  let part = ''
  const pair = () =>
    name === undefined ? ([part.trim(), ''] as const) : ([name.trim(), part.trim()] as const)
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!
    if (character === '\\' && at + 1 < text.length) part += text[++at]!
    else if (character === '=' && name === undefined) [name, part] = [part, '']
    else if (character === ',') {
      yield pair()
      name = undefined
      part = ''
    } else part += character
  }
  yield pair()
}
