import type { Change } from './changes.ts'
import type { Revision, SharedStore, StoreFollower, Unit, UnitResult } from './ports.ts'
import { type Read, readText } from './reads.ts'
import { Refusal } from './refusal.ts'
import { changedThing } from './units.ts'

/** One revision of the model store. */
interface Commit {
  readonly revision: Revision
  readonly changes: readonly Change[]
}

/** What the model store compares reads with. */
interface Kept {
  /** When the thing last changed. */
  readonly revision: Revision
  readonly there: boolean
}

/** What may go wrong with one commit. `lost`: it is written, and its answer is lost for good. */
export type CommitFault = 'none' | 'unavailable' | 'lost'

/**
 * A store of several servers, in memory, for tests and simulations: it keeps the revision of everything, compares reads, and
 * gives each server its feed when the test says so.
 */
export class ModelStore {
  readonly #log: Commit[] = []
  readonly #things = new Map<string, Kept>()
  /** By kind, and by service: when any record or instance of it changed last. */
  readonly #ranges = new Map<string, Revision>()
  readonly #instances = new Map<string, Set<string>>()

  /** The number of revisions. */
  get revision(): Revision {
    return this.#log.length
  }

  /** Everything that was written, in order. */
  get commits(): readonly Commit[] {
    return this.#log
  }

  /** A server's own access. Nothing is delivered until {@link ModelAccess.deliver}. */
  access(): ModelAccess {
    return new ModelAccess(this)
  }

  /** Writes a unit, if nothing that it read has changed after `decidedAt`. */
  write({ reads, changes }: Unit, decidedAt: Revision): boolean {
    const own = changes.map(changedThing).filter((thing) => !reads.some((read) => sameThing(read, thing)))
    const holds = reads.every((read) => this.#holds(read, decidedAt))
    if (!holds || !own.every((thing) => this.#since(readText(thing)) <= decidedAt)) return false
    if (changes.length === 0) return true
    const revision = this.#log.length + 1
    this.#log.push({ revision, changes })
    for (const change of changes) this.#keep(change, revision)
    return true
  }

  #holds(read: Read, decidedAt: Revision): boolean {
    const text = readText(read)
    if (read.of === 'records') return (this.#ranges.get(text) ?? 0) <= decidedAt
    if (read.of === 'instances') {
      const isNone = (this.#instances.get(text)?.size ?? 0) === 0
      return (this.#ranges.get(text) ?? 0) <= decidedAt && (!read.none || isNone)
    }
    return this.#since(text) <= decidedAt && (this.#things.get(text)?.there ?? false) === read.found
  }

  #since(text: string): Revision {
    return this.#things.get(text)?.revision ?? 0
  }

  #keep(change: Change, revision: Revision): void {
    const thing = changedThing(change)
    const text = readText(thing)
    const there = !['config-deleted', 'service-deleted', 'instance-removed', 'record-removed'].includes(
      change.kind,
    )
    this.#things.set(text, { revision, there })
    if (thing.of === 'record')
      this.#ranges.set(readText({ of: 'records', recordKind: thing.recordKind }), revision)
    if (thing.of !== 'instance') return
    const range = readText({ of: 'instances', serviceKey: thing.serviceKey, none: false })
    if (there) this.#ranges.set(range, revision)
    const instances = this.#instances.get(range) ?? new Set()
    this.#instances.set(range, instances)
    if (there) instances.add(text)
    else instances.delete(text)
  }
}

/** One server's access to the model store: its commits arrive, and its feed is delivered, when a test says so. */
export class ModelAccess implements Pick<SharedStore, 'commit' | 'mostChanges'> {
  readonly mostChanges = 20
  readonly #store: ModelStore
  #follower: StoreFollower | undefined
  #delivered = 0
  #asked: (() => void)[] = []
  #answers: { at: Revision; give: () => void }[] = []
  fault: CommitFault = 'none'

  constructor(store: ModelStore) {
    this.#store = store
  }

  follow(follower: StoreFollower): void {
    this.#follower = follower
  }

  /** How many commits have not arrived at the store. */
  get underway(): number {
    return this.#asked.length
  }

  /** How many revisions this server does not know. */
  get lag(): number {
    return this.#store.revision - this.#delivered
  }

  commit(units: readonly Unit[], decidedAt: Revision): Promise<readonly UnitResult[]> {
    return new Promise((resolve, reject) => {
      this.#asked.push(() => this.#arrived(units, decidedAt, { resolve, reject }))
    })
  }

  /** The oldest commit that is underway arrives at the store. */
  arrive(): void {
    this.#asked.shift()?.()
  }

  /** Feeds the next revision to the server, and answers the commits that waited for it. */
  deliver(): void {
    const commit = this.#store.commits[this.#delivered]
    if (commit !== undefined) {
      this.#delivered++
      this.#follower?.applied(commit)
    }
    const due = this.#answers.filter(({ at }) => at <= this.#delivered)
    this.#answers = this.#answers.filter(({ at }) => at > this.#delivered)
    for (const { give } of due) give()
  }

  #arrived(
    units: readonly Unit[],
    decidedAt: Revision,
    { resolve, reject }: { resolve: (results: UnitResult[]) => void; reject: (error: unknown) => void },
  ): void {
    const unavailable = new Refusal('store-unavailable', 'The store cannot be reached.')
    if (this.fault === 'unavailable') return reject(unavailable)
    const results = units.map((unit): UnitResult => {
      const kind = this.#store.write(unit, decidedAt) ? 'held' : 'conflict'
      return { kind }
    })
    if (this.fault === 'lost') return reject(unavailable)
    // A conflict is answered when the server knows what it conflicted with.
    this.#answers.push({ at: this.#store.revision, give: () => resolve(results) })
    if (this.lag === 0) this.deliver()
  }
}

function sameThing(a: Read, b: Read): boolean {
  return readText(a) === readText(b)
}
