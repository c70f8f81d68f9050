import type { PlanConfig, PlanHistory, PlanItem, PlanLine, PlanNote } from '../../../move/plan.ts'
import { itemName } from '../../../move/plan.ts'
import { accessLines } from '../checks/access-lines.ts'
import { contentLines, HistoryDigests } from '../checks/content-lines.ts'
import { switchLines } from '../checks/switch-lines.ts'
import type { PlanReading } from '../reading.ts'
import { allPages, type Dialect, type OldPage, type OldRecord } from './dialect.ts'
import { inOrder, listedOnly, orNote } from './in-order.ts'
import { CallError } from './old-server.ts'
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
    if (!(error instanceof CallError) || (error.status !== 401 && error.status !== 403)) throw error
    const reason = `the server does not show them to this account: ${error.message}`
    return [{ kind: 'cannot-come', about: 'switch', name: 'all', reason }]
  }
}

async function* readAccess(dialect: Dialect, reading: PlanReading): AsyncGenerator<PlanLine> {
  if (!dialect.hasAccess) return
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
    const reason = `the server does not show them to this account: ${error.message}`
    yield { kind: 'cannot-come', about: 'user', name: 'users, roles and permissions', reason }
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
    const pages = allPages((pageNo) => dialect.items(namespace, pageNo), itemName)
    const { total, found } = await gathered(pages, items)
    if (total !== null && total > found) yield shortList(namespace || 'public', total, found)
    reading.show('names of items', items.length, 0)
  }
  const digests = new HistoryDigests()
  let done = 0
  const lines = inOrder(items, (item) => itemLines(dialect, item, reading))
  for await (const ofItem of lines) {
    for (const line of ofItem) if (line.kind === 'history') digests.add(line)
    yield* ofItem
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

function shortList(name: string, total: number, found: number): PlanLine {
  const reason = `the server says ${total}, and lists ${found}`
  return { kind: 'remark', about: 'config', name: `${LIST} ${name}`, reason }
}

const LIST = 'items of'

/** Whether a note says that a list was shorter than the server says. */
export function isShortList({ kind, about, name }: PlanNote): boolean {
  return kind === 'remark' && about === 'config' && name.startsWith(`${LIST} `)
}

/** The lines of an item. What the server does not answer is a line, too, unless there is no server any longer. */
async function itemLines(dialect: Dialect, item: PlanItem, reading: PlanReading): Promise<PlanLine[]> {
  const config = await orNote('config', itemName(item), () => dialect.config(item))
  if (config === undefined) return [listedOnly('config', itemName(item))]
  if (config.kind !== 'config') return [config]
  const beta = await orNote('gray', itemName(item), () => dialect.beta(item))
  const history = reading.history.isWanted ? await historyLines(dialect, item, reading) : []
  const grayLines = beta === undefined ? [] : beta.kind === 'gray' ? contentLines(beta) : [beta]
  return [...history, ...contentLines<PlanConfig>(config), ...grayLines]
}

async function historyLines(dialect: Dialect, item: PlanItem, reading: PlanReading): Promise<PlanLine[]> {
  const name = itemName(item)
  const records = await orNote('history', name, () => recordsSince(dialect, item, reading))
  if (!Array.isArray(records)) return records === undefined ? [] : [records as PlanLine]
  const lines: PlanLine[] = []
  for (const { oldId, grayName } of records as OldRecord[]) {
    if (grayName !== null) continue
    const record = await orNote('history', `${name} ${oldId}`, () => dialect.record(item, oldId))
    lines.push(record ?? listedOnly('history', `${name} ${oldId}`))
  }
  const grays = records.filter(({ grayName }) => grayName !== null).length
  const reason = `${grays} records of gray versions are left out`
  return grays === 0 ? lines : [...lines, { kind: 'remark', about: 'history', name, reason }]
}

/** The oldest first: by time, then by id. */
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
  return found.sort((a, b) => a.atMs - b.atMs || compareIds(a, b))
}

function compareIds(a: Pick<PlanHistory, 'oldId'>, b: Pick<PlanHistory, 'oldId'>): number {
  return a.oldId.length - b.oldId.length || (a.oldId < b.oldId ? -1 : 1)
}
