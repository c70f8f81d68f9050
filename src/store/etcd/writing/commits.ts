import { Refusal } from '../../../core/refusal.ts'
import type { Revision, Unit, UnitResult } from '../../../core/engine/ports.ts'
import { stampOfChange } from '../../../core/decisions/stamps.ts'
import type { Chunks } from '../contents/chunks.ts'
import type { Clock } from '@waypost/etcd-client/clock'
import type { EtcdClient } from '@waypost/etcd-client/etcd-client'
import { EtcdError } from '@waypost/etcd-client/etcd-error'
import type { TxnOperation, TxnOperationResult } from '@waypost/etcd-client/messages'
import type { Following } from '../following/following.ts'
import type { Keys } from '../keys/keys.ts'
import { type LargeContent, largeContents } from '../contents/large-contents.ts'
import { grownValue, type HistoryCut, type HistoryOfUnit } from '../history/history-cut.ts'
import { ForeignHistory } from './foreign-history.ts'
import { fits, packed, roomOf } from './packed.ts'
import type { DamagedKeys } from '../failures/damaged-keys.ts'
import { refusalOfDamage } from './damage-refusal.ts'
import { PlaceTaken } from '../failures/place-taken.ts'
import { refusalOf } from '../failures/refusals.ts'
import type { RequestFence } from './request-fence.ts'
import { SharedTexts } from '../contents/shared-texts.ts'
import { type UnitOrigin, type UnitRequest, unitRequest } from './unit-request.ts'

/** The dependencies of `Commits`. */
export interface CommitsParts {
  readonly client: Pick<EtcdClient, 'txn'>
  readonly keys: Keys
  readonly member: string
  readonly clock: Clock
  readonly fence: Pick<RequestFence, 'send'>
  readonly following: Pick<Following, 'reached' | 'reachedAll' | 'keysOf' | 'saw'>
  readonly chunks: Pick<Chunks, 'write' | 'forget'>
  /** Keeps history within its bytes; undefined: it has no limit. */
  readonly history?: Pick<HistoryCut, 'ofUnit' | 'ofAll'> | undefined
  /** The keys that are left out. */
  readonly damaged?: DamagedKeys | undefined
  /** Called if this server must stop. */
  readonly failed: (error: PlaceTaken) => void
}

/** A unit of a commit, with its transaction and the place of its result. */
interface SentUnit extends UnitRequest {
  readonly index: number
  /** By how many bytes history grows with it. */
  readonly grown: number
}

/** A commit that is underway. Units without a result have `undefined`. */
interface Underway {
  readonly decidedAt: Revision
  readonly stamp: number
  readonly results: (UnitResult | undefined)[]
  /** The time that it has left, in milliseconds. */
  readonly leftMs: () => number
}

/** The facts about units besides themselves, by their places. */
interface UnitsContext {
  readonly histories: readonly (HistoryOfUnit | undefined)[]
  readonly texts: readonly SharedTexts[]
}

/** Writes or confirms units, as few requests of many transactions. */
export class Commits {
  readonly #parts: CommitsParts
  readonly #foreign: ForeignHistory
  /** Settles when the request that was sent last is answered. */
  #turn: Promise<unknown> = Promise.resolve()
  #stamp = 0

  constructor(parts: CommitsParts) {
    this.#parts = parts
    this.#foreign = new ForeignHistory(parts)
  }

  /** See the port. */
  async commit(
    units: readonly Unit[],
    { decidedAt, withinMs }: { decidedAt: Revision; withinMs: number },
  ): Promise<readonly UnitResult[]> {
    const { clock, chunks } = this.#parts
    const untilMs = clock.nowMs() + withinMs
    const leftMs = (): number => Math.max(1, untilMs - clock.nowMs())
    const results = units.map((): UnitResult | undefined => undefined)
    const underway: Underway = { decidedAt, stamp: stampOf(units), results, leftMs }
    const contents: LargeContent[] = []
    try {
      const texts = units.map(({ changes }) => SharedTexts.of(changes))
      contents.push(...units.flatMap(({ changes }, index) => largeContents(changes, texts[index]!)))
      const histories = await this.#historiesOf(units, texts)
      const sendings = this.#sendings(units, { histories, texts }, underway)
      await this.#send(sendings, contents, underway)
    } catch (error) {
      // The write comes last, so a written unit has its result here.
      for (const index of results.keys()) results[index] ??= resultOf(error)
    } finally {
      chunks.forget(contents)
    }
    return results.map((result) => result ?? { kind: 'unwritten', error: NOT_SENT })
  }

