import {
  itemName,
  type PlanConfig,
  type PlanHistory,
  type PlanItem,
  type PlanLine,
  type PlanNamespace,
  type PlanNote,
} from '../../plan/plan.ts'
import { type Access, accessLines } from '../checks/access-lines.ts'
import { md5Of } from '../checks/content-lines.ts'
import { isText } from '../no-text.ts'
import { missedNote, type PlanReading } from '../reading.ts'
import { CallError } from '../old/fields.ts'
import { compareIds, type Dialect } from '../old/dialect.ts'
import { accessOf } from '../old/item-lists.ts'
import { readEach, type ReadItem } from '../old/read-items.ts'
import { ListedItems } from './listed-items.ts'
import type { KnownRows, ServerBeside } from './server-beside.ts'
import { unitedAccess, unitedNamespaces } from './united-things.ts'

/** An item of the database that the server has not, or not with this content. */
interface AskedItem {
  readonly item: PlanItem
  /** Undefined: the database has no row. */
  readonly row: KeptRow | undefined
}

/** The facts of a row that are kept. */
interface KeptRow extends Pick<PlanConfig, 'use' | 'effect' | 'schema'> {
  /** By the row and by the content. */
  readonly md5s: readonly (string | null)[]
}

/**
 * A database and its server. The database may be a dump, so the server's data counts. Its lists are read into memory and
 * compared with the rows of the database. Rows that differ are read over HTTP after all rows.
 */
export class BothSources implements ServerBeside {
  readonly #dialect: Dialect
  readonly #reading: PlanReading
  readonly #listed = new ListedItems()
  readonly #asked = new Map<string, AskedItem>()
  readonly #brought = new Set<string>()
  /** The id of the last record of each item in the database. */
  readonly #lastRecords = new Map<string, string>()
  #namespaces: readonly PlanNamespace[] = []
  /** Whether both have an item in common. Otherwise a missing item may not have been deleted on the server. */
  #isOfOne = true

  constructor(dialect: Dialect, reading: PlanReading) {
    this.#dialect = dialect
    this.#reading = reading
  }

