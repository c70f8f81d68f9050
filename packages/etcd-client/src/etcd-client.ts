import { Calls } from './calls.ts'
import { checkedRange, PagedKeys } from './checked-range.ts'
import type { CallTimes } from './calls.ts'
import type { Clock } from './clock.ts'
import type { EtcdConnection, OpenConnection } from './connection.ts'
import { Endpoints } from './endpoints.ts'
import { EtcdError, toEtcdError } from './etcd-error.ts'
import { GrpcError } from './grpc-error.ts'
import { grantLease } from './lease.ts'
import type { Lease } from './lease.ts'
import { onlyReads, revisionOf, toNumber, toRange } from './messages.ts'
import type { KeyRange, KeyValue, Txn, TxnResult } from './messages.ts'
import { METHODS } from './methods.ts'
import { areSame, isGuarded, type TxnGuard } from './txn-guard.ts'
import { keptTxn, readResult, readRevision, type ValueForm } from './value-form.ts'
import { memberStatus, refuseUnsupported } from './version.ts'
import type { MemberStatus } from './version.ts'
import { startWatch } from './watch.ts'
import type { Watch, WatchListener, WatchOptions } from './watch.ts'
import { readKeyValue } from './wire-messages.ts'

/** The dependencies of a client. */
export interface EtcdClientParts {
  /** `http://host:port` or `https://host:port`, at least one. */
  readonly endpoints: readonly string[]
  readonly clock: Clock
  readonly random: () => number
  /** Opens a connection: `connectTo` of `connection.ts`, or a fake in tests. */
  readonly open: OpenConnection
  readonly limits?: Partial<CallTimes>
  /** How often a quiet watch asks for its progress. */
  readonly progressMs?: number
  /** A key that this client may read. Members that are silent are asked for it. */
  readonly proofKey?: string
  /** How values are kept; by default as they are written. */
  readonly values?: ValueForm
  /** Called when etcd does not let this client in, or do something. */
  readonly refused?: (error: EtcdError) => void
  /** Further conditions of each change; by default none. */
  readonly guard?: () => TxnGuard
}

/** A range to read. */
export interface RangeOptions extends KeyRange {
  /** The revision to read at; by default the newest. */
  readonly revision?: number
  readonly limit?: number
  readonly descending?: boolean
  readonly keysOnly?: boolean
  readonly countOnly?: boolean
  /** It is no fault if etcd does not let this client read the range: `refused` is not called. */
  readonly mayBeDenied?: boolean
}

/** The result of reading a range. */
export interface RangeResult {
  /** etcd's revision when it answered. It may be later than `revision` of the options. */
  readonly revision: number
  readonly kvs: readonly KeyValue[]
  /** How many keys the range has, whatever the limit. */
  readonly count: number
  /** Whether there are more than the limit. */
  readonly more: boolean
}

const LIMITS: CallTimes = { callMs: 2_000, attemptMs: 800 }
const PROGRESS_MS = 1_000
const FIRST_PAGE_SIZE = 100
const PAGE_BYTES = 4 * 1024 * 1024

/** A client of etcd. All calls have a time limit; repeatable calls try the next endpoint. All reject with `EtcdError`. */
export class EtcdClient {
  readonly #parts: EtcdClientParts
  readonly #limits: CallTimes
  readonly #calls: Calls
  readonly #watches = new Set<Watch>()

  constructor(parts: EtcdClientParts) {
    this.#parts = parts
    this.#limits = { ...LIMITS, ...parts.limits }
    const endpoints = new Endpoints(parts.endpoints, parts.random)
    const { clock, open, proofKey = '\0', refused = () => {} } = parts
    this.#calls = new Calls({ endpoints, clock, limits: this.#limits, open, proofKey, refused })
  }

  /** Reads keys, in their order. Sees everything that was committed before the call. */
  async range(range: RangeOptions): Promise<RangeResult> {
    return this.#read(await this.#range(range))
  }

