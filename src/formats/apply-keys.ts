import { keysOf } from './changed-keys.ts'
import { read } from './read.ts'
import type { Collection, Member } from './tree.ts'
import { type ListedValues, type PlacedValue, valuesOf } from './values.ts'

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
      ? await withProperties(target, source, keys)
      : type === 'yaml' || type === 'json'
        ? await withValues(type, { target, source, keys })
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
  const [old, wanted, found] = await Promise.all([target, source, result].map((text) => listed(type, text)))
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

async function listed(type: string, text: string): Promise<ReadonlyMap<string, string> | undefined> {
  const found = await keysOf(type, text)
  return found !== undefined && 'keys' in found ? found.keys : undefined
}

/** Takes whole lines: a key keeps its escapes and its separator. */
async function withProperties(target: string, source: string, keys: readonly string[]): Promise<string> {
  const [own, other] = await Promise.all([target, source].map((text) => propertiesIn(text)))
  const lineOf = ({ key, value }: Member): string => source.slice(key.from, value.to)
  const wanted = new Map(other!.map((one) => [one.step, lineOf(one)]))
  const taken = new Set(keys)
  let result = ''
  let at = 0
  for (const { step, key, value } of own!) {
    const line = wanted.get(step)
    if (!taken.delete(step) || line === undefined) continue
    result += target.slice(at, key.from) + line
    at = value.to
  }
  result += target.slice(at)
  for (const key of taken) {
    const gap = result === '' || result.endsWith('\n') ? '' : '\n'
    result += `${gap}${wanted.get(key) ?? ''}\n`
  }
  return result
}

async function propertiesIn(text: string): Promise<readonly Member[]> {
  const [root] = (await read('properties', text))?.roots ?? []
  return root?.kind === 'map' ? root.members : []
}

interface TextEdit {
  readonly from: number
  readonly to: number
  readonly text: string
}

/** A YAML or JSON text with the values of some keys of another one; undefined where a key has no place. */
async function withValues(type: string, { target, source, keys }: TakenKeys): Promise<string | undefined> {
  const [own, other] = await Promise.all([target, source].map((text) => placesIn(type, text)))
  if (own === undefined || other === undefined) return undefined
  const edits: TextEdit[] = []
  for (const key of keys) {
    const wanted = other.values.get(key)
    if (wanted === undefined) return undefined
    const { from, to } = wanted.tree
    const there = own.values.get(key)?.tree
    const edit =
      there === undefined
        ? insertion(target, ownSource(source, wanted), own.collections.get(wanted.above))
        : { from: there.from, to: there.to, text: source.slice(from, to) }
    if (edit === undefined) return undefined
    edits.push(edit)
  }
  let result = target
  for (const { from, to, text } of edits.toSorted((a, b) => b.from - a.from))
    result = result.slice(0, from) + text + result.slice(to)
  return result
}

async function placesIn(type: string, text: string): Promise<ListedValues | undefined> {
  const reading = await read(type, text)
  const found = reading === undefined ? undefined : valuesOf(reading, text)
  return found !== undefined && 'values' in found ? found : undefined
}

/** A key with its value, as the text has them. */
function ownSource(source: string, { member }: PlacedValue): string | undefined {
  return member === undefined ? undefined : source.slice(member.key.from, member.value.to).trimEnd()
}

/** Where a key goes that a map does not have: behind its last one, indented as that. */
function insertion(
  target: string,
  own: string | undefined,
  parent: Collection | undefined,
): TextEdit | undefined {
  const last = parent?.kind === 'map' ? parent.members.at(-1) : undefined
  if (own === undefined || parent === undefined || last === undefined) return undefined
  const end = last.value.to
  const indent = target.slice(target.lastIndexOf('\n', last.key.from - 1) + 1, last.key.from)
  const isOnOwnLine = indent.trim() === ''
  if (parent.isFlow === true)
    return { from: end, to: end, text: `,${isOnOwnLine ? `\n${indent}` : ' '}${own}` }
  if (!isOnOwnLine) return undefined
  const isAtStart = target[end - 1] === '\n'
  return { from: end, to: end, text: isAtStart ? `${indent}${own}\n` : `\n${indent}${own}` }
}
