import type { AuditEvent } from '../../core/audit/audit-event.ts'
import type { AuditLimit, AuditSearch, FoundEvents } from '../../core/audit/audit-search.ts'
import type { ConfigKey } from '../../core/config/config-item.ts'
import type { HistoryPage, HistoryRecord } from '../../core/config/history-record.ts'
import type { Revision, SharedStore, Snapshot, StoreFollower, Unit, UnitResult } from '../../core/ports.ts'
import { Refusal } from '../../core/refusal.ts'
import { AuditKeys } from './audit-keys.ts'
import type { Clock } from './client/clock.ts'
import type { EtcdClient } from './client/etcd-client.ts'
import type { Operation, OperationResult } from './client/messages.ts'
import { prefixEnd } from './client/range-end.ts'
import type { Watch } from './client/watch.ts'
import { HistoryCleaning, type HistoryLimit } from './history-cleaning.ts'
import { HistoryKeys } from './history-keys.ts'
import type { Keys } from './keys.ts'
import { agreeOnFormat } from './layout-format.ts'
import { loadKeys } from './load-keys.ts'
import { fits, packed } from './packed.ts'
import { asRefusal, refusalOf } from './refusals.ts'
import { RememberedValues } from './remembered-values.ts'
import { RequestFence } from './request-fence.ts'
import { StoreFeed } from './store-feed.ts'
import { chunksOf, type LargeContent, largeContents } from './large-contents.ts'
import { type UnitOrigin, type UnitRequest, unitRequest } from './unit-request.ts'
import type { ContentParts } from './values.ts'

/** What the store is made of. */
export interface EtcdStoreParts {
  readonly client: EtcdClient
  readonly keys: Keys
  /** Names this server among all: its address. */
  readonly member: string
  /** Names this process: no other one has the same name. */
  readonly process: string
  readonly clock: Clock
  /** How long this server may be behind what it has written, in milliseconds: then its callers are told so. */
  readonly feedLimitMs?: number
  /** Called with what ends the feed: this server knows nothing new from then on. */
  readonly failed: (error: unknown) => void
}

const FEED_LIMIT_MS = 2_000

/** A unit of a commit, with its transaction and the place of its result. */
interface Sending extends UnitRequest {
  readonly index: number
}

/** Stores changes in etcd, for several equal servers (docs/cluster.md). */
export class EtcdStore implements SharedStore {
  /** With their history and indexes they are within the limit of one transaction. */
  readonly mostChanges = 24
  readonly #parts: EtcdStoreParts
  readonly #fence: RequestFence
  readonly #history: HistoryKeys
  readonly #cleaning: HistoryCleaning
  readonly #audit: AuditKeys
  readonly #remembered: RememberedValues
  /** The large contents of the commits underway, by stamp: the feed need not read them. */
  readonly #contents = new Map<number, Buffer>()
  #feed: StoreFeed | undefined
  #watch: Watch | undefined

  constructor(parts: EtcdStoreParts) {
    const { client, keys, member, process } = parts
    this.#parts = parts
    this.#fence = new RequestFence(client, { key: keys.of({ of: 'request', id: member }), process })
    this.#history = new HistoryKeys(client, keys, this.#readParts)
    this.#cleaning = new HistoryCleaning(client, keys)
    this.#audit = new AuditKeys(client, keys, member)
    this.#remembered = new RememberedValues(client, keys)
  }

  async load(): Promise<Snapshot> {
    const { client, keys, failed } = this.#parts
    await client.checkVersions()
    await agreeOnFormat(client, keys)
    await this.#fence.take()
    const snapshot = await loadKeys(client, keys, this.#readParts)
    this.#feed = new StoreFeed({ keys, readParts: this.#readParts, failed }, snapshot.revision)
    return snapshot
  }

  follow(follower: StoreFollower): void {
    const { client, keys, failed } = this.#parts
    const feed = this.#following()
    feed.follow(follower)
    this.#watch = client.watch(
      { key: keys.all, end: prefixEnd(keys.all), from: feed.applied + 1, before: true },
      {
        changed: (revision) => feed.add(revision),
        reached: () => {},
        broken: (why) => failed(new Error(`etcd cannot tell what has changed since: ${why}`)),
      },
    )
  }

  async commit(units: readonly Unit[], decidedAt: Revision): Promise<readonly UnitResult[]> {
    const results: UnitResult[] = units.map(() => ({ kind: 'conflict' }))
    const sendings: Sending[] = []
    for (const [index, unit] of units.entries()) {
      const request = this.#requestOf(unit, { decidedAt, member: this.#parts.member, index })
      if (request instanceof Error) results[index] = { kind: 'failed', error: request }
      else sendings.push({ ...request, index })
    }
    const writing = sendings.filter(({ success }) => success.length > 0)
    const confirming = sendings.filter(({ success }) => success.length === 0)
    const contents = largeContents(units.flatMap(({ changes }) => changes))
    try {
      await this.#writeContents(contents)
      for (const request of packed(confirming)) await this.#confirm(request, { results, decidedAt })
      for (const request of packed(writing)) await this.#write(request, { results, stamp: stampOf(units) })
    } catch (error) {
      throw refusalOf(error)
    } finally {
      for (const { stamp } of contents) this.#contents.delete(stamp)
    }
    return results
  }

