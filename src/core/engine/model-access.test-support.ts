import type { ModelStore } from './model-store.test-support.ts'
import type {
  Revision,
  SharedCommit,
  SharedStore,
  Snapshot,
  StoreFollower,
  Unit,
  UnitResult,
} from './ports.ts'
import { Refusal } from '../refusal.ts'

/**
 * A fault of one request to the store. `lost`: it is carried out, and its answer is lost for good. `bad unit`: its
 * first unit can never be written.
 */
export type RequestFault = 'none' | 'unavailable' | 'lost' | 'bad unit'

/** One transaction: a commit that is larger is several. */
interface Request {
  readonly indexes: readonly number[]
  /** Whether it writes nothing. */
  readonly confirms: boolean
}

/** A commit that the store has not answered. */
interface Underway {
  readonly units: readonly Unit[]
  readonly decidedAt: Revision
  readonly requests: Request[]
  readonly results: UnitResult[]
  /** The revision that the server must have when its callers are answered. */
  at: Revision
  readonly resolve: (results: readonly UnitResult[]) => void
  readonly reject: (error: unknown) => void
}

/** One server's access to the model store: its requests arrive, and its feed is delivered, when a test says so. */
export class ModelAccess implements Pick<SharedStore, 'commit' | 'mostChanges'> {
  readonly mostChanges: number
  readonly #store: ModelStore
  readonly #unitsOfRequest: number
  #follower: StoreFollower | undefined
  #delivered = 0
  readonly #underway: Underway[] = []
  #answers: { at: Revision; give: () => void }[] = []
  /** Called with the last commit of this server, to plant a fault. */
  onWritten: ((commit: SharedCommit) => void) | undefined
  /** The fault of the next request that arrives. */
  fault: RequestFault = 'none'

  constructor(store: ModelStore, { mostChanges = 20, unitsOfRequest = 20 } = {}) {
    this.#store = store
    this.mostChanges = mostChanges
    this.#unitsOfRequest = unitsOfRequest
  }

  /** Everything there is; the feed begins after it. */
  load(): Snapshot {
    this.#delivered = this.#store.revision
    return this.#store.load()
  }

  follow(follower: StoreFollower): void {
    this.#follower = follower
  }

  /** The server has died: its requests may still arrive, but no answer comes back. */
  stop(): void {
    this.#follower = undefined
    this.#answers = []
  }

  /** How many commits have not arrived at the store as a whole. */
  get underway(): number {
    return this.#underway.length
  }

  /** The last revision that this server was given. */
  get revision(): Revision {
    return this.#delivered
  }

  /** How many revisions this server does not know. */
  get lag(): number {
    return this.#store.revision - this.#delivered
  }

  commit(units: readonly Unit[], decidedAt: Revision): Promise<readonly UnitResult[]> {
    return new Promise((resolve, reject) => {
      const results = units.map((): UnitResult => ({ kind: 'conflict' }))
      const requests = requestsOf(units, this.#unitsOfRequest)
      this.#underway.push({ units, decidedAt, requests, results, at: 0, resolve, reject })
    })
  }

  /** The next request of the oldest commit arrives at the store. */
  arrive(): void {
    const [commit] = this.#underway
    if (commit === undefined) return
    const request = commit.requests.shift()
    if (this.fault !== 'unavailable' && request !== undefined) this.#carryOut(commit, request)
    if (this.fault === 'unavailable' || this.fault === 'lost') refuse(commit, request, this.fault)
    if (commit.requests.length > 0) return
    this.#underway.shift()
    this.#answers.push({ at: commit.at, give: () => commit.resolve(commit.results) })
    this.#answer()
  }

  /** The oldest commit takes too long: its callers are refused, but it arrives later. */
  delay(): void {
    this.#underway[0]?.reject(NOT_KNOWN)
  }

  /** The oldest commit never arrives and is never answered. */
  drop(): void {
    this.#underway.shift()
  }

  /** Feeds the next revision to the server, and answers the commits that waited for it. */
  deliver(): void {
    const commit = this.#store.fed(this.#delivered + 1)
    if (commit !== undefined) {
      this.#delivered++
      this.#follower?.applied(commit)
    }
    this.#answer()
  }

  /** The store does not know the changes since: it sends its whole state. */
  reload(): void {
    if (this.lag === 0) return
    this.#follower?.reloaded(this.load())
    this.#answer()
  }

  #tell(revision: Revision): void {
    const written = this.#store.fed(revision)
    if (written !== undefined && this.#follower !== undefined) this.onWritten?.(written)
  }

  #answer(): void {
    const due = this.#answers.filter(({ at }) => at <= this.#delivered)
    this.#answers = this.#answers.filter(({ at }) => at > this.#delivered)
    for (const { give } of due) give()
  }

  #carryOut(commit: Underway, { indexes, confirms }: Request): void {
    const [bad] = this.fault === 'bad unit' ? indexes : []
    const sent = indexes.filter((index) => index !== bad)
    const units = sent.map((index) => commit.units[index]!)
    const before = this.#store.revision
    const holds = this.#store.write(units, commit.decidedAt)
    if (this.#store.revision > before) this.#tell(this.#store.revision)
    for (const [place, index] of sent.entries())
      commit.results[index] = { kind: holds[place] === true ? 'held' : 'conflict' }
    if (bad !== undefined) commit.results[bad] = { kind: 'failed', error: new Error('bad unit') }
    // The change that a confirmation conflicts with comes by the feed.
    const needed = confirms && holds.every(Boolean) ? 0 : this.#store.revision
    commit.at = Math.max(commit.at, needed)
  }
}

/** The requests for these units. A unit without changes is confirmed first. */
function requestsOf(units: readonly Unit[], most: number): Request[] {
  const confirming = [...units.keys()].filter((index) => units[index]!.changes.length === 0)
  const writing = [...units.keys()].filter((index) => units[index]!.changes.length > 0)
  return [...parts(confirming, most, true), ...parts(writing, most, false)]
}

function parts(indexes: readonly number[], most: number, confirms: boolean): Request[] {
  const count = Math.ceil(indexes.length / most)
  return Array.from({ length: count }, (_, part) => {
    return { indexes: indexes.slice(part * most, (part + 1) * most), confirms }
  })
}

const UNWRITTEN: UnitResult = {
  kind: 'unwritten',
  error: new Refusal('store-unavailable', 'The store cannot be reached: the change was not made.'),
}
const NOT_KNOWN = new Refusal('store-unavailable', 'Whether the change was made is not known.')

/** A request of a commit fails, and the later ones are not sent. */
function refuse(commit: Underway, failed: Request | undefined, fault: 'unavailable' | 'lost'): void {
  for (const index of failed?.indexes ?? [])
    commit.results[index] = fault === 'lost' ? { kind: 'refused', error: NOT_KNOWN } : UNWRITTEN
  for (const { indexes } of commit.requests.splice(0))
    for (const index of indexes) commit.results[index] = UNWRITTEN
}
