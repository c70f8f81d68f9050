import { readdirSync } from 'node:fs'
import { CaseTwins } from '../../../archive/case-twins.ts'
import { folderText, nothingInIt } from '../../../archive/config-archive.ts'
import { areItemNames, READ_AS, SETS_GROUP } from '../../../archive/entry-names.ts'
import { type CommandResult, DiffersError, EXIT, print, UsageError } from '../../../command/command-line.ts'
import type { Progress } from '../../../command/progress.ts'
import { tell } from '../../../command/standard-error.ts'
import { Painted, painted } from '../../../command/terminal-text.ts'
import { confirmed } from '../../confirmation.ts'
import { clientOf, type SvcClient } from '../../session-of-flags.ts'
import { unifiedDiff } from '../../text-diff.ts'
import { type ItemFlags, type ItemName, itemParams, nameText, readItem } from '../item.ts'
import { allConfigs } from '../read-configs.ts'
import { requireSizes } from '../../content-limit.ts'
import { faultIn, type ForceFlags, unreadable } from '../readable-text.ts'
import { type Plan, planOf, type PresentItem, sizeOf } from './plan.ts'
import { otherSets, readRecord, type SetRecord, writeRecord } from './set-record.ts'
import { composedText, type Source, type SourceItem, sourceItems } from './source-items.ts'

/** The flags of `config apply`. */
export interface ApplyFlags extends ItemFlags, ForceFlags {
  readonly file: string
  readonly set: string
  readonly prune?: boolean
  readonly dryRun?: boolean
  readonly diff?: boolean
  readonly yes?: boolean
  readonly comment?: string
}

/** `config apply`: makes a namespace equal to a directory. It shows the plan, asks, and carries it out. */
export async function applyConfigs(flags: ApplyFlags, progress: Progress): Promise<CommandResult> {
  if (!areItemNames({ group: SETS_GROUP, dataId: flags.set }))
    throw new UsageError('The name of a set has letters, digits and _ - . : only.')
  const source = await sourceItems(flags.file, flags.group ?? 'DEFAULT_GROUP')
  const { items } = source
  const client = clientOf(flags)
  const record = await readRecord(client, flags.set)
  if (items.length === 0 && record.items.size === 0)
    throw new DiffersError(nothingInIt(flags.file, readdirSync(flags.file)))
  progress.show('reading what the server has')
  const present = await presentItems(client, [...items.map(nameText), ...record.items.keys()])
  const others = await otherSets(client, flags.set)
  const plan = planOf(items, present, { recorded: record.items, others, prune: flags.prune === true })
  await requireNoTwins(source, [...plan.delete.map(({ present: there }) => there), ...plan.left])
  requireClearNames(source, plan)
  progress.end()
  await requireAllTaken(client, plan)
  if (flags.force !== true) await requireAllReadable(plan)
  const shown = Painted.joined([
    planLines(source, plan),
    ...(flags.diff === true ? await diffsOf(client, plan) : []),
  ])
  const isForPrograms = flags.output !== undefined && flags.output !== 'table'
  if (flags.dryRun === true) return resultOf(flags, { source, plan }, { painted: shown, code: codeOf(plan) })
  await (isForPrograms ? tell(shown) : print(shown))
  await ask(plan, flags)
  await new Apply(client, flags, record).carryOut(plan, progress)
  return resultOf(flags, { source, plan }, { painted: doneText(plan), code: EXIT.done })
}

/** Throws UsageError for items that are gone from the directory, but for names that differ from theirs by case only. */
async function requireNoTwins({ candidates }: Source, gone: readonly PresentItem[]): Promise<void> {
  const twins = await CaseTwins.of(candidates)
  for (const item of gone) twins.check(nameText(item))
  if (twins.fault !== undefined)
    throw new UsageError(
      `Items of the set: ${twins.fault}. Nothing was changed, as some systems keep both in one file. ` +
        'Bring the file back, or delete the item with `config delete`.',
    )
}

/** Throws UsageError for a deletion beside names that may mean the deleted items. */
function requireClearNames({ leftOut, candidates }: Source, plan: Plan): void {
  const gone = plan.delete.map(({ present }) => present)
  const there = gone.filter((item) => candidates.has(composedText(item)))
  if (there.length > 0)
    throw new UsageError(
      `--prune would delete ${there.map(nameText).join(', ')}, and the directory has such names, which count for no item ` +
        'or for another one. Check these names and the metadata, or apply without --prune.',
    )
  const unclear = leftOut.filter(({ isUnclear }) => isUnclear === true).map(({ name }) => name)
  if (gone.length === 0 || unclear.length === 0) return
  throw new UsageError(
    `--prune would delete ${gone.map(nameText).join(', ')}, and these names are not UTF-8: ${unclear.join(', ')}. ` +
      'They may mean the same: rename them, or apply without --prune.',
  )
}

