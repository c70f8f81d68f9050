import type { Instance } from '../server/services.ts'

type Metadata = Instance['metadata']

/** The change of instances; undefined: each stays as it is. */
export interface WantedChange {
  readonly weight: number | undefined
  readonly enabled: boolean | undefined
  /** Keys to write. */
  readonly set: Metadata
  /** Keys to remove. */
  readonly removed: readonly string[]
}

/** A value of an instance that changes; undefined: there is none. */
export interface ValueChange {
  readonly what: 'weight' | 'enabled' | 'metadata'
  readonly key: string
  readonly before: string | undefined
  readonly after: string | undefined
}

/** The changes of an instance; nothing where it is like this already. */
export function changesOf(
  instance: Instance,
  { weight, enabled, set, removed }: WantedChange,
): ValueChange[] {
  const { metadata } = instance
  const valueOf = (key: string): string | undefined =>
    Object.hasOwn(metadata, key) ? metadata[key] : undefined
  const changes: ValueChange[] = []
  const note = (what: ValueChange['what'], key: string, values: (string | undefined)[]): void => {
    const [before, after] = values
    if (before !== after) changes.push({ what, key, before, after })
  }
  if (weight !== undefined) note('weight', '', [String(instance.weight), String(weight)])
  if (enabled !== undefined) note('enabled', '', [String(instance.enabled), String(enabled)])
  for (const [key, value] of Object.entries(set)) note('metadata', key, [valueOf(key), value])
  for (const key of removed) if (!Object.hasOwn(set, key)) note('metadata', key, [valueOf(key), undefined])
  return changes
}

/** The changes from one metadata to another. */
export function metadataChange(before: Metadata, after: Metadata): Pick<WantedChange, 'set' | 'removed'> {
  const isNew = ([key, value]: [string, string]): boolean =>
    !Object.hasOwn(before, key) || before[key] !== value
  return {
    set: Object.fromEntries(Object.entries(after).filter(isNew)),
    removed: Object.keys(before).filter((key) => !Object.hasOwn(after, key)),
  }
}