  /** Writes the number of the last request again, which another hand has removed. Rejects if etcd is away. */
  async numberAgain(withinMs: number): Promise<void> {
    const { clock, fence } = this.#parts
    const untilMs = clock.nowMs() + withinMs
    const options = { stamp: this.#stamp, leftMs: () => Math.max(1, untilMs - clock.nowMs()) }
    const send = (): Promise<unknown> => this.#inTurn(() => fence.send([], options))
    try {
      await send()
    } catch (error) {
      // It has found that the number is missing.
      if (!(error instanceof EtcdError)) throw error
      await send()
    }
  }

  /** The transactions of the units. A unit that can never be written gets its result at once. */
  #sendings(
    units: readonly Unit[],
    { histories, texts }: UnitsContext,
    { decidedAt, results }: Underway,
  ): SentUnit[] {
    return units.flatMap((unit, index) => {
      const history = histories[index]
      const { member, damaged } = this.#parts
      const { emptyBut } = this.#foreign
      const context = { decidedAt, member, index, history, texts: texts[index]!, damaged, emptyBut }
      const request = this.#requestOf(unit, context)
      if (!(request instanceof Error)) return [{ ...request, index, grown: history?.grown ?? 0 }]
      results[index] = { kind: 'failed', error: request }
      return []
    })
  }