  history(key: ConfigKey, page: { pageNo: number; pageSize: number }): Promise<HistoryPage> {
    return asRefusal(this.#history.page(key, page))
  }

  historyRecord(id: number): Promise<HistoryRecord | undefined> {
    return asRefusal(this.#history.record(id))
  }

  historyBefore(key: ConfigKey, id: number): Promise<HistoryRecord | undefined> {
    return asRefusal(this.#history.before(key, id))
  }

  lastUpdate(key: ConfigKey, itemId: number): Promise<HistoryRecord | undefined> {
    return asRefusal(this.#history.lastUpdate(key, itemId))
  }

  cleanHistory(limit: HistoryLimit): Promise<{ removed: number; more: boolean }> {
    return asRefusal(this.#cleaning.step(limit))
  }

  saveAudit(events: readonly AuditEvent[]): Promise<void> {
    return asRefusal(this.#audit.save(events))
  }

  findAudit(search: AuditSearch, most: number): Promise<FoundEvents> {
    return asRefusal(this.#audit.find(search, most))
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

  /** The remembered value of that name, or else what `make` gives. Servers that start at once get the same one. */
  agree(name: string, make: () => string): Promise<string> {
    return asRefusal(this.#remembered.agree(name, make))
  }

  close(): Promise<void> {
    this.#watch?.close()
    this.#parts.client.close()
    return Promise.resolve()
  }

  #requestOf(unit: Unit, origin: UnitOrigin): UnitRequest | Error {
    try {
      const request = unitRequest(this.#parts.keys, unit, origin)
      return fits(request) ? request : new Error('The change is too large for one transaction of etcd.')
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error))
    }
  }

  /** Units without changes: nothing is written, so there is nothing to fence. */
  async #confirm(
    request: readonly Sending[],
    { results, decidedAt }: { results: UnitResult[]; decidedAt: Revision },
  ): Promise<void> {
    const answer = await this.#parts.client.txn({ compare: [], success: request.map(transactionOf) })
    const conflicts = take(request, answer.results, results)
    // What it conflicts with comes by the feed, after what the decision was made on.
    if (conflicts) await this.#reached(decidedAt + 1)
  }

  async #write(
    request: readonly Sending[],
    { results, stamp }: { results: UnitResult[]; stamp: number },
  ): Promise<void> {
    const sent = await this.#fence.send(request.map(transactionOf), stamp)
    if (sent.kind === 'answered') {
      take(request, sent.result.results, results)
      await this.#reached(sent.result.revision)
      return
    }
    await this.#reached(sent.revision)
    const written = new Set(this.#following().keysOf(sent.revision))
    for (const { index, keys } of request)
      results[index] = { kind: keys.some((key) => written.has(key)) ? 'held' : 'conflict' }
  }

  /** Resolves when the follower has this revision. Rejects with Refusal `store-unavailable` if it does not come in time. */
  async #reached(revision: Revision): Promise<void> {
    const timer = new AbortController()
    const { clock, feedLimitMs = FEED_LIMIT_MS } = this.#parts
    const isLate = clock.sleep(feedLimitMs, timer.signal).then(() => !timer.signal.aborted)
    const isThere = this.#following()
      .reached(revision)
      .then(() => false)
    const late = await Promise.race([isThere, isLate])
    timer.abort()
    if (late)
      throw new Refusal(
        'store-unavailable',
        'This server is behind: whether the change was made is not known.',
      )
  }

  /** Large contents are written before the units that name them: a chunk that no unit names is removed later. */
  async #writeContents(contents: readonly LargeContent[]): Promise<void> {
    const { client, keys } = this.#parts
    for (const { stamp, content } of contents) {
      this.#contents.set(stamp, content)
      for (const [index, value] of chunksOf(content).entries()) {
        const key = keys.of({ of: 'chunk', stamp, index })
        await client.txn({ compare: [], success: [{ do: 'put', key, value }] })
      }
    }
  }

  readonly #readParts = async ({ stamp, count }: ContentParts): Promise<Buffer> => {
    const known = this.#contents.get(stamp)
    if (known !== undefined) return known
    return Buffer.concat(
      await Promise.all(Array.from({ length: count }, (_, index) => this.#readChunk(stamp, index))),
    )
  }

  async #readChunk(stamp: number, index: number): Promise<Uint8Array> {
    const { client, keys } = this.#parts
    const { kvs } = await client.range({ key: keys.of({ of: 'chunk', stamp, index }) })
    if (kvs[0] === undefined) throw new Error(`Chunk ${index} of the content of stamp ${stamp} is missing.`)
    return kvs[0].value
  }

  #following(): StoreFeed {
    if (this.#feed === undefined) throw new Error('The store was not loaded.')
    return this.#feed
  }
}

function transactionOf({ compare, success }: UnitRequest): Operation {
  return { do: 'txn', compare, success }
}

/** Takes down which units held; true where one did not. */
function take(
  request: readonly Sending[],
  answers: readonly OperationResult[],
  results: UnitResult[],
): boolean {
  let conflicts = false
  for (const [position, { index }] of request.entries()) {
    const answer = answers[position]
    const held = answer?.did === 'txn' && answer.succeeded
    results[index] = { kind: held ? 'held' : 'conflict' }
    conflicts ||= !held
  }
  return conflicts
}

/** The latest stamp of the changes: what they delete has left then. */
function stampOf(units: readonly Unit[]): number {
  const stamps = units.flatMap(({ changes }) =>
    changes.map((change) => ('stamp' in change ? change.stamp : 0)),
  )
  return stamps.reduce((latest, stamp) => Math.max(latest, stamp), 0)
}
