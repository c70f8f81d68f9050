import type { AuditEvent, AuditLimit } from '../../core/audit/audit-event.ts'
import type { HistoryLimits } from '../../core/config/state/history-limits.ts'
import type {
  KeptReads,
  Revision,
  SharedStore,
  Snapshot,
  StoreFollower,
  Unit,
  UnitResult,
} from '../../core/engine/ports.ts'
import type { Asker } from '../../core/work/fair-queue.ts'
import { readTurns } from '../../core/work/read-turns.ts'
import { AuditKeys } from './history/audit-keys.ts'
import { ChunkCleaning } from './contents/chunk-cleaning.ts'
import { Chunks } from './contents/chunks.ts'
import type { Clock } from '@waypost/etcd-client/clock'
import type { EtcdClient } from '@waypost/etcd-client/etcd-client'
import { shownKey } from '@waypost/etcd-client/key-text'
import { Commits } from './writing/commits.ts'
import {
  type CompareOptions,
  type FeedFigures,
  Following,
  type FollowingParts,
} from './following/following.ts'
import { EtcdReads } from './history/etcd-reads.ts'
import { HistoryCleaning, type HistoryLimit } from './history/history-cleaning.ts'
import { HistoryCut } from './history/history-cut.ts'
import { HistorySize } from './history/history-size.ts'
import { HistoryKeys } from './history/history-keys.ts'
import type { Keys } from './keys/keys.ts'
import { KeptKeys } from './following/kept-keys.ts'
import { type Difference, KnownKeys } from './keys/known-keys.ts'
import { largeBytes } from './contents/large-contents.ts'
import type { StoreEmpty } from './format/store-empty.ts'
import type { StoreInUse, StoreInUseParts } from './format/store-in-use.ts'
import { quotaShares, type QuotaShares } from './space/quota-shares.ts'
import { type DamagedKey, DamagedKeys } from './failures/damaged-keys.ts'
import { asRefusal, refusalOf, sayingIfFull } from './failures/refusals.ts'
import { nestedPrefixes } from './format/nested-prefixes.ts'
import { RememberedValues } from './format/remembered-values.ts'
import { RequestFence } from './writing/request-fence.ts'
import { SharedTexts } from './contents/shared-texts.ts'
import type { SecretsKeyInUse } from './sealing/secrets-key-in-use.ts'

/** The dependencies of the store. */
export interface EtcdStoreParts {
  readonly client: EtcdClient
  readonly keys: Keys
  readonly inUse: StoreInUse
  readonly secretsKey: Pick<SecretsKeyInUse, 'begin'>
  /** Names this server among all: its address. */
  readonly member: string
  /** A unique name for this process. */
  readonly process: string
  readonly clock: Clock
  /** How many bytes history may take; by default it has no limit. */
  readonly history?: (() => HistoryLimits) | undefined
  /** Called with the error for which this server must stop. The store receives nothing new from then on. */
  readonly failed: (error: unknown) => void
  /** Called once for each damaged key, which is left out; absent: a damaged key is an error. */
  readonly damaged?: ((damaged: DamagedKey) => void) | undefined
  /** Called when everything must be loaded again, with the reason, and whenever that has failed. */
  readonly reloading?: ((why: unknown) => void) | undefined
  /** See `StoreInUseParts`. */
  readonly watched?: StoreInUseParts['watched']
  /** See `FollowingParts.reloaded`. */
  readonly reloaded?: FollowingParts['reloaded']
}

/** So many reads of history are at etcd at the same time: they leave it time for the commits of all servers. */
const READS_AT_ONCE = 2

/** The default time limit of a commit. */
const COMMIT_MS = 1_750

/** With contents of this size a unit is committed alone, with the time that a busy etcd takes: 0.5 s for each MiB. */
const APART_BYTES = 1024 * 1024
const BYTES_PER_MS = (2 * 1024 * 1024) / 1_000
const MOST_BEFOREHAND_MS = 30_000