  async #range(range: RangeOptions): Promise<RangeResult> {
    const { limit = 0, revision = 0, descending = false, keysOnly = false, countOnly = false } = range
    const numbers = { limit: BigInt(limit), revision: BigInt(revision) }
    const request = { ...toRange(range), ...numbers, sortOrder: descending ? 2 : 0, keysOnly, countOnly }
    return this.#calls.repeatable(
      async (connection, timeoutMs) => {
        const { header, kvs, count, more } = await connection.call(METHODS.range, request, timeoutMs)
        const found = {
          revision: revisionOf(header),
          kvs: kvs.map(readKeyValue),
          count: toNumber(count),
          more,
        }
        return checkedRange(range, found)
      },
      { mayBeDenied: range.mayBeDenied },
    )
  }

  /**
   * Reads all keys of a range at one revision, by default the newest, page by page. A page has at most `pageSize` keys,
   * and fewer if values are large: it must arrive within the time of an attempt. A page that does not is requested
   * again, with half as many keys. Keys rise, and are no more than the first page counts. etcd counts the rest of the range for each page: large pages are faster. `pageBytes`:
   * roughly its largest size.
   */
  async *pages(
    range: KeyRange & { revision?: number; pageSize: number; pageBytes?: number; keysOnly?: boolean },
  ): AsyncGenerator<RangeResult> {
    const { pageSize, pageBytes = PAGE_BYTES, ...first } = range
    let { key, revision } = first
    let limit = Math.min(FIRST_PAGE_SIZE, pageSize)
    const counted = new PagedKeys()
    for (let most = pageSize; ;) {
      const page = await this.#page({ ...first, key, limit, ...(revision && { revision }) })
      if (page === undefined) {
        most = limit = Math.floor(limit / 2)
        continue
      }
      revision ??= page.revision
      counted.take(page)
      yield { ...this.#read(page), revision }
      if (!page.more) return
      key = `${page.kvs.at(-1)!.key}\0`
      most = Math.min(2 * most, pageSize)
      limit = Math.min(sizeOfNext(page.kvs, pageBytes), most)
    }
  }

  /** Undefined: the page is late, and a smaller page may not be. */
  async #page(range: RangeOptions & { limit: number }): Promise<RangeResult | undefined> {
    try {
      return await this.#range(range)
    } catch (error) {
      if (range.limit > 1 && isLate(error)) return undefined
      throw error
    }
  }

  /**
   * A transaction. If it can change something, it is sent once, unless it certainly was not executed: if the answer is
   * lost, it rejects in doubt.
   */
  async txn(txn: Txn, callMs: number = this.#limits.callMs): Promise<TxnResult> {
    const guard = isGuarded(txn) ? this.#parts.guard?.() : undefined
    if (guard === undefined) return this.#txn(txn, callMs)
    for (;;) {
      const compare = guard.compare()
      if (compare.length === 0) return this.#txn(txn, callMs)
      const { compare: own, success, failure = [] } = txn
      const guarded = { compare: [...compare, ...own], success, failure: [...failure, ...guard.reads] }
      const answer = await this.#txn(guarded, callMs)
      if (answer.succeeded) return answer
      guard.judge(answer.results.slice(failure.length))
      const results = answer.results.slice(0, failure.length)
      // Otherwise the guard has refused it: it was not done, and is done again with the present conditions.
      if (areSame(compare, guard.compare())) return { ...answer, results }
    }
  }

  async #txn(txn: Txn, callMs: number): Promise<TxnResult> {
    const send = onlyReads(txn) ? 'repeatable' : 'once'
    const { values } = this.#parts
    const kept = values === undefined ? txn : keptTxn(values, txn)
    const call = (connection: EtcdConnection, timeoutMs: number) =>
      connection.call(METHODS.txn, kept, timeoutMs)
    const answer = await this.#calls[send](call, { callMs })
    if (values === undefined) return answer
    return { ...answer, results: answer.results.map((one) => readResult(values, one)) }
  }

  /** Watches keys from a revision on. It continues over any loss of connections, until it is closed or broken. */
  watch(options: WatchOptions, listener: WatchListener): Watch {
    const watch = startWatch(
      {
        calls: this.#calls,
        clock: this.#parts.clock,
        random: this.#parts.random,
        endpointCount: this.#parts.endpoints.length,
        progressMs: this.#parts.progressMs ?? PROGRESS_MS,
        connectMs: this.#limits.attemptMs,
      },
      options,
      this.#reading(listener),
    )
    this.#watches.add(watch)
    void watch.ended.then(() => this.#watches.delete(watch))
    return watch
  }

  /** How many watches have not ended. */
  get watches(): number {
    return this.#watches.size
  }

  /** Asks for a lease. */
  lease(seconds: number): Promise<Lease> {
    return grantLease(this.#calls, this.#parts.clock, seconds)
  }

  /** Discards earlier versions of keys, before this revision. Does nothing if that was done already. */
  async compact(revision: number): Promise<void> {
    try {
      await this.#calls.repeatable((connection, timeoutMs) =>
        connection.call(METHODS.compact, { revision: BigInt(revision) }, timeoutMs),
      )
    } catch (error) {
      if (!(error instanceof EtcdError && error.kind === 'compacted')) throw error
    }
  }

  /** The status of each endpoint, or the error of an endpoint that does not answer. */
  async status(): Promise<readonly (MemberStatus | { endpoint: string; error: EtcdError })[]> {
    return Promise.all(
      this.#parts.endpoints.map(async (endpoint) => {
        try {
          return await this.#asked(endpoint, memberStatus)
        } catch (reason) {
          return { endpoint, error: toEtcdError(reason) }
        }
      }),
    )
  }

  /**
   * Rejects with `unsupported` if a member that answers is too old, and with `unavailable` or `untrusted` if no member
   * answers. A watch checks the other members before it uses them.
   */
  async checkVersions(): Promise<void> {
    const { endpoints } = this.#parts
    const checks = await Promise.allSettled(endpoints.map((one) => this.#asked(one, refuseUnsupported)))
    const errors = checks.flatMap((one) => (one.status === 'rejected' ? [toEtcdError(one.reason)] : []))
    const unsupported = errors.find(({ kind }) => kind === 'unsupported')
    if (unsupported !== undefined) throw unsupported
    if (errors.length < endpoints.length) return
    throw errors.find(({ kind }) => kind === 'untrusted') ?? errors[0]!
  }

  /** Ends all watches, calls and connections. */
  close(): void {
    for (const watch of this.#watches) watch.close()
    this.#calls.close()
  }

  #read(result: RangeResult): RangeResult {
    const { values } = this.#parts
    return values === undefined ? result : { ...result, kvs: result.kvs.map(values.read) }
  }

  #reading(listener: WatchListener): WatchListener {
    const { values } = this.#parts
    if (values === undefined) return listener
    return {
      changed: (revision) => listener.changed(readRevision(values, revision)),
      reached: (revision) => listener.reached(revision),
      broken: (why) => listener.broken(why),
      connected: (endpoint) => listener.connected?.(endpoint),
      disconnected: (error) => listener.disconnected?.(error),
    }
  }

  async #asked<T>(
    endpoint: string,
    ask: (connection: EtcdConnection, limitMs: number) => Promise<T>,
  ): Promise<T> {
    const connection = this.#calls.connection(endpoint)
    await connection.connect(this.#limits.attemptMs)
    return ask(connection, this.#limits.attemptMs)
  }
}

/** Whether a member was asked, and has not answered in time or was left meanwhile. */
function isLate(error: unknown): boolean {
  if (!(error instanceof EtcdError) || error.kind !== 'unavailable') return false
  return error.cause instanceof GrpcError && !error.cause.notBegun
}

/** How many keys come in one page if their values are as large as these. */
function sizeOfNext(kvs: readonly KeyValue[], pageBytes: number): number {
  const bytes = kvs.reduce((sum, { value }) => sum + value.length, 1)
  return Math.max(1, Math.floor((kvs.length * pageBytes) / bytes))
}
