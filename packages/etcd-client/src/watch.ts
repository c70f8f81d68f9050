import { Cancellation } from './cancellation.ts'
import type { MessageInitShape } from '@bufbuild/protobuf'
import type { Calls } from './calls.ts'
import type { Clock } from './clock.ts'
import type { EtcdConnection } from './connection.ts'
import { EtcdError, toEtcdError } from './etcd-error.ts'
import type { WatchRequestSchema, WatchResponse } from './generated/rpc_pb.js'
import type { MessageStream } from './grpc-call.ts'
import { revisionOf, toNumber, toRange } from './messages.ts'
import type { KeyRange } from './messages.ts'
import { METHODS } from './methods.ts'
import { refuseUnsupported } from './version.ts'
import { WholeRevisions } from './whole-revisions.ts'
import type { KeyRevision } from './whole-revisions.ts'

/** The range of a watch. */
export interface WatchOptions extends KeyRange {
  /** The first revision that is wanted. */
  readonly from: number
}

/** The listener of a watch. Nothing is called after `broken` or after the watch was closed. */
export interface WatchListener {
  /** Every revision that has changed a watched key, in order, each once and complete. */
  changed(revision: KeyRevision): void
  /** All changes up to this revision were reported. Also called from time to time while nothing changes. */
  reached(revision: number): void
  /** The watch has ended: changes after the last reported revision are unknown. Everything must be read again. */
  broken(why: 'compacted' | 'restored'): void
  /** A member answers. It is asked for the changes since the last reported revision. */
  connected?(endpoint: string): void
  /** The member was left; another member is tried. */
  disconnected?(error: EtcdError): void
}

/** A running watch. */
export interface Watch {
  /** Asks etcd how far this watch has come. `reached` is called with a revision that is not older than this call. */
  requestProgress(): void
  /** The watch has missed something in etcd: its member may stand still, while calls go to another member. */
  suspect(): void
  close(): void
  /** Resolves when the watch was closed or is broken, and has nothing left to do. */
  readonly ended: Promise<void>
}

/** The dependencies of a watch. */
export interface WatchParts {
  readonly calls: Calls
  readonly clock: Clock
  readonly random: () => number
  /** The number of endpoints. After a failure of all, a pause follows. */
  readonly endpointCount: number
  /** How often a watch that is quiet asks for its progress. After two requests without an answer it leaves the member. */
  readonly progressMs: number
  readonly connectMs: number
}

const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 1_000

/** Watches keys until it is closed, over any number of connections, without a gap and without a repetition. */
export function startWatch(parts: WatchParts, options: WatchOptions, listener: WatchListener): Watch {
  return new RunningWatch(parts, options, listener)
}

/** The watch has ended for good. */
class Broken extends Error {
  readonly why: 'compacted' | 'restored'

  constructor(why: 'compacted' | 'restored') {
    super(why)
    this.why = why
  }
}

type WatchStream = MessageStream<MessageInitShape<typeof WatchRequestSchema>, WatchResponse>

class RunningWatch implements Watch {
  readonly ended: Promise<void>
  readonly #parts: WatchParts
  readonly #options: WatchOptions
  readonly #listener: WatchListener
  readonly #revisions: WholeRevisions
  readonly #closed = new Cancellation()
  #stream: WatchStream | undefined
  #connection: EtcdConnection | undefined
  #clusterId: bigint | undefined
  #heard = false
  #failures = 0

  constructor(parts: WatchParts, options: WatchOptions, listener: WatchListener) {
    this.#parts = parts
    this.#options = options
    this.#listener = listener
    this.#revisions = new WholeRevisions(options.from)
    this.ended = this.#run()
  }

  requestProgress(): void {
    this.#stream?.send({ requestUnion: { case: 'progressRequest', value: {} } })
  }

