import { propertiesIn } from './properties.ts'

/** A key whose value differs between two texts. `before` undefined: it is new; `after` undefined: it is gone. */
export interface ChangedKey {
  readonly key: string
  readonly before: string | undefined
  readonly after: string | undefined
}

/** The keys that differ between two texts. */
export interface ChangedKeys {
  readonly count: number
  /** The first changed keys, by name. */
  readonly first: readonly ChangedKey[]
}

/** More are counted only. */
const MOST_NAMED = 200

/** The keys that differ; undefined where one of the texts has no keys or cannot be read. */
export async function changedKeys(
  type: string,
  before: string,
  after: string,
): Promise<ChangedKeys | undefined> {
  const [old, young] = await Promise.all([keysOf(type, before), keysOf(type, after)])
  if (old === undefined || young === undefined) return undefined
  const keys = new Set([...old.keys(), ...young.keys()])
  const changed = [...keys].filter((key) => old.get(key) !== young.get(key)).toSorted()
  const first = changed.slice(0, MOST_NAMED)
  return {
    count: changed.length,
    first: first.map((key) => ({ key, before: old.get(key), after: young.get(key) })),
  }
}

/** The values of a text by their keys; undefined where it has no keys or cannot be read. */
export async function keysOf(type: string, text: string): Promise<Map<string, string> | undefined> {
  try {
    switch (type) {
      case 'properties':
        return new Map(propertiesIn(text).map(({ key, value }) => [key, value]))
      case 'json':
        return text.trim() === '' ? new Map() : flattened(JSON.parse(text) as unknown)
      case 'yaml':
        return flattenedIfRead((await import('./yaml-reader.ts')).readYaml(text))
      case 'toml':
        return flattenedIfRead((await import('./toml-reader.ts')).readToml(text))
      default:
        return undefined
    }
  } catch {
    return undefined
  }
}

function flattenedIfRead(read: { readonly value: unknown } | undefined): Map<string, string> | undefined {
  return read === undefined ? undefined : flattened(read.value)
}

const DEEPEST = 100

/** Each value that is neither a list nor an object, by its path: `server.ports[0]`. */
function flattened(value: unknown): Map<string, string> {
  const found = new Map<string, string>()
  const visit = (path: string, one: unknown, depth: number): void => {
    if (one instanceof Date) found.set(path, one.toISOString())
    else if (typeof one !== 'object' || one === null || depth > DEEPEST) found.set(path, String(one))
    else if (Array.isArray(one)) one.forEach((each, index) => visit(`${path}[${index}]`, each, depth + 1))
    else
      for (const [key, each] of Object.entries(one))
        visit(path === '' ? key : `${path}.${key}`, each, depth + 1)
  }
  if (value !== null && value !== undefined) visit('', value, 0)
  return found
}