  #requestOf(unit: Unit, origin: UnitOrigin): UnitRequest | Error {
    const refused = refusalOfDamage(this.#parts, unit)
    if (refused !== undefined) return refused
    try {
      const request = unitRequest(this.#parts.keys, unit, origin)
      return fits(request) ? request : TOO_LARGE
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error))
    }
  }

  async #send(
    sendings: readonly SentUnit[],
    contents: readonly LargeContent[],
    underway: Underway,
  ): Promise<void> {
    const writing = sendings.filter(({ success }) => success.length > 0)
    const confirming = sendings.filter(({ success }) => success.length === 0)
    for (const request of packed(confirming)) await this.#confirm(request, underway)
    await this.#parts.chunks.write(contents, underway.leftMs)
    for (const request of packed(writing))
      try {
        await this.#write(request, underway)
      } catch (error) {
        if (error instanceof PlaceTaken) this.#parts.failed(error)
        const result = resultOf(error)
        for (const { index } of request) underway.results[index] = result
        // The units of the later requests were not sent.
        if (result.kind !== 'failed') return
      }
  }

  /** Units without changes: nothing is written, so there is nothing to fence. */
  async #confirm(request: readonly SentUnit[], { results, leftMs }: Underway): Promise<void> {
    const { client } = this.#parts
    const answer = await client.txn({ compare: [], success: request.map(transactionOf) }, leftMs())
    const answered: (UnitResult | undefined)[] = []
    // The conflicting change comes by the feed, and is not later than the answer.
    if (take(request, answer.results, answered)) await this.#reachedAll(answer.revision, leftMs())
    for (const index of answered.keys()) results[index] ??= answered[index]
  }

  async #write(request: readonly SentUnit[], { stamp, results, leftMs }: Underway): Promise<void> {
    const { fence, following } = this.#parts
    const removals = await this.#removalsWith(request)
    const operations = [...request.map(transactionOf), ...removals]
    const sent = await this.#inTurn(() => fence.send(operations, { stamp: this.#latest(stamp), leftMs }))
    if (sent.kind === 'answered') {
      await this.#reached(sent.result.revision, leftMs())
      const conflicts = take(request, sent.result.results, results)
      if (conflicts) this.#lookForForeign(request, results)
      return
    }
    await this.#reached(sent.revision, leftMs())
    const written = following.keysOf(sent.revision)
    if (written === undefined) throw unknownResult('This server has missed whether the change was made.')
    for (const { index, keys } of request)
      results[index] = { kind: keys.some((key) => written.includes(key)) ? 'held' : 'conflict' }
  }

  /** Nobody waits: after most conflicts there is nothing to find, and the units are in a race with other servers. */
  #lookForForeign(request: readonly SentUnit[], results: readonly (UnitResult | undefined)[]): void {
    const refused = request.filter(({ index }) => results[index]?.kind === 'conflict')
    this.#foreign.look(refused.flatMap(({ compare }) => compare))
  }

  /** Commits may overlap, but their requests are numbered. */
  #inTurn<T>(send: () => Promise<T>): Promise<T> {
    const sent = this.#turn.then(send)
    this.#turn = sent.catch(() => undefined)
    return sent
  }

  /** The deletions of an earlier request must not seem later than this request. */
  #latest(stamp: number): number {
    return (this.#stamp = Math.max(this.#stamp, stamp))
  }

  async #historiesOf(
    units: readonly Unit[],
    texts: readonly SharedTexts[],
  ): Promise<(HistoryOfUnit | undefined)[]> {
    const { history } = this.#parts
    if (history === undefined) return []
    const found: (HistoryOfUnit | undefined)[] = []
    for (let at = 0; at < units.length; at += READ_AT_ONCE) {
      const some = units.slice(at, at + READ_AT_ONCE)
      found.push(...(await Promise.all(some.map((unit, index) => history.ofUnit(unit, texts[at + index]!)))))
    }
    return found
  }

  /** The removals from history with a request, each in its own transaction: another server may have removed the record. */
  async #removalsWith(request: readonly SentUnit[]): Promise<TxnOperation[]> {
    const { history, keys, member } = this.#parts
    const grown = request.reduce((sum, one) => sum + one.grown, 0)
    if (history === undefined || grown <= 0) return []
    const written = new Set(request.flatMap((one) => one.keys))
    const removals = await history.ofAll(grown, roomOf(request))
    return removals
      .filter(({ operations }) => operations.every((one) => one.do === 'delete' && !written.has(one.key)))
      .map(({ text, operations, bytes }, index) => ({
        do: 'txn',
        compare: [{ key: text, of: 'create', is: '>', to: 0 }],
        success: [
          ...operations,
          {
            do: 'put',
            key: keys.of({ of: 'history-grown', id: member, index: `old${index}` }),
            value: grownValue(-bytes),
          },
        ],
      }))
  }

  /**
   * Resolves when the follower has everything up to this revision, which may belong to other data in etcd. Nothing was
   * written, so the units may be confirmed once more if the follower is late.
   */
  async #reachedAll(revision: Revision, limitMs: number): Promise<void> {
    if (await this.#parts.following.reachedAll(revision, limitMs)) return
    throw new EtcdError('unavailable', 'This server is behind: try again in a moment.')
  }

  /** Resolves when the follower has this revision. Rejects with Refusal `store-unavailable` if it does not come in time. */
  async #reached(revision: Revision, limitMs: number): Promise<void> {
    if (await this.#parts.following.reached(revision, limitMs)) return
    throw unknownResult('This server is behind: whether the change was made is not known.')
  }
}

/** How many items' histories are read at the same time. */
const READ_AT_ONCE = 8

const TOO_LARGE = new Refusal('too-large', 'The change is too large for one transaction of etcd.')
const NOT_SENT = new Refusal(
  'store-unavailable',
  'etcd cannot be reached: the change was not made, try again in a moment.',
)

function unknownResult(text: string): Refusal {
  return new Refusal('store-unavailable', text)
}

/** The result of a unit in a failed request. */
function resultOf(error: unknown): Exclude<UnitResult, { kind: 'held' | 'conflict' }> {
  if (!(error instanceof EtcdError)) return { kind: 'refused', error: refusalOf(error) }
  // Each unit is tried by itself then.
  if (error.kind === 'invalid') return { kind: 'failed', error: refusalOf(error) }
  return { kind: error.kind === 'unavailable' ? 'unwritten' : 'refused', error: refusalOf(error) }
}

function transactionOf({ compare, success }: UnitRequest): TxnOperation {
  return { do: 'txn', compare, success }
}

/** Records which units held; true where one did not. */
function take(
  request: readonly SentUnit[],
  answers: readonly TxnOperationResult[],
  results: (UnitResult | undefined)[],
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

/** The latest stamp of the changes: the time at which their deletions happened. */
function stampOf(units: readonly Unit[]): number {
  const stamps = units.flatMap(({ changes }) => changes.map(stampOfChange))
  return stamps.reduce((latest, stamp) => Math.max(latest, stamp), 0)
}
