import type { Change } from '../decisions/changes.ts'
import type { ConfigItem } from '../config/state/config-item.ts'
import type { HistoryOp } from '../config/state/history-record.ts'
import type { Service } from '../naming/state/service.ts'
import { serviceKeyText } from '../naming/state/service.ts'
import type { Revision, SharedCommit, Snapshot, StoredInstance, Unit } from './ports.ts'
import { changedThing, type Read, readText } from '../decisions/reads.ts'
import type { StoredRecord } from '../records/record-kind.ts'
import { stampOfChange } from '../decisions/stamps.ts'

/** A record of the history: an insert has the new text, an update the text before it, a delete the deleted text. */
export interface ModelRecord {
  readonly id: number
  readonly op: HistoryOp
  readonly content: string
  /** The revision that wrote it. */
  readonly revision: Revision
}

/** Something that is there: its last change, and when it was created and last changed. */
interface Kept {
  readonly thing: Read
  readonly created: Revision
  readonly changed: Revision
  readonly change: Change
}

/** The faults that a test may plant, and the events for it. */
export interface ModelStoreOptions {
  /** False plants a fault: every unit is written, whatever has changed since it was decided. */
  readonly compares?: boolean
  /** Called with each unit that held, in the order in which the store accepted them. */
  readonly held?: (unit: Unit, revision: Revision) => void
}

/**
 * A store of several servers, in memory, for tests and simulations. It works as the store on etcd. It keeps one value
 * for each thing, with its revisions, and compares the reads. It writes the units of one request in one revision. It
 * feeds the last change of each thing in a revision. Its servers use it through `ModelAccess`.
 */
export class ModelStore {
  readonly #options: ModelStoreOptions
  readonly #commits: SharedCommit[] = []
  readonly #feed: SharedCommit[] = []
  readonly #things = new Map<string, Kept>()
  /** By kind: when any record of it was saved or removed last. */
  readonly #kinds = new Map<string, Revision>()
  readonly #history = new Map<string, ModelRecord[]>()
  readonly #historyIds = new Set<number>()
  #largestStamp = 0

  constructor(options: ModelStoreOptions = {}) {
    this.#options = options
  }

  /** The number of revisions. */
  get revision(): Revision {
    return this.#commits.length
  }

  /** Everything that was written, in order. */
  get commits(): readonly SharedCommit[] {
    return this.#commits
  }

  /** The changes of a revision that the servers receive. A thing that changed twice in it has only its last change. */
  fed(revision: Revision): SharedCommit | undefined {
    return this.#feed[revision - 1]
  }