/** Throws UsageError for contents that are too large for the server. */
async function requireAllTaken({ session }: SvcClient, { create, change }: Plan): Promise<void> {
  const sent = [...create, ...change.map(({ item }) => item)]
  const sizes = sent.map((item) => ({ ...item, bytes: Buffer.byteLength(item.content) }))
  if (sent.length > 0) await requireSizes(session, sizes)
}

/** Throws UsageError for a new or changed item that cannot be read. */
async function requireAllReadable({ create, change }: Plan): Promise<void> {
  const texts = [
    ...create.map((item) => ({ item, present: undefined })),
    ...change.filter(({ item, present }) => item.md5 !== present.md5),
  ]
  const faults: string[] = []
  for (const { item, present } of texts) {
    const { content, metadata } = item
    const fault = await faultIn({ name: item, content, type: metadata?.type ?? undefined }, present?.type)
    if (fault !== undefined) faults.push(fault)
  }
  if (faults.length > 0) throw unreadable(faults)
}

function codeOf(plan: Plan): number {
  return sizeOf(plan) === 0 ? EXIT.done : EXIT.differs
}

/** On a terminal somebody is asked. Elsewhere only deletions need `--yes`. */
async function ask(plan: Plan, { yes }: ApplyFlags): Promise<void> {
  if (sizeOf(plan) === 0) return
  if (!process.stdin.isTTY && plan.delete.length === 0) return
  if (!(await confirmed('Do this?', yes === undefined ? {} : { yes })))
    throw new UsageError('Nothing was changed.')
}

/** The present items of these names: the groups are listed, because one page has 500 items. */
async function presentItems(
  client: SvcClient,
  names: readonly string[],
): Promise<ReadonlyMap<string, PresentItem>> {
  const wanted = new Set(names)
  const groups = new Set(names.map((name) => name.slice(0, name.indexOf('/'))))
  const found = new Map<string, PresentItem>()
  for (const group of groups)
    for (const item of await allConfigs(client, { group }))
      if (wanted.has(nameText(item))) found.set(nameText(item), item)
  return found
}

/** Carries a plan out and records its work, also after a failure. */
class Apply {
  readonly #client: SvcClient
  readonly #flags: ApplyFlags
  readonly #record: SetRecord
  readonly #items: Map<string, string>

  constructor(client: SvcClient, flags: ApplyFlags, record: SetRecord) {
    this.#client = client
    this.#flags = flags
    this.#record = record
    this.#items = new Map(record.items)
  }

  async carryOut(plan: Plan, progress: Progress): Promise<void> {
    for (const { group, dataId, md5 } of plan.equal) this.#items.set(nameText({ group, dataId }), md5)
    for (const name of plan.forgotten) this.#items.delete(name)
    let done = 0
    try {
      for (const step of this.#stepsOf(plan)) {
        progress.show(`${done} of ${sizeOf(plan)} items`)
        await step()
        done++
      }
    } catch (error) {
      progress.end()
      // The first error is reported.
      await this.#writeRecord().catch(() => undefined)
      throw stopped(error, ` ${done} of ${sizeOf(plan)} items are done. Apply again to continue.`)
    }
    progress.end()
    await this.#named({ group: SETS_GROUP, dataId: this.#flags.set }, () => this.#writeRecord())
  }

  *#stepsOf(plan: Plan): Generator<() => Promise<void>> {
    for (const item of plan.create) yield () => this.#publish(item, '')
    for (const { item, present } of plan.change) yield () => this.#publish(item, present.md5)
    for (const { present } of plan.delete) yield () => this.#delete(present)
  }

  async #publish(item: SourceItem, casMd5: string): Promise<void> {
    const { type, desc, appName, extras } = item.metadata ?? {}
    const { configTags, ...others } = extras ?? {}
    await this.#named(item, () =>
      this.#client.send('POST', '/cs/configs', {
        ...itemParams(this.#client, item),
        content: item.content,
        type: type ?? undefined,
        desc: desc ?? undefined,
        appName: appName ?? undefined,
        config_tags: configTags,
        ...others,
        casMd5,
        comment: this.#comment,
      }),
    )
    this.#items.set(nameText(item), item.md5)
  }

  async #delete(present: PresentItem): Promise<void> {
    const { md5: casMd5 } = present
    const params = { ...itemParams(this.#client, present), casMd5, comment: this.#comment }
    await this.#named(present, () => this.#client.send('DELETE', '/cs/configs', params))
    this.#items.delete(nameText(present))
  }

  get #comment(): string {
    return this.#flags.comment ?? `apply ${this.#flags.set}`
  }

  /** Adds the name of the item to an error. */
  async #named(item: ItemName, work: () => Promise<unknown>): Promise<void> {
    try {
      await work()
    } catch (error) {
      throw stopped(error, '', `${nameText(item)}: `)
    }
  }

  async #writeRecord(): Promise<void> {
    const before = this.#record.items
    const isSame =
      before.size === this.#items.size && [...before].every(([name, md5]) => this.#items.get(name) === md5)
    if (!isSame)
      await writeRecord(this.#client, this.#flags.set, { items: this.#items, md5: this.#record.md5 })
  }
}

