import type { PlanConfig, PlanItem, PlanLine, PlanNote } from '../../plan/plan.ts'
import { itemName } from '../../plan/plan.ts'
import { contentLines, HistoryDigests } from '../checks/content-lines.ts'
import type { PlanReading } from '../reading.ts'
import { allPages, compareIds, type Dialect, type OldRecord } from './dialect.ts'
import { inOrder, listedOnly, orNote } from './in-order.ts'

/** How items are read. */
export interface ItemReading {
  readonly dialect: Dialect
  readonly reading: PlanReading
  /** Whether records are read of an item that is not there, too. */
  readonly withDeleted?: boolean
  /** The lines of an item that come after its records; by default the lines that were read. */
  readonly linesOf?: (read: ReadItem) => readonly PlanLine[]
}

/** Reads items with their history and gray versions. */
export async function* readEach(items: readonly PlanItem[], how: ItemReading): AsyncGenerator<PlanLine> {
  const { dialect, reading, linesOf = ({ lines }) => lines } = how
  const digests = new HistoryDigests()
  let done = 0
  for await (const read of inOrder(items, (item) => readItem(item, how))) {
    // The records of an item may be far more than memory holds while other items are read beside it.
    for await (const line of recordLines(dialect, read)) {
      if (line.kind === 'history') digests.add(line)
      yield line
    }
    yield* linesOf(read)
    reading.show('items', ++done, items.length)
  }
  yield* digests.lines()
}

/** An item as it was read, but for the contents of its history. */
export interface ReadItem {
  readonly item: PlanItem
  /** A note if it could not be read; undefined: the server has no formal version of it. */
  readonly config: PlanConfig | PlanNote | undefined
  /** The oldest first; a note if the server does not list them. */
  readonly records: readonly OldRecord[] | PlanNote
  readonly lines: readonly PlanLine[]
}

/** Reads an item. A missing answer becomes a line, unless the server is gone. */
async function readItem(
  item: PlanItem,
  { dialect, reading, withDeleted = false }: ItemReading,
): Promise<ReadItem> {
  const name = itemName(item)
  const config = await orNote('config', name, () => dialect.config(item))
  if (config !== undefined && config.kind !== 'config') return { item, config, records: [], lines: [config] }
  const grays = await orNote('gray', name, () => dialect.grays(item))
  const grayLines = isList(grays) ? grays.flatMap((gray) => contentLines(gray)) : [grays]
  const isWanted = reading.history.isWanted && (config !== undefined || withDeleted)
  const records = isWanted ? await orNote('history', name, () => recordsSince(dialect, item, reading)) : []
  if (config !== undefined)
    return { item, config, records, lines: [...contentLines<PlanConfig>(config), ...grayLines] }
  const isGrayOnly = grayLines.length > 0
  return { item, config, records, lines: isGrayOnly ? grayLines : [listedOnly('config', name)] }
}

async function* recordLines(dialect: Dialect, { item, records }: ReadItem): AsyncGenerator<PlanLine> {
  const name = itemName(item)
  if (!isList(records)) return void (yield records)
  const formal = records.filter(({ grayName }) => grayName === null)
  yield* inOrder(formal, async ({ oldId }) => {
    const record = await orNote('history', `${name} ${oldId}`, () => dialect.record(item, oldId))
    return record ?? listedOnly('history', `${name} ${oldId}`)
  })
  const grays = records.length - formal.length
  const reason = `${grays} records of gray versions are left out`
  if (grays > 0) yield { kind: 'remark', about: 'history', name, reason }
}

function isList<T>(read: readonly T[] | PlanNote): read is readonly T[] {
  return Array.isArray(read)
}

/** By their ids, in the order of writing: several servers, whose clocks differ, wrote the times. */
async function recordsSince(dialect: Dialect, item: PlanItem, reading: PlanReading): Promise<OldRecord[]> {
  const { history, earlier } = reading
  const found: OldRecord[] = []
  const pages = allPages(
    (pageNo) => dialect.records(item, pageNo),
    ({ oldId }) => oldId,
  )
  for await (const record of pages) {
    // The newest come first.
    if (record.atMs < history.sinceMs) break
    if (!earlier.hasRecord(item, record.oldId)) found.push(record)
  }
  return found.sort((a, b) => compareIds(a.oldId, b.oldId))
}