  /** The history of an item, in the order of the ids, which is the order that history pages show. */
  history(keyText: string): readonly ModelRecord[] {
    return (this.#history.get(keyText) ?? []).toSorted((a, b) => a.id - b.id)
  }

  /** One request: writes the units whose reads have not changed after `decidedAt`, in one revision. */
  write(units: readonly Unit[], decidedAt: Revision): boolean[] {
    const holds = units.map((unit) => this.#options.compares === false || this.#holds(unit, decidedAt))
    const held = units.filter((_unit, index) => holds[index])
    const changes = held.flatMap((unit) => unit.changes)
    if (changes.length > 0) this.#commit(changes)
    for (const unit of held) this.#options.held?.(unit, this.revision)
    return holds
  }

  /** All things in the order of their creation; within a revision by name. */
  load(): Snapshot {
    const configs: ConfigItem[] = []
    const services: Service[] = []
    const instances: StoredInstance[] = []
    const records: StoredRecord[] = []
    for (const { change } of this.#inOrder()) {
      if (change.kind === 'config-published') configs.push(change.item)
      if (change.kind === 'service-saved') services.push({ ...change.service, serial: services.length + 1 })
      if (change.kind === 'record-saved') records.push(change)
      if (change.kind === 'instance-saved') instances.push(storedInstance(change, instances.length))
    }
    const shifted = instances.map((one) => withSerial(one, one.record.serial + services.length))
    const { revision } = this
    return { configs, services, instances: shifted, records, revision, largestStamp: this.#largestStamp }
  }

  #inOrder(): Kept[] {
    const byName = [...this.#things.entries()].sort(([a], [b]) => (a < b ? -1 : 1))
    return byName.map(([, kept]) => kept).sort((a, b) => a.created - b.created)
  }

  /**
   * Things that are written without a read must not have changed either. A new history id must be larger than the
   * earlier ids of its item, because clocks may be behind. And "not found" holds again after a deletion.
   */
  #holds({ reads, changes }: Unit, decidedAt: Revision): boolean {
    const isFresh = changes.every((change) => this.#isNewId(change))
    const written = changes.map(changedThing)
    return (
      isFresh &&
      reads.every((read) => this.#isUnread(read, decidedAt)) &&
      written.every((thing) => this.#changed(readText(thing)) <= decidedAt)
    )
  }

  #isNewId(change: Change): boolean {
    const id = historyIdOf(change)
    const thing = changedThing(change)
    if (thing.of !== 'config') return true
    return (
      !this.#historyIds.has(id) && (this.#history.get(thing.key.text) ?? []).every((known) => known.id < id)
    )
  }

  /** Whether a read would be the same now. A read of a range does not notice instances that have left. */
  #isUnread(read: Read, decidedAt: Revision): boolean {
    const text = readText(read)
    if (read.of === 'records') return (this.#kinds.get(text) ?? 0) <= decidedAt
    if (read.of === 'instances') {
      const instances = this.#instancesOf(serviceKeyText(read.serviceKey))
      return read.none ? instances.length === 0 : instances.every(({ changed }) => changed <= decidedAt)
    }
    if (!read.found) return !this.#things.has(text)
    return this.#things.has(text) && this.#changed(text) <= decidedAt
  }

  #instancesOf(serviceText: string): Kept[] {
    return [...this.#things.values()].filter(
      ({ thing }) => thing.of === 'instance' && serviceKeyText(thing.serviceKey) === serviceText,
    )
  }

  #changed(text: string): Revision {
    return this.#things.get(text)?.changed ?? 0
  }

  #commit(changes: readonly Change[]): void {
    const revision = this.#commits.length + 1
    this.#commits.push({ revision, changes })
    const last = new Map<string, Change>()
    const stamp = Math.max(...changes.map(stampOfChange))
    this.#largestStamp = Math.max(this.#largestStamp, stamp)
    for (const change of changes) {
      this.#record(change, revision)
      last.set(readText(changedThing(change)), change)
    }
    const fed = [...last].flatMap(([text, change]) => this.#keep(text, change, revision))
    fed.sort((a, b) => rankOf(a) - rankOf(b) || (nameOf(a) < nameOf(b) ? -1 : 1))
    this.#feed.push({ revision, changes: fed, stamp })
  }

  /** Keeps the thing as a revision made it. Returns the changes that the servers receive. */
  #keep(text: string, change: Change, revision: Revision): Change[] {
    const thing = changedThing(change)
    const before = this.#things.get(text)
    if (thing.of === 'record') this.#kinds.set(readText({ ...thing, of: 'records' }), revision)
    if (!isRemoval(change)) {
      this.#things.set(text, { thing, created: before?.created ?? revision, changed: revision, change })
      return [change.kind === 'config-published' ? fedItem(change, before !== undefined) : change]
    }
    this.#things.delete(text)
    return before === undefined ? [] : [change]
  }

  #record(change: Change, revision: Revision): void {
    if (change.kind !== 'config-published' && change.kind !== 'config-deleted') return
    const id = historyIdOf(change)
    this.#historyIds.add(id)
    const isPublished = change.kind === 'config-published'
    const key = isPublished ? change.item.key : change.key
    const op = isPublished ? change.op : 'D'
    const item = isPublished ? (change.previous ?? change.item) : change.deleted
    const records = this.#history.get(key.text) ?? []
    this.#history.set(key.text, [...records, { id, op, content: item.content.toString(), revision }])
  }
}

/** The id of the history record of a change, or 0. */
function historyIdOf(change: Change): number {
  if (change.kind === 'config-published') return change.item.historyId
  return change.kind === 'config-deleted' ? change.historyId : 0
}

function isRemoval({ kind }: Change): boolean {
  return ['config-deleted', 'service-deleted', 'instance-removed', 'record-removed'].includes(kind)
}

/** A store of several servers does not know who changed an item, but for its history. */
function fedItem(change: Extract<Change, { kind: 'config-published' }>, wasThere: boolean): Change {
  return { ...change, op: wasThere ? 'U' : 'I', previous: undefined, operator: { ip: '', user: null } }
}

function storedInstance(change: Extract<Change, { kind: 'instance-saved' }>, index: number): StoredInstance {
  const { serviceKey, record, healthy = true } = change
  return withSerial({ serviceKey, record, healthy }, index + 1)
}

function withSerial(stored: StoredInstance, serial: number): StoredInstance {
  return { ...stored, record: { ...stored.record, serial } }
}

/** Services are made before their instances and removed after them. */
function rankOf({ kind }: Change): number {
  if (kind === 'service-saved') return 0
  return kind === 'service-deleted' ? 2 : 1
}

function nameOf(change: Change): string {
  return readText(changedThing(change))
}