  suspect(): void {
    if (this.#connection !== undefined) this.#parts.calls.suspect(this.#connection)
  }

  close(): void {
    this.#closed.cancel()
  }

  async #run(): Promise<void> {
    while (!this.#closed.isCancelled) {
      const connection = this.#parts.calls.connection()
      try {
        await this.#follow(connection)
      } catch (reason) {
        if (this.#closed.isCancelled) return
        if (reason instanceof Broken) {
          this.close()
          return this.#listener.broken(reason.why)
        }
        this.#parts.calls.failed(connection)
        this.#listener.disconnected?.(toEtcdError(reason))
      }
      await this.#pause()
    }
  }

  /** Follows one connection until it fails. */
  async #follow(connection: EtcdConnection): Promise<never> {
    await connection.connect(this.#parts.connectMs)
    await refuseUnsupported(connection, this.#parts.connectMs)
    const lost = new Cancellation()
    const forget = this.#closed.onCancel(() => lost.cancel())
    const stream = await connection.stream(METHODS.watch, lost)
    this.#stream = stream
    this.#connection = connection
    stream.send({ requestUnion: { case: 'createRequest', value: this.#createRequest() } })
    void this.#checkProgress(lost)
    try {
      for await (const response of stream.responses) await this.#receive(response, connection)
      throw new EtcdError('unavailable', `etcd at ${connection.endpoint} has ended the watch`)
    } finally {
      forget()
      lost.cancel()
      this.#stream = undefined
      this.#connection = undefined
      this.#revisions.interrupt()
    }
  }

  #createRequest() {
    const startRevision = BigInt(this.#revisions.next)
    return { ...toRange(this.#options), startRevision, fragment: true }
  }

  async #receive(response: WatchResponse, connection: EtcdConnection): Promise<void> {
    this.#heard = true
    if (response.compactRevision > 0n) throw new Broken('compacted')
    if (response.canceled) {
      connection.forgetToken()
      throw new EtcdError('unavailable', `etcd has ended the watch: ${response.cancelReason}`)
    }
    if (response.created) return this.#created(response, connection)
    if (this.#closed.isCancelled) return
    for (const revision of this.#revisions.add(response)) {
      this.#listener.changed(revision)
      if (this.#closed.isCancelled) return
    }
    // A response without events reports the progress of the watch.
    const reached = revisionOf(response.header)
    if (response.events.length > 0 || response.fragment) return
    this.#revisions.reach(reached)
    if (reached >= this.#revisions.next - 1) this.#listener.reached(this.#revisions.next - 1)
  }

  async #created({ header }: WatchResponse, connection: EtcdConnection): Promise<void> {
    const clusterId = header?.clusterId ?? 0n
    this.#clusterId ??= clusterId
    if (clusterId !== this.#clusterId) throw new Broken('restored')
    // A single member may lag. But if all of etcd is behind its own earlier reports, it was restored from a backup.
    const last = this.#revisions.next - 1
    if (revisionOf(header) < last && (await this.#newestRevision()) < last) throw new Broken('restored')
    this.#failures = 0
    if (!this.#closed.isCancelled) this.#listener.connected?.(connection.endpoint)
  }

  async #newestRevision(): Promise<number> {
    const request = { ...toRange(this.#options), countOnly: true }
    const { header } = await this.#parts.calls.repeatable((connection, timeoutMs) =>
      connection.call(METHODS.range, request, timeoutMs),
    )
    return toNumber(header?.revision ?? 0n)
  }

  /** Leaves a member that is silent: it may be frozen, cut off, or so far behind that another member is better. */
  async #checkProgress(lost: Cancellation): Promise<void> {
    let silent = 0
    this.#heard = false
    for (;;) {
      await this.#parts.clock.sleep(this.#parts.progressMs, lost)
      if (lost.isCancelled) return
      silent = this.#heard ? 0 : silent + 1
      this.#heard = false
      if (silent > 2) return lost.cancel(new EtcdError('unavailable', 'etcd does not answer the watch'))
      this.requestProgress()
    }
  }

  /** A pause after each round of failures, longer each time, and not the same for all servers. */
  async #pause(): Promise<void> {
    const rounds = Math.floor(++this.#failures / this.#parts.endpointCount)
    if (this.#failures % this.#parts.endpointCount !== 0) return
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (rounds - 1), LONGEST_PAUSE_MS)
    await this.#parts.clock.sleep(pauseMs * (0.5 + this.#parts.random() / 2), this.#closed)
  }
}
