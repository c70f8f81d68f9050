import type { Finding } from './finding.ts'
import { read } from './read.ts'
import { meetsAny, secretsOf, withoutSecrets } from './secrets.ts'
import { valuesOf } from './values.ts'

/** A key whose value differs between two texts. `before` undefined: it is new; `after` undefined: it is gone. */
export interface ChangedKey {
  readonly key: string
  readonly before: string | undefined
  readonly after: string | undefined
  /** Whether one of the values is not for people nearby. */
  readonly isSecret: boolean
}

/** The keys that differ between two texts. */
export interface ChangedKeys {
  readonly count: number
  /** The first changed keys, by name. */
  readonly first: readonly ChangedKey[]
}

/** Why the keys of a text cannot be listed. */
export interface Unlisted {
  readonly why: Finding
  /** Which of the texts it is. */
  readonly side: 'before' | 'after'
}

/** More are counted only. */
const MOST_NAMED = 200

/** The keys that differ, with the values as they are written; undefined for a type without keys. */
export async function changedKeys(
  type: string,
  before: string,
  after: string,
): Promise<ChangedKeys | Unlisted | undefined> {
  const [old, young] = await Promise.all([keysOf(type, before), keysOf(type, after)])
  if (old === undefined || young === undefined) return undefined
  if ('why' in old) return { why: old.why, side: 'before' }
  if ('why' in young) return { why: young.why, side: 'after' }
  const keys = new Set([...old.keys.keys(), ...young.keys.keys()])
  const changed = [...keys].filter((key) => old.keys.get(key) !== young.keys.get(key)).toSorted()
  const first = changed.slice(0, MOST_NAMED)
  return {
    count: changed.length,
    first: first.map((key) => ({
      key,
      before: old.keys.get(key),
      after: young.keys.get(key),
      isSecret: old.secret.has(key) || young.secret.has(key),
    })),
  }
}

/** The values of a text by their keys, as they are written; or why they cannot be listed. */
export type Keys = ListedKeys | { readonly why: Finding }

interface ListedKeys {
  readonly keys: ReadonlyMap<string, string>
  /** The keys whose values are not for people nearby. */
  readonly secret: ReadonlySet<string>
}

/** The values of a text by their keys; undefined for a type without keys. */
export async function keysOf(type: string, text: string): Promise<Keys | undefined> {
  const reading = await read(type, text)
  if (reading === undefined) return undefined
  const findings = withoutSecrets(reading, type, text)
  const listed = valuesOf({ ...reading, findings }, text)
  if ('why' in listed) return listed
  const ranges = secretsOf(reading, type, text)
  const entries = [...listed.values]
  return {
    keys: new Map(entries.map(([key, { text: value }]) => [key, value])),
    secret: new Set(entries.filter(([, { tree }]) => meetsAny(tree, ranges)).map(([key]) => key)),
  }
}
