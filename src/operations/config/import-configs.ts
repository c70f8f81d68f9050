import { createHmac } from 'node:crypto'
import { SIGNING_KEY } from '../../core/access/access-records.ts'
import type { ConfigKey, ConfigType } from '../../core/config/state/config-item.ts'
import type { ConfigNotes } from '../../core/config/state/config-notes.ts'
import { Refusal } from '../../core/refusal.ts'
import type { State } from '../../core/engine/state.ts'
import { judgeItem } from '../../core/engine/with-seen-names.ts'

/** An item to publish by an import or a clone. */
export interface ImportItem {
  readonly key: ConfigKey
  /** Undefined keeps the type of an item that exists, and is `typeIfNew` for a new one. */
  readonly type: ConfigType | undefined
  /** Absent: `text`. */
  readonly typeIfNew?: ConfigType | undefined
  /** A note that is absent stays as it is where the item exists. */
  readonly notes: Partial<ConfigNotes>
  readonly bytes: number
  /** Publish only over this md5 (`''`: only a new item), whatever the policy says; absent: as the policy says. */
  readonly casMd5?: string | undefined
  /** For a copy: the md5 of its original. */
  readonly sourceMd5?: string
  /**
   * For a copy: whether its original differs from the one that was seen. Such a copy is left alone, as an
   * item that somebody has changed.
   */
  readonly isOutdated?: boolean
  /** Reads the content again each time, so that not all contents are in memory. */
  read(): Promise<Buffer>
}

/** The policies for an item that exists: stop there, leave it, or replace it. */
export const IMPORT_POLICIES = ['ABORT', 'SKIP', 'OVERWRITE'] as const

/** One of {@link IMPORT_POLICIES}. */
export type ImportPolicy = (typeof IMPORT_POLICIES)[number]

/** How to import. A dry run reports what would happen, and changes nothing. */
export interface ImportOptions {
  readonly policy: ImportPolicy
  readonly dryRun: boolean
  /**
   * The `state` of a dry run. Nothing is published if the items have changed since. OVERWRITE then replaces
   * only items that the dry run has seen.
   */
  readonly seenState?: string | undefined
}

/** The effect of an import on an item. `unknown`: the caller may not read it, so equal contents are no clue for it. */
export const AHEAD_CHANGES = ['new', 'changed', 'equal', 'unknown'] as const

/** An item that a dry run would publish. */
export interface Ahead {
  readonly key: ConfigKey
  readonly change: (typeof AHEAD_CHANGES)[number]
  /** How many clients listen to it, on all servers; 0 where the caller may not read the item. */
  readonly clientCount: number
}

/**
 * The outcome of each item. Under ABORT the first existing item is `failed`, and the later ones are `skipped`.
 * `stoppedBy`: why the store or the server stopped; unwritten items are `failed` then.
 */
export interface ImportOutcome {
  readonly published: readonly ConfigKey[]
  readonly skipped: readonly ConfigKey[]
  readonly failed: readonly ConfigKey[]
  readonly stoppedBy: Refusal | undefined
  /** After a dry run: the effect on each item that would be published. */
  readonly ahead?: readonly Ahead[]
  /** The items before the import, as one value. Empty unless a dry run or `seenState` asks for it. */
  readonly state: string
}

/** Dependencies of an import. */
export interface ImportParts {
  readonly state: Pick<State, 'config' | 'record' | 'records'>
  /** Publishes an item with this content over the version of `casMd5`, else Refusal `config-changed`. */
  publish(item: ImportItem, content: Buffer, casMd5: string | undefined): Promise<unknown>
}

/** How many items are published together, to be written together: fewer if they are large. */
const MOST_TOGETHER = 64
const MOST_BYTES_TOGETHER = 8 * 1024 * 1024

/**
 * Publishes items group by group, each as an ordinary publish: with its history record and its notifications.
 * An item that somebody else publishes at the same time is not overwritten unless the policy says so.
 */
export async function importConfigs(
  parts: ImportParts,
  asked: readonly ImportItem[],
  options: ImportOptions,
): Promise<ImportOutcome> {
  const { policy, dryRun, seenState } = options
  const states = dryRun || seenState !== undefined ? statesOf(parts.state, asked) : []
  const [state = ''] = states
  if (seenState !== undefined && !states.includes(seenState)) throw changedSince()
  const items = seenState !== undefined && policy === 'OVERWRITE' ? asSeen(parts.state, asked) : asked
  const run = new ImportRun(policy)
  const fateOf = async (item: ImportItem): Promise<Fate> => {
    if (item.isOutdated === true) return 'exists'
    const casMd5 = casMd5Of(item, policy)
    if (casMd5 !== undefined && casMd5 !== (parts.state.config(item.key)?.md5 ?? '')) return 'exists'
    return dryRun ? foreseen(parts.state, item) : publishItem(parts, item, casMd5)
  }
  let at = 0
  while (at < items.length && !run.hasEnded) {
    const group = nextGroup(parts.state, items, { at, policy })
    const fates = await Promise.all(group.map(fateOf))
    for (const [index, fate] of fates.entries()) run.note(group[index]!.key, fate)
    at += group.length
  }
  return { ...run.outcome(items.slice(at).map(({ key }) => key)), state }
}

