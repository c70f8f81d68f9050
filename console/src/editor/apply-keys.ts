import { keysOf } from './changed-keys.ts'
import { type Property, propertiesIn } from './properties.ts'

/** The keys of one text that another one takes. */
export interface TakenKeys {
  readonly target: string
  readonly source: string
  readonly keys: readonly string[]
}

/**
 * A text in which some keys have the values of another text; all else stays byte for byte. Both have LF. Undefined where that cannot
 * be done: the result is read again, and must have those values, and no other change.
 */
export async function applyKeys(
  type: string,
  { target, source, keys }: TakenKeys,
): Promise<string | undefined> {
  const result =
    type === 'properties'
      ? withProperties(target, source, keys)
      : type === 'yaml' || type === 'json'
        ? (await import('./yaml-reader.ts')).withValues(target, source, keys)
        : undefined
  return result !== undefined && (await isAsMeant({ type, target, source, result, keys }))
    ? result
    : undefined
}

async function isAsMeant(made: {
  readonly type: string
  readonly target: string
  readonly source: string
  readonly result: string
  readonly keys: readonly string[]
}): Promise<boolean> {
  const { type, target, source, result, keys } = made
  const [old, wanted, found] = await Promise.all([target, source, result].map((text) => keysOf(type, text)))
  if (old === undefined || wanted === undefined || found === undefined) return false
  const expected = new Map(old)
  for (const key of keys) {
    const value = wanted.get(key)
    if (value === undefined) return false
    expected.set(key, value)
  }
  return (
    found.size === expected.size && Array.from(expected).every(([key, value]) => found.get(key) === value)
  )
}

/** Takes whole lines: a key keeps its escapes and its separator. */
function withProperties(target: string, source: string, keys: readonly string[]): string {
  const lineOf = ({ from, to }: Property): string => source.slice(from, to)
  const wanted = new Map(propertiesIn(source).map((one) => [one.key, lineOf(one)]))
  const taken = new Set(keys)
  let result = ''
  let at = 0
  for (const { key, from, to } of propertiesIn(target)) {
    const line = wanted.get(key)
    if (!taken.delete(key) || line === undefined) continue
    result += target.slice(at, from) + line
    at = to
  }
  result += target.slice(at)
  for (const key of taken) {
    const gap = result === '' || result.endsWith('\n') ? '' : '\n'
    result += `${gap}${wanted.get(key) ?? ''}\n`
  }
  return result
}
