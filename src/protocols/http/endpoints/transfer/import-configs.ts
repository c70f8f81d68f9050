import { createHash } from 'node:crypto'
import type { ContentBudget } from '../../../../core/config/content-budget.ts'
import type { ConfigKey, Operator } from '../../../../core/config/config-item.ts'
import { publishConfig } from '../../../../core/config/publish-config.ts'
import type { Engine } from '../../../../core/engine.ts'
import { Refusal } from '../../../../core/refusal.ts'
import type { State } from '../../../../core/state.ts'
import type { ImportItem } from './import-item.ts'

/** What happens to an item that is there already: stop there, leave it, or replace it. */
export const IMPORT_POLICIES = ['ABORT', 'SKIP', 'OVERWRITE'] as const

/** One of {@link IMPORT_POLICIES}. */
export type ImportPolicy = (typeof IMPORT_POLICIES)[number]

/** How to import. A dry run tells what would happen, and changes nothing. */
export interface ImportWish {
  readonly policy: ImportPolicy
  readonly dryRun: boolean
  readonly operator: Operator
}

/**
 * What became of each item. Under ABORT the first that was there is `failed`, and those not tried are `skipped`.
 * `stoppedBy` is why the store or the server did not go on; what could not be written is `failed` then.
 */
export interface ImportOutcome {
  readonly published: readonly ConfigKey[]
  readonly skipped: readonly ConfigKey[]
  readonly failed: readonly ConfigKey[]
  readonly stoppedBy: Refusal | undefined
}

/** What an import works on. */
export interface ImportParts {
  readonly state: Pick<State, 'config'>
  readonly engine: Pick<Engine, 'execute'>
  readonly budget: Pick<ContentBudget, 'within'>
}

/** So many items are published together, to be written together: fewer where they are large. */
const MOST_TOGETHER = 64
const MOST_BYTES_TOGETHER = 8 * 1024 * 1024

/**
 * Publishes items one group after the other, each as an ordinary publish: with its history record, and for those who
 * watch it. Whoever publishes one of them at the same time is not overwritten unless the policy says so.
 */
export async function importConfigs(
  parts: ImportParts,
  items: readonly ImportItem[],
  wish: ImportWish,
): Promise<ImportOutcome> {
  const run = new ImportRun(wish)
  const fateOf = async (item: ImportItem): Promise<Fate> => {
    if (wish.policy !== 'OVERWRITE' && parts.state.config(item.key) !== undefined) return 'clash'
    return wish.dryRun ? 'published' : publishItem(parts, item, wish)
  }
  let at = 0
  while (at < items.length && !run.hasEnded) {
    const group = nextGroup(parts.state, items, { at, wish })
    const fates = await Promise.all(group.map(fateOf))
    for (const [index, fate] of fates.entries()) run.note(group[index]!.key, fate)
    at += group.length
  }
  return run.outcome(items.slice(at).map(({ key }) => key))
}

/** What became of one item: published, there already, or refused. */
type Fate = 'published' | 'clash' | Refusal

/** Under ABORT a group ends at the first item that is there already, so that none behind it is tried. */
function nextGroup(
  state: ImportParts['state'],
  items: readonly ImportItem[],
  { at, wish }: { at: number; wish: ImportWish },
): ImportItem[] {
  const group: ImportItem[] = []
  let bytes = 0
  for (let index = at; index < items.length && group.length < MOST_TOGETHER; index++) {
    const item = items[index]!
    bytes += item.bytes
    if (group.length > 0 && bytes > MOST_BYTES_TOGETHER) break
    group.push(item)
    if (wish.policy === 'ABORT' && state.config(item.key) !== undefined) break
  }
  return group
}

async function publishItem(
  { engine, budget }: ImportParts,
  item: ImportItem,
  { policy, operator }: ImportWish,
): Promise<Fate> {
  const { key, type, notes } = item
  const content = ownCopy(await item.read())
  const md5 = createHash('md5').update(content).digest('hex')
  // '' publishes only what is not there, also where it came to be there just now.
  const casMd5 = policy === 'OVERWRITE' ? undefined : ''
  try {
    const command = publishConfig({ key, content, md5, type, notes, casMd5, operator })
    await budget.within(key, content.length, () => engine.execute(command))
    return 'published'
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return error.code === 'config-changed' ? 'clash' : error
  }
}

/** A view would keep the whole zip in memory as long as the item lives. */
function ownCopy(content: Buffer): Buffer {
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

  constructor({ policy }: ImportWish) {
    this.#policy = policy
  }

  get hasEnded(): boolean {
    return this.#failed.length > 0
  }

  note(key: ConfigKey, fate: Fate): void {
    if (fate === 'published') this.#published.push(key)
    else if (fate === 'clash' && this.#policy === 'SKIP') this.#skipped.push(key)
    else this.#failed.push(key)
    if (fate instanceof Refusal) this.#stoppedBy ??= fate
  }

  outcome(untried: readonly ConfigKey[]): ImportOutcome {
    return {
      published: this.#published,
      skipped: [...this.#skipped, ...untried],
      failed: this.#failed,
      stoppedBy: this.#stoppedBy,
    }
  }
}
