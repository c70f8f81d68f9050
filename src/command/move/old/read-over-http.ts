import type { PlanConfig, PlanHistory, PlanItem, PlanLine, PlanNote } from '../../../move/plan.ts'
import { itemName } from '../../../move/plan.ts'
import { unknownAmong } from '../administrators.ts'
import { accessLines, unknownAdministrator } from '../checks/access-lines.ts'
import { contentLines, HistoryDigests } from '../checks/content-lines.ts'
import { switchLines } from '../checks/switch-lines.ts'
import { missedNote } from '../notes.ts'
import type { PlanReading } from '../reading.ts'
import { allPages, type Dialect, ITEM_PAGES, type ListSize, type OldPage, type OldRecord } from './dialect.ts'
import { inOrder, listedOnly, orNote } from './in-order.ts'
import { CallError } from './call-error.ts'
import { readServices } from './read-services.ts'

/** What one server has, but for its services: the lines of a plan. */
export async function* readOverHttp(
  nodes: readonly Dialect[],
  reading: PlanReading,
): AsyncGenerator<PlanLine> {
  const [first] = nodes
  const namespaces = await first!.namespaces()
  if (reading.parts === 'all') {
    yield* first!.missing
    yield* namespaces
  }
  yield* await linesOfSwitches(first!)
  if (reading.parts === 'all') yield* readAccess(first!, reading)
  const ids = ['', ...namespaces.map(({ id }) => id)]
  if (reading.parts === 'all') yield* readItems(first!, ids, reading)
  yield* readServices(nodes, ids, reading)
}

/** Not every account may read them. */
async function linesOfSwitches(dialect: Dialect): Promise<PlanLine[]> {
  try {
    return [...switchLines(await dialect.switches())]
  } catch (error) {
    if (!(error instanceof CallError) || error.status === 0) throw error
    return [hiddenNote('switch', 'all', error)]
  }
}

/** Without an account nobody has asked for what only administrators see: it stays behind by rule. */
function hiddenNote(about: string, name: string, error: CallError): PlanNote {
  const isHidden = error.status === 401 || error.status === 403
  if (!error.needsSignIn)
    return missedNote(
      about,
      name,
      isHidden ? `the server does not show them to this account: ${error.message}` : error.message,
    )
  const reason = 'only shown to an administrator who signs in; give --username'
  return { kind: 'cannot-come', about, name, reason }
}

async function* readAccess(dialect: Dialect, reading: PlanReading): AsyncGenerator<PlanLine> {
  const nobody = unknownAmong(reading.administrators, new Set()).map(unknownAdministrator)
  if (!dialect.hasAccess) return yield* nobody
  try {
    reading.show('users', 0, 0)
    const users = await listed(
      (pageNo) => dialect.users(pageNo),
      ({ username }) => username,
    )
    const roles = await listed((pageNo) => dialect.roles(pageNo), JSON.stringify)
    const permissions = await listed((pageNo) => dialect.permissions(pageNo), JSON.stringify)
    yield* accessLines({ users, roles, permissions }, reading.administrators)
  } catch (error) {
    if (!(error instanceof CallError) || error.status === 0) throw error
    yield hiddenNote('user', 'users, roles and permissions', error)
    yield* nobody
  }
}

async function listed<T>(
  page: (pageNo: number) => Promise<OldPage<T>>,
  keyOf: (entry: T) => string,
): Promise<T[]> {
  const found: T[] = []
  for await (const entry of allPages(page, keyOf)) found.push(entry)
  return found
}

async function* readItems(
  dialect: Dialect,
  namespaces: readonly string[],
  reading: PlanReading,
): AsyncGenerator<PlanLine> {
  const items: PlanItem[] = []
  for (const namespace of namespaces) {
    const pages = allPages((_, page) => dialect.items(namespace, page), itemName, ITEM_PAGES)
    const name = `${LIST} ${namespace || 'public'}`
    const listed = await orNote('config', name, () => gathered(pages, items))
    if ('kind' in listed) yield listed
    else if (listed.total !== null && listed.total > listed.found) yield shortList(name, listed)
    reading.show('names of items', items.length, 0)
  }
  const digests = new HistoryDigests()
  let done = 0
  for await (const read of inOrder(items, (item) => readItem(dialect, item, reading))) {
    // The records of an item may be far more than what is in memory for those that are read beside it.
    for await (const line of recordLines(dialect, read)) {
      if (line.kind === 'history') digests.add(line)
      yield line
    }
    yield* read.lines
    reading.show('items', ++done, items.length)
  }
  yield* digests.lines()
}

/** Puts the entries into the list, and gives what the pages say in the end. */
async function gathered<T, R>(pages: AsyncGenerator<T, R>, into: T[]): Promise<R> {
  for (;;) {
    const next = await pages.next()
    if (next.done === true) return next.value
    into.push(next.value)
  }
}

function shortList(name: string, { total, found }: ListSize): PlanLine {
  const reason = `the server says ${total}, and lists ${found}`
  return { kind: 'remark', about: 'config', name, reason, missed: true }
}

const LIST = 'items of'

/** Whether a note says that a list was shorter than the server says. */
export function isShortList({ kind, about, name }: PlanNote): boolean {
  return kind === 'remark' && about === 'config' && name.startsWith(`${LIST} `)
}

/** An item as it was read, but for the contents of its history. */
interface ReadItem {
  readonly item: PlanItem
  /** The oldest first; a note, where the server does not list them. */
  readonly records: readonly OldRecord[] | PlanNote
  readonly lines: readonly PlanLine[]
}

/** Reads an item. What the server does not answer is a line, too, unless there is no server any longer. */
async function readItem(dialect: Dialect, item: PlanItem, reading: PlanReading): Promise<ReadItem> {
  const name = itemName(item)
  const config = await orNote('config', name, () => dialect.config(item))
  if (config !== undefined && config.kind !== 'config') return { item, records: [], lines: [config] }
  const grays = await orNote('gray', name, () => dialect.grays(item))
  const grayLines = isList(grays) ? grays.flatMap((gray) => contentLines(gray)) : [grays]
  if (config === undefined) {
    const isGrayOnly = grayLines.length > 0
    return { item, records: [], lines: isGrayOnly ? grayLines : [listedOnly('config', name)] }
  }
  const records = reading.history.isWanted
    ? await orNote('history', name, () => recordsSince(dialect, item, reading))
    : []
  return { item, records, lines: [...contentLines<PlanConfig>(config), ...grayLines] }
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

/** By their ids, as they were written: times are those of several servers, whose clocks differ. */
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
  return found.sort(compareIds)
}

function compareIds(a: Pick<PlanHistory, 'oldId'>, b: Pick<PlanHistory, 'oldId'>): number {
  return a.oldId.length - b.oldId.length || (a.oldId < b.oldId ? -1 : 1)
}