  /** Clients publish in namespaces that no list has, too. */
  async *begin({ spaces, oldest }: KnownRows): AsyncGenerator<PlanLine> {
    this.#namespaces = await this.#dialect.namespaces()
    for (const id of new Set(['', ...this.#namespaces.map(({ id }) => id), ...spaces])) {
      const note = await this.#listed.read(this.#dialect, id)
      if (note !== undefined) yield note
      this.#reading.show('names of items', this.#listed.size, 0)
    }
    const isUnknown = (item: PlanItem): boolean =>
      !this.#listed.has(itemName(item)) && this.#listed.isWhole(item.namespace)
    this.#isOfOne = oldest.length === 0 || !oldest.every(isUnknown)
    if (!this.#isOfOne) yield remark('all items', NOTHING_IN_COMMON)
  }

  namespaces(ofDatabase: readonly PlanNamespace[]): Iterable<PlanLine> {
    return unitedNamespaces(ofDatabase, this.#namespaces, this.#kindOfNotes())
  }

  async *access(ofDatabase: Access): AsyncGenerator<PlanLine> {
    const { access, notes } = await this.#accessBeside(ofDatabase)
    yield* accessLines(access, this.#reading.administrators)
    yield* notes
  }

  /** A server that does not show users leaves them to the database. */
  async #accessBeside(ofDatabase: Access): Promise<ReturnType<typeof unitedAccess>> {
    if (!this.#dialect.hasAccess) return { access: ofDatabase, notes: [] }
    try {
      return unitedAccess(ofDatabase, await accessOf(this.#dialect), this.#kindOfNotes())
    } catch (error) {
      if (!(error instanceof CallError) || error.status === 0) throw error
      const isHidden = error.needsSignIn || HIDDEN.has(error.status)
      const note = missedNote(
        'user',
        'users of the server',
        `the plan has those of the database: ${error.message}`,
      )
      return { access: ofDatabase, notes: isHidden ? [] : [note] }
    }
  }

  #kindOfNotes(): 'conflict' | 'remark' {
    return this.#isOfOne ? 'conflict' : 'remark'
  }

  sawRecord(record: PlanHistory): void {
    this.#lastRecords.set(itemName(record), record.oldId)
  }

  takes(config: PlanConfig): boolean {
    const { namespace, group, dataId, content, md5, use, effect, schema } = config
    const name = itemName(config)
    const listed = this.#listed.take(name)
    const isListWhole = this.#isOfOne && this.#listed.isWhole(namespace)
    if (listed === undefined ? !isListWhole : listed.md5s.length === 0) return true
    // A content that is not text does not come; a line says so.
    if (listed !== undefined && !isText(content)) return true
    const md5s = [md5, md5Of(content)]
    if (listed !== undefined && hasOneOf(md5s, listed.md5s)) return true
    this.#asked.set(name, { item: { namespace, group, dataId }, row: { md5s, use, effect, schema } })
    return false
  }

  async *items(): AsyncGenerator<PlanLine> {
    for (const item of this.#listed.left()) this.#asked.set(itemName(item), { item, row: undefined })
    yield* readEach(
      [...this.#asked.values()].map(({ item }) => item),
      {
        dialect: this.#dialect,
        reading: { ...this.#reading, earlier: { hasRecord: (item, oldId) => this.#hasRecord(item, oldId) } },
        withDeleted: true,
        linesOf: (read) => this.#linesOf(read),
      },
    )
  }

  /** Records that came after the dump are newer than all of the item in it. */
  #hasRecord(item: PlanItem, oldId: string): boolean {
    const last = this.#lastRecords.get(itemName(item))
    return last !== undefined && compareIds(oldId, last) <= 0
  }

  /** The server's lines of an item that it listed, or that the database has. */
  #linesOf({ item, config, lines }: ReadItem): PlanLine[] {
    const name = itemName(item)
    const { row } = this.#asked.get(name)!
    if (config === undefined) return row === undefined ? goneMeanwhile(lines) : [conflict(name, DELETED)]
    if (config.kind !== 'config') return [...lines]
    this.#brought.add(name)
    if (row === undefined) return [...lines, remark(name, ONLY_ON_SERVER)]
    // Somebody may have published between reading the list and reading the database.
    const isSame = hasOneOf(row.md5s, [config.md5 ?? '', md5Of(config.content)])
    const noted = this.#dialect.hidesNotes ? lines.map((line) => withNotesOf(line, row)) : [...lines]
    return isSame ? noted : [...noted, conflict(name, DIFFERS)]
  }

  brought(item: PlanItem): boolean {
    return this.#brought.has(itemName(item))
  }
}

/** Statuses for lists of users that a server does not show, or not to this account, or does not have. */
const HIDDEN = new Set([401, 403, 404])

const DIFFERS = 'the database and the server have other contents; the plan has that of the server'
const DELETED = 'only the database has it: the server has deleted it since, and it does not come'
const NOTHING_IN_COMMON =
  'the server lists none of those of the database: are both of one installation? The plan has what each of them has'
const ONLY_ON_SERVER = 'only the server has it: the database is older'

/** Fields that the server does not show come from the database. */
function withNotesOf(line: PlanLine, { use, effect, schema }: KeptRow): PlanLine {
  return line.kind === 'config' ? { ...line, use, effect, schema } : line
}

/** An item that was listed and deleted before the database was read is no item of either; it may have gray versions. */
function goneMeanwhile(lines: readonly PlanLine[]): PlanLine[] {
  return lines.filter(({ kind }) => kind === 'gray')
}

function hasOneOf(md5s: readonly (string | null)[], others: readonly string[]): boolean {
  return others.some((other) => md5s.includes(other))
}

function conflict(name: string, reason: string): PlanNote {
  return { kind: 'conflict', about: 'config', name, reason }
}

function remark(name: string, reason: string): PlanNote {
  return { kind: 'remark', about: 'config', name, reason }
}
