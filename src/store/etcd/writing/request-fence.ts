import { Refusal } from '../../../core/refusal.ts'
import type { Clock } from '@waypost/etcd-client/clock'
import type { EtcdClient } from '@waypost/etcd-client/etcd-client'
import { EtcdError } from '@waypost/etcd-client/etcd-error'
import { GRPC, GrpcError } from '@waypost/etcd-client/grpc-error'
import type { KeyCondition, KeyValue, TxnOperation, TxnResult } from '@waypost/etcd-client/messages'
import { PlaceTaken } from '../failures/place-taken.ts'
import type { RequestValue } from '../keys/stored-shapes.ts'
import { requestOf, toJson } from '../keys/values.ts'

/** The outcome of a request. `lost`: its answer was lost, and it was written in this revision. */
export type SendOutcome =
  | { readonly kind: 'answered'; readonly result: TxnResult }
  | { readonly kind: 'lost'; readonly revision: number }

/** The server that sends the requests. */
export interface RequestPlace {
  /** The key that has the number of the last request. */
  readonly key: string
  /** A unique name for this process. */
  readonly process: string
  /** Called when the number is missing that this process has written. It is written again. */
  readonly missed?: (() => void) | undefined
}

/** The part of the time of a request that is reserved to find out its outcome. */
const FENCE_MS = 500
/** Less time than this is not enough for a request. */
const LEAST_MS = 50
const NO_TIME = new GrpcError(GRPC.DEADLINE_EXCEEDED, 'there is no time left to send the request', {
  notBegun: true,
})
/** How long taking the place may take. */
const TAKE_MS = 5_000

/** The facts of a request besides its operations. */
export interface SendOptions {
  /** The stamp of its deletions. */
  readonly stamp: number
  /** The time that it has left, with finding out its outcome. */
  readonly leftMs: () => number
}

/**
 * Numbers the requests of a server: each compares the number before it and writes its own. So the outcome of a request with a
 * lost answer can be found. If the same number can be written again, the lost request was not written and never will be. And
 * a process that wakes after another one has taken its place writes nothing. One request at a time.
 */
export class RequestFence {
  readonly #client: Pick<EtcdClient, 'range' | 'txn'>
  readonly #place: RequestPlace
  #before: Buffer | undefined
  #number = 0
  /** A number that may have been written, or may be written still. */
  #unsure: Buffer | undefined

  constructor(client: Pick<EtcdClient, 'range' | 'txn'>, place: RequestPlace) {
    this.#client = client
    this.#place = place
  }

  /** Takes the place of this server, also from a process that had it. */
  async take(clock: Pick<Clock, 'nowMs'>): Promise<void> {
    const { kvs } = await this.#client.range({ key: this.#place.key })
    const [before] = kvs
    this.#goOnAfter(before)
    const untilMs = clock.nowMs() + TAKE_MS
    // The stamp of the last request stays: only it gives the time of a deletion.
    const stamp = requestIn(before)?.stamp ?? 0
    await this.send([], { stamp, leftMs: () => untilMs - clock.nowMs() })
  }

  /**
   * Sends operations as one request. Rejects with {@link PlaceTaken}, with `EtcdError` if they were certainly not
   * written, and with Refusal `store-unavailable` if that is unknown.
   */
  async send(operations: readonly TxnOperation[], { stamp, leftMs }: SendOptions): Promise<SendOutcome> {
    // Before that nothing new may be sent.
    if (this.#unsure !== undefined) await this.#findOut(this.#unsure, Math.min(FENCE_MS, leftMs()))
    const limitMs = leftMs() - FENCE_MS
    if (limitMs < LEAST_MS) throw new EtcdError('unavailable', 'etcd is too slow.', { cause: NO_TIME })
    const value = toJson({ number: this.#number + 1, process: this.#place.process, stamp })
    const success = [this.#put(value), ...operations]
    try {
      const result = await this.#client.txn(
        { compare: [this.#condition()], success, failure: [this.#read()] },
        limitMs,
      )
      if (!result.succeeded) throw this.#refused(result)
      this.#isSent(value)
      return { kind: 'answered', result: { ...result, results: result.results.slice(1) } }
    } catch (error) {
      if (!(error instanceof EtcdError && error.inDoubt)) throw error
      this.#unsure = value
    }
    const revision = await this.#findOut(value, leftMs()).catch(unknownResult)
    if (revision === undefined) throw new EtcdError('unavailable', 'etcd did not take the request.')
    return { kind: 'lost', revision }
  }

  /** Removes the number: nobody takes this place again. */
  async forget(): Promise<void> {
    const { key } = this.#place
    await this.#client.txn({ compare: [this.#condition()], success: [{ do: 'delete', key }] })
  }

  /** Writes the number alone. If that works, the request was not written; else this is the revision in which it was. */
  async #findOut(value: Buffer, limitMs: number): Promise<number | undefined> {
    const fence = { compare: [this.#condition()], success: [this.#put(value)], failure: [this.#read()] }
    const result = await this.#client.txn(fence, Math.max(LEAST_MS, limitMs))
    const found = result.succeeded ? undefined : keyOf(result)
    if (!result.succeeded && (found === undefined || !value.equals(found.value))) throw this.#refused(result)
    this.#isSent(value)
    return found?.modRevision
  }

  /** The number in etcd is not the number that this process left there. */
  #refused(result: TxnResult): Error {
    const found = keyOf(result)
    const process = requestIn(found)?.process
    if (process !== undefined && process !== this.#place.process) return new PlaceTaken(this.#place.key)
    if (found === undefined && this.#before !== undefined) this.#place.missed?.()
    // etcd was restored from a backup, or no server has written this value: the next request replaces it.
    this.#goOnAfter(found)
    return new EtcdError('unavailable', 'etcd has forgotten earlier requests of this server.')
  }

  #goOnAfter(kv: KeyValue | undefined): void {
    this.#before = kv && Buffer.from(kv.value)
    this.#number = requestIn(kv)?.number ?? this.#number
    this.#unsure = undefined
  }

  #read(): TxnOperation {
    return { do: 'range', key: this.#place.key }
  }

  #condition(): KeyCondition {
    const { key } = this.#place
    if (this.#before === undefined) return { key, of: 'create', is: '=', to: 0 }
    return { key, of: 'value', is: '=', to: this.#before }
  }

  #put(value: Buffer): TxnOperation {
    return { do: 'put', key: this.#place.key, value }
  }

  #isSent(value: Buffer): void {
    this.#before = value
    this.#number++
    this.#unsure = undefined
  }
}

/** The number that a refused request has found. */
function keyOf({ results }: TxnResult): KeyValue | undefined {
  const [result] = results
  return result?.did === 'range' ? result.kvs[0] : undefined
}

function unknownResult(cause: unknown): never {
  if (cause instanceof PlaceTaken) throw cause
  const text = 'etcd does not answer: whether the change was made is not known.'
  throw new Refusal('store-unavailable', text, { cause })
}

/** Undefined: there is none, or no server has written it. */
function requestIn(kv: KeyValue | undefined): RequestValue | undefined {
  try {
    return kv && requestOf(kv.value)
  } catch {
    return undefined
  }
}
