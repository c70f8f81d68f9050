import type { Finding } from './finding.ts'
import { readJson } from './json.ts'
import { readProperties } from './properties.ts'
import type { Reading } from './tree.ts'

/** Readers of formats with keys. Large ones are loaded when they are needed. */
const READERS: Readonly<Record<string, () => Promise<(text: string) => Reading>>> = {
  json: () => Promise.resolve(readJson),
  properties: () => Promise.resolve(readProperties),
  toml: async () => (await import('./toml.ts')).readToml,
  xml: async () => (await import('./xml.ts')).readXml,
  yaml: async () => (await import('./yaml.ts')).readYaml,
}

/** A text that no reader looks at. */
const NOTHING: Reading = { roots: [], findings: [], comments: [] }

/** A text is nested too deeply for a reader. */
const TOO_DEEP: Finding = { code: 'tooDeep', text: '', from: 0, to: 1 }

/**
 * The keys, places and values of a text as they are written, and what is wrong with it; undefined for a type without keys. The text
 * has LF. The time is proportional to its length.
 */
export async function read(type: string, text: string): Promise<Reading | undefined> {
  const reader = Object.hasOwn(READERS, type) ? READERS[type] : undefined
  if (reader === undefined) return undefined
  if (!/[^ \t\n\f]/.test(text)) return NOTHING
  try {
    return (await reader())(text)
  } catch (error) {
    // Readers that follow the nesting of a text run out of stack.
    if (error instanceof RangeError) return { ...NOTHING, findings: [TOO_DEEP] }
    throw error
  }
}
