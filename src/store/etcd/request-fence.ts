import { Refusal } from '../../core/refusal.ts'
import type { EtcdClient } from './client/etcd-client.ts'
import { EtcdError } from './client/etcd-error.ts'
import type { Comparison, KeyValue, Operation, TxnResult } from './client/messages.ts'
import { PlaceTaken } from './place-taken.ts'
import { requestOf, toJson } from './values.ts'

/** What came of a request. `lost`: its answer was lost, and it was written in this revision. */
export type Sent =
  | { readonly kind: 'answered'; readonly result: TxnResult }
  | { readonly kind: 'lost'; readonly revision: number }

/** Whose requests they are. */
export interface RequestPlace {
  /** The key that has the number of the last request. */
  readonly key: string
  /** Names this process: no other one has the same name. */
  readonly process: string
}

/** A request and its fence are answered or given up within two seconds. */
const SEND_MS = 1_200
const FENCE_MS = 700

/**
 * Numbers the requests of a server: each compares the number of the one before and writes its own. So a request whose answer
 * was lost is found out: if the same number can be written again, the lost one was not written and never will be. And a
 * process that wakes after another one has taken its place writes nothing. One request at a time.
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
  async take(): Promise<void> {
    const { kvs } = await this.#client.range({ key: this.#place.key })
    const [kv] = kvs
    this.#before = kv && Buffer.from(kv.value)
    this.#number = kv === undefined ? 0 : requestOf(kv.value).number
    await this.send([], 0)
  }

  /** Sends operations as one request. Rejects with Refusal `store-unavailable` where they were not written, or nobody knows. */
  async send(operations: readonly Operation[], stamp: number): Promise<Sent> {
    if (this.#unsure !== undefined) await this.#findOut(this.#unsure)
    const { process } = this.#place
    const value = toJson({ number: this.#number + 1, process, stamp })
    try {
      const txn = { compare: [this.#condition()], success: [this.#put(value), ...operations] }
      const result = await this.#client.txn(txn, SEND_MS)
      if (!result.succeeded) throw new PlaceTaken(this.#place.key)
      this.#isSent(value)
      return { kind: 'answered', result: { ...result, results: result.results.slice(1) } }
    } catch (error) {
      if (!(error instanceof EtcdError && error.inDoubt)) throw error
      this.#unsure = value
    }
    const revision = await this.#findOut(value)
    if (revision === undefined)
      throw new Refusal('store-unavailable', 'The store did not take the change: try again.')
    return { kind: 'lost', revision }
  }

  /** Writes the number alone. If that works, the request was not written; else this is the revision in which it was. */
  async #findOut(value: Buffer): Promise<number | undefined> {
    const read: Operation = { do: 'range', key: this.#place.key }
    const fence = { compare: [this.#condition()], success: [this.#put(value)], failure: [read] }
    const { succeeded, results } = await this.#client.txn(fence, FENCE_MS).catch(unknown)
    const written = succeeded ? undefined : this.#ownValue(results[0], value)
    this.#isSent(value)
    return written?.modRevision
  }

  #ownValue(result: TxnResult['results'][number] | undefined, value: Buffer): KeyValue {
    const kv = result?.did === 'range' ? result.kvs[0] : undefined
    if (kv === undefined || !value.equals(kv.value)) throw new PlaceTaken(this.#place.key)
    return kv
  }

  #condition(): Comparison {
    const { key } = this.#place
    if (this.#before === undefined) return { key, of: 'create', is: '=', to: 0 }
    return { key, of: 'value', is: '=', to: this.#before }
  }

  #put(value: Buffer): Operation {
    return { do: 'put', key: this.#place.key, value }
  }

  #isSent(value: Buffer): void {
    this.#before = value
    this.#number++
    this.#unsure = undefined
  }
}

function unknown(cause: unknown): never {
  const text = 'The store does not answer: whether the change was made is not known.'
  throw new Refusal('store-unavailable', text, { cause })
}