/** Stores changes in etcd, for several equal servers (docs/cluster.md). */
export class EtcdStore implements SharedStore {
  /** With their history and indexes they fit in one transaction. */
  readonly mostChanges = 40
  readonly #parts: EtcdStoreParts
  readonly #fence: RequestFence
  readonly #chunks: Chunks
  readonly #history: HistoryKeys
  readonly #cleaning: HistoryCleaning
  readonly #chunkCleaning: ChunkCleaning
  readonly #audit: AuditKeys
  readonly #remembered: RememberedValues
  readonly #known: KnownKeys
  readonly #damaged: DamagedKeys | undefined
  readonly #kept: KeptKeys
  #isNumberLost = false
  readonly #turns = readTurns(READS_AT_ONCE)
  /** Since it was loaded. */
  #active: { readonly following: Following; readonly commits: Commits } | undefined
  #size: HistorySize | undefined

  constructor(parts: EtcdStoreParts) {
    const { client, keys, member, process, clock } = parts
    this.#parts = parts
    const own = keys.of({ of: 'request', id: member })
    const missed = (): void => parts.watched?.mended(own)
    this.#fence = new RequestFence(client, { key: own, process, missed })
    this.#chunks = new Chunks(client, keys, clock)
    this.#history = new HistoryKeys(client, keys, this.#chunks.read)
    this.#cleaning = new HistoryCleaning(client, keys, member)
    this.#chunkCleaning = new ChunkCleaning(client, keys)
    this.#audit = new AuditKeys(client, keys, member)
    this.#remembered = new RememberedValues(client, keys)
    this.#known = new KnownKeys(keys)
    this.#kept = new KeptKeys({ ...parts, mended: (key) => parts.watched?.mended(key) })
    this.#damaged = parts.damaged && new DamagedKeys(parts.damaged)
  }

