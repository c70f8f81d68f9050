import { SETS_GROUP } from '../../../archive/entry-names.ts'
import { DiffersError, UsageError } from '../../../command/command-line.ts'
import type { SvcClient } from '../../session-of-flags.ts'
import { itemParams, readItem } from '../item.ts'
import { allConfigs } from '../read-configs.ts'

/** The items that earlier applies of a set have published: the md5 of each, by its name. */
export interface SetRecord {
  readonly items: ReadonlyMap<string, string>
  /** The md5 of the record itself; empty before the first record. */
  readonly md5: string
}

/** The record of a set. It is an item of the namespace, so that every machine that applies the set finds it. */
export async function readRecord(client: SvcClient, set: string): Promise<SetRecord> {
  try {
    const { content, md5 } = await readItem(client, { group: SETS_GROUP, dataId: set })
    return { items: itemsIn(content, set), md5 }
  } catch (error) {
    if (error instanceof DiffersError) return { items: new Map(), md5: '' }
    throw error
  }
}

function itemsIn(content: string, set: string): ReadonlyMap<string, string> {
  try {
    const { items } = JSON.parse(content) as { items: Record<string, string> }
    return new Map(Object.entries(items))
  } catch (cause) {
    throw new UsageError(`The record ${SETS_GROUP}/${set} is damaged: restore an older version of it.`, {
      cause,
    })
  }
}

/** The other sets of the namespace, by the names of the items that they have published. */
export async function otherSets(
  client: SvcClient,
  set: string,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const setsOf = new Map<string, string[]>()
  for (const { dataId } of await allConfigs(client, { group: SETS_GROUP })) {
    if (dataId === set) continue
    // A damaged record of another set is reported by the applies of that set.
    const { items } = await readRecord(client, dataId).catch(() => ({ items: new Map<string, string>() }))
    for (const name of items.keys()) setsOf.set(name, [...(setsOf.get(name) ?? []), dataId])
  }
  return setsOf
}

/** Writes the record, if nobody has changed it since it was read. */
export async function writeRecord(
  client: SvcClient,
  set: string,
  { items, md5 }: { readonly items: ReadonlyMap<string, string>; readonly md5: string },
): Promise<void> {
  const sorted = Object.fromEntries([...items].toSorted(([a], [b]) => (a < b ? -1 : 1)))
  await client.send('POST', '/cs/configs', {
    ...itemParams(client, { group: SETS_GROUP, dataId: set }),
    content: `${JSON.stringify({ items: sorted }, undefined, 2)}\n`,
    type: 'json',
    desc: 'What `waypost config apply` has published of this set.',
    casMd5: md5,
  })
}