function stopped(error: unknown, after: string, before = ''): Error {
  const message = before + (error as Error).message + after
  return error instanceof DiffersError
    ? new DiffersError(message, { cause: error })
    : new Error(message, { cause: error })
}

function planLines(source: Source, plan: Plan): Painted {
  const { folder, leftOut, readAs } = source
  const line = (mark: keyof typeof MARKS, item: ItemName, note = ''): Painted => {
    const notes = [note, sharedText(plan.shared.get(nameText(item)) ?? [])].filter((one) => one !== '')
    const shown = painted(`${mark} ${nameText(item)}`, MARKS[mark])
    return painted([shown, notes.length === 0 ? '' : `  (${notes.join('; ')})`])
  }
  const drift = (isDrifted: boolean): string =>
    isDrifted ? 'somebody else has changed it since the last apply' : ''
  const lines = [
    ...(folder === undefined ? [] : [painted(folderText(folder))]),
    ...leftOut.map(({ name, why }) => painted(`  ${name}  (left out: ${why})`)),
    ...readAs.map((item) => painted(`  ${nameText(item)}  (${READ_AS})`)),
    ...plan.create.map((item) => line('+', item)),
    ...plan.change.map(({ item, isDrifted }) => line('~', item, drift(isDrifted))),
    ...plan.delete.map(({ present, isDrifted }) => line('-', present, drift(isDrifted))),
    ...leftNotes(source, plan).map(([item, note]) => line(' ', item, note)),
    ...plan.equal.filter((item) => plan.shared.has(nameText(item))).map((item) => line(' ', item)),
  ]
  const { create, change, delete: gone, equal } = plan
  const sum = `${create.length} to create, ${change.length} to change, ${gone.length} to delete, ${equal.length} equal`
  return Painted.lines([...lines, sum])
}

/** The items that are left, each with the effect of --prune: see `requireClearNames`. */
function leftNotes({ leftOut, candidates }: Source, { left }: Plan): (readonly [PresentItem, string])[] {
  const isMeant = (item: ItemName): boolean => candidates.has(composedText(item))
  const refuses = left.some(isMeant) || leftOut.some(({ isUnclear }) => isUnclear === true)
  const gone = `no longer in the directory: --prune ${refuses ? 'refuses, as names are unclear' : 'deletes it'}`
  const meant = 'a name in the directory may mean it: --prune refuses'
  return left.map((item) => [item, isMeant(item) ? meant : gone])
}

const MARKS = { '+': 'green', '~': 'yellow', '-': 'red', ' ': undefined } as const

function sharedText(sets: readonly string[]): string {
  if (sets.length === 0) return ''
  return `also in the set${sets.length === 1 ? '' : 's'} ${sets.toSorted().join(', ')}`
}

async function diffsOf(client: SvcClient, plan: Plan): Promise<Painted[]> {
  const texts: Painted[] = []
  for (const { item } of plan.change) {
    const { content } = await readItem(client, item)
    texts.push(
      unifiedDiff({ name: nameText(item), text: content }, { name: 'directory', text: item.content }),
    )
  }
  return texts
}

function doneText(plan: Plan): Painted {
  const { create, change, delete: gone } = plan
  const done = `${create.length} created, ${change.length} changed, ${gone.length} deleted`
  return Painted.lines([sizeOf(plan) === 0 ? 'Nothing was to be changed.' : done])
}

function resultOf(
  flags: ApplyFlags,
  { source, plan }: { source: Source; plan: Plan },
  result: { painted: Painted; code: number },
): CommandResult {
  const json = {
    set: flags.set,
    record: `${SETS_GROUP}/${flags.set}`,
    dryRun: flags.dryRun === true,
    created: plan.create.map(nameText),
    changed: plan.change.map(({ item }) => nameText(item)),
    deleted: plan.delete.map(({ present }) => nameText(present)),
    left: plan.left.map(nameText),
    shared: [...plan.shared.keys()],
    equal: plan.equal.length,
    leftOut: source.leftOut.map(({ name }) => name),
    readAs: source.readAs.map(nameText),
  }
  return { ...result, json, names: [...json.created, ...json.changed, ...json.deleted] }
}
