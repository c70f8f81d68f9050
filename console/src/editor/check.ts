import { checkJson } from './check-json.ts'
import type { Finding } from './finding.ts'
import { propertiesIn } from './properties.ts'

const MOST_FINDINGS = 100

/** The errors in the form of a text of this type; nothing for types that are not checked. */
export async function check(type: string, text: string): Promise<Finding[]> {
  if (text.trim() === '') return []
  try {
    return (await findingsIn(type, text)).slice(0, MOST_FINDINGS)
  } catch (error) {
    // Readers that follow the nesting of a text run out of stack.
    if (error instanceof RangeError) return [{ code: 'tooDeep', text: '', from: 0, to: 1 }]
    throw error
  }
}

async function findingsIn(type: string, text: string): Promise<Finding[]> {
  switch (type) {
    case 'yaml':
      return (await import('./yaml-reader.ts')).checkYaml(text)
    case 'toml':
      return (await import('./toml-reader.ts')).checkToml(text)
    case 'json':
      return checkJson(text)
    case 'xml':
      return (await import('./xml-reader.ts')).checkXml(text)
    case 'properties':
      return checkProperties(text)
    default:
      return []
  }
}

function checkProperties(text: string): Finding[] {
  const keys = new Set<string>()
  return propertiesIn(text).flatMap(({ key, from, to }) => {
    const isKnown = keys.has(key)
    keys.add(key)
    const escape = /\\u(?![\da-fA-F]{4})/.exec(text.slice(from, to))
    const twice: Finding[] = isKnown ? [{ code: 'duplicateKey', text: key, from, to }] : []
    return escape === null
      ? twice
      : [...twice, { code: 'wrongEscape', text: '', from: from + escape.index, to: from + escape.index + 2 }]
  })
}
