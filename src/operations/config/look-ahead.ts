import { hash } from 'node:crypto'
import type { ConfigKey } from '../../core/config/state/config-item.ts'
import type { State } from '../../core/engine/state.ts'
import type { ClientViews } from '../client-views.ts'
import type { Ahead, ImportItem } from './import-configs.ts'

/** Dependencies of a look ahead. */
export interface LookAheadParts {
  readonly state: Pick<State, 'config'>
  readonly views: Pick<ClientViews, 'clientCounts'>
  /** Whether the caller may read an item. */
  readonly isShown: (key: ConfigKey) => boolean
}

/** The most items whose clients are counted: the names of all go to each server. */
const MOST_COUNTED = 10_000

/** Compares the items that would be published with the present ones. */
export async function lookAhead(
  parts: LookAheadParts,
  items: readonly ImportItem[],
  published: readonly ConfigKey[],
): Promise<readonly Ahead[]> {
  const wanted = new Set(published.map(({ text }) => text))
  const changes: Omit<Ahead, 'clientCount'>[] = []
  for (const item of items)
    if (wanted.has(item.key.text)) changes.push({ key: item.key, change: await changeOf(parts, item) })
  const counted = changes
    .map(({ key }) => key)
    .filter(parts.isShown)
    .slice(0, MOST_COUNTED)
  const { value: counts } = await parts.views.clientCounts(counted)
  const countOf = new Map(counted.map(({ text }, index) => [text, counts[index] ?? 0]))
  return changes.map((one) => ({ ...one, clientCount: countOf.get(one.key.text) ?? 0 }))
}

async function changeOf({ state, isShown }: LookAheadParts, item: ImportItem): Promise<Ahead['change']> {
  const present = state.config(item.key)
  if (!isShown(item.key)) return 'unknown'
  if (present === undefined) return 'new'
  const md5 = item.sourceMd5 ?? hash('md5', await item.read(), 'hex')
  return md5 === present.md5 ? 'equal' : 'changed'
}