/**
 * The md5 of every existing item, and of the originals of copies, as one value by each signing key, the
 * newest first. A caller without the key who may write the items but not read them cannot find out their
 * contents. All servers have the same keys.
 */
function statesOf(state: ImportParts['state'], items: readonly ImportItem[]): string[] {
  const lines = items.map(({ key, sourceMd5 }) =>
    JSON.stringify([key.text, state.config(key)?.md5 ?? '', sourceMd5]),
  )
  const text = `state of items\n${lines.join('\n')}`
  return Array.from(state.records(SIGNING_KEY), ([, key]) => key)
    .sort((one, other) => other.createdStamp - one.createdStamp)
    .map(({ secret }) => createHmac('sha256', secret).update(text).digest('hex'))
}

/** The items, each to be published over the present version only. */
function asSeen(state: ImportParts['state'], items: readonly ImportItem[]): ImportItem[] {
  return items.map((item) => ({ ...item, casMd5: item.casMd5 ?? state.config(item.key)?.md5 ?? '' }))
}

function changedSince(): Refusal {
  return new Refusal('config-changed', 'Somebody has changed one of the items since the dry run: look again.')
}

/** The outcome of one item: published, it exists, or refused. */
type Fate = 'published' | 'exists' | Refusal

/** Under ABORT a group ends at the first item that exists, so that later items are not tried. */
function nextGroup(
  state: ImportParts['state'],
  items: readonly ImportItem[],
  { at, policy }: { at: number; policy: ImportPolicy },
): ImportItem[] {
  const group: ImportItem[] = []
  let bytes = 0
  for (let index = at; index < items.length && group.length < MOST_TOGETHER; index++) {
    const item = items[index]!
    bytes += item.bytes
    if (group.length > 0 && bytes > MOST_BYTES_TOGETHER) break
    group.push(item)
    if (policy === 'ABORT' && state.config(item.key) !== undefined) break
  }
  return group
}

/** The md5 that an item must have before; undefined: any. Only OVERWRITE replaces unknown versions. */
function casMd5Of({ casMd5 }: ImportItem, policy: ImportPolicy): string | undefined {
  return casMd5 ?? (policy === 'OVERWRITE' ? undefined : '')
}

/** The fate of an item in a dry run. */
function foreseen(state: ImportParts['state'], { key, notes }: ImportItem): Fate {
  try {
    judgeItem(key, notes.configTags ?? null, state)
    return 'published'
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
}

async function publishItem(parts: ImportParts, item: ImportItem, casMd5: string | undefined): Promise<Fate> {
  const content = ownCopy(await item.read())
  try {
    // Also an item that was made just now is left alone.
    await parts.publish(item, content, casMd5)
    return 'published'
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return error.code === 'config-changed' ? 'exists' : error
  }
}

/** A content to keep: a view would keep all of its memory, such as the whole archive, as long as the item lives. */
export function ownCopy(content: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(content.length)
  content.copy(copy)
  return copy
}

class ImportRun {
  readonly #policy: ImportPolicy
  readonly #published: ConfigKey[] = []
  readonly #skipped: ConfigKey[] = []
  readonly #failed: ConfigKey[] = []
  #stoppedBy: Refusal | undefined

  constructor(policy: ImportPolicy) {
    this.#policy = policy
  }

  get hasEnded(): boolean {
    return this.#failed.length > 0
  }

  note(key: ConfigKey, fate: Fate): void {
    if (fate === 'published') this.#published.push(key)
    else if (fate === 'exists' && this.#policy === 'SKIP') this.#skipped.push(key)
    else this.#failed.push(key)
    if (fate instanceof Refusal) this.#stoppedBy ??= fate
  }

  outcome(untried: readonly ConfigKey[]): Omit<ImportOutcome, 'state'> {
    return {
      published: this.#published,
      skipped: [...this.#skipped, ...untried],
      failed: this.#failed,
      stoppedBy: this.#stoppedBy,
    }
  }
}