  async load(): Promise<Snapshot> {
    const { client, keys, clock, inUse, secretsKey } = this.#parts
    await client.checkVersions()
    await sayingIfFull(inUse.begin())
    await sayingIfFull(secretsKey.begin())
    await sayingIfFull(this.#fence.take(clock))
    const readParts = this.#chunks.read
    const limits = this.#parts.history
    const size = limits && new HistorySize(client, keys)
    this.#size = size
    const { following, snapshot } = await Following.load({
      ...this.#parts,
      known: this.#known,
      readParts,
      size,
      damaged: this.#damaged,
      kept: this.#kept,
      numberLost: () => void (this.#isNumberLost = true),
    })
    const nowMs = (): number => clock.nowMs()
    const history = limits && size && new HistoryCut({ client, keys, size, limits, nowMs })
    const own = { fence: this.#fence, chunks: this.#chunks, following, history }
    inUse.whenMissed = (error) => following.distrust(error)
    this.#active = { following, commits: new Commits({ ...this.#parts, ...own, damaged: this.#damaged }) }
    return snapshot
  }

  follow(follower: StoreFollower): void {
    this.#loaded().following.follow(follower)
  }

  /** The layout in which the data is written. */
  get layout(): number {
    return this.#parts.inUse.current
  }

  /** How far this server is behind etcd. */
  get figures(): FeedFigures {
    return this.#loaded().following.figures
  }

  /** Compares the received data with etcd, and loads the differing kinds again. See `Following.compare`. */
  compare(options: CompareOptions): Promise<readonly Difference[]> {
    return asRefusal(this.#loaded().following.compare(options))
  }

  /** The keys that this server leaves out, because no server has written them or their values. */
  get damaged(): readonly DamagedKey[] {
    return (this.#damaged?.all ?? []).map(({ key, problem }) => ({ key: shownKey(key), problem }))
  }

  /** Why the data in etcd cannot be believed; undefined: they can. */
  get missing(): StoreEmpty | undefined {
    return this.#parts.inUse.missing
  }

  /** The prefixes of other installations above and below this one. */
  nestedPrefixes(): Promise<string[]> {
    return nestedPrefixes(this.#parts.client, this.#parts.keys)
  }

  /** The part of its quota that each kind of keys takes, in a member of etcd. See `quotaShares`. */
  quotaShares(member: Parameters<typeof quotaShares>[1]): Promise<QuotaShares> {
    const { client, keys, clock } = this.#parts
    return asRefusal(quotaShares({ client, keys, known: this.#known, nowMs: () => clock.nowMs() }, member))
  }

  /** How many bytes history takes; undefined: it has no limit, or is not counted yet. */
  get historyBytes(): number | undefined {
    return this.#size?.total
  }

  commit(units: readonly Unit[], decidedAt: Revision, withinMs = COMMIT_MS): Promise<readonly UnitResult[]> {
    try {
      this.#parts.inUse.refuse()
    } catch (error) {
      return Promise.reject(refusalOf(error))
    }
    return this.#loaded().commits.commit(units, { decidedAt, withinMs })
  }

  beforehandMs({ changes }: Unit): number {
    const bytes = largeBytes(changes, SharedTexts.of(changes))
    return bytes < APART_BYTES ? 0 : Math.min(MOST_BEFOREHAND_MS, Math.ceil(bytes / BYTES_PER_MS))
  }

  reads(reader: string | Asker): KeptReads {
    const refuse = (): void => this.#parts.inUse.refuse()
    return new EtcdReads({ history: this.#history, audit: this.#audit, turns: this.#turns, reader, refuse })
  }

  cleanHistory(limit: HistoryLimit): Promise<{ removed: number; more: boolean }> {
    return asRefusal(this.#cleaning.step(limit))
  }

  /**
   * Removes a bounded number of contents older than ten minutes whose change was never made. Only the elected server
   * calls it; two servers that do so do no harm.
   */
  cleanChunks(nowMs: number): Promise<{ removed: number; more: boolean }> {
    return asRefusal(this.#chunkCleaning.step(nowMs))
  }

  saveAudit(events: readonly AuditEvent[]): Promise<void> {
    return asRefusal(this.#audit.save(events))
  }

  cleanAudit(limit: AuditLimit): Promise<{ removed: number; more: boolean }> {
    return asRefusal(this.#audit.clean(limit))
  }

  remember(name: string, value: string): Promise<void> {
    return asRefusal(this.#remembered.remember(name, value))
  }

  recall(name: string): Promise<string | undefined> {
    return asRefusal(this.#remembered.recall(name))
  }

  /** The remembered value of that name, or else the result of `make`. Servers that start at once get the same value. */
  agree(name: string, make: () => string): Promise<string> {
    return asRefusal(this.#remembered.agree(name, make))
  }

  /** The remembered value of that name, with the revision that wrote it. */
  seen(name: string): Promise<{ readonly value: string; readonly revision: number } | undefined> {
    return asRefusal(this.#remembered.seen(name))
  }

  /** Replaces a remembered value as it was seen. False: it has changed since. */
  replace(name: string, seen: { readonly revision: number }, value: string): Promise<boolean> {
    return asRefusal(this.#remembered.replace(name, seen, value))
  }

  /** Writes again what every installation has, where it is lost. Call it once a second; it rejects if etcd is away. */
  async care(isElected: boolean): Promise<void> {
    await this.#parts.inUse.care(isElected)
    await this.#kept.care()
    if (!this.#isNumberLost) return
    await this.#loaded().commits.numberAgain(COMMIT_MS)
    this.#isNumberLost = false
  }

  /** Tries to remove this process's own keys: its name is not used again. Call it before `close`. */
  async forget(): Promise<void> {
    await this.#fence.forget().catch(() => undefined)
  }

  close(): Promise<void> {
    this.#active?.following.close()
    this.#parts.client.close()
    return Promise.resolve()
  }

  #loaded(): { following: Following; commits: Commits } {
    if (this.#active === undefined) throw new Error('The store was not loaded.')
    return this.#active
  }
}
