import { unawaited } from '../../../core/unexpected.ts'
import type { WatchedKeys } from '../../../operations/watched-keys.ts'
import type { ClientConnection, Question } from '../connections/client-connection.ts'
import type { ServerRequestType } from '../wire/payload.ts'
import type { FuzzyRequest, SentPattern } from './fuzzy-request.ts'
import { BATCH, type KeysByName, UnsentNames } from './unsent-names.ts'

/** How a kind of things is named in messages, and how these look. */
export interface FuzzyDialect<Key> {
  /** The text that names a thing; `namespace` as the client spells it. */
  readonly nameOf: (key: Key, namespace: string) => string
  /** Such as `ConfigFuzzyWatchSyncRequest`. */
  readonly syncType: ServerRequestType
  /** Such as `ConfigFuzzyWatchChangeNotifyRequest`. */
  readonly changeType: ServerRequestType
  /** The fields of a thing in a sync. */
  readonly contextOf: (name: string, isThere: boolean) => object
  /** The fields of the message of one change. */
  readonly changeOf: (name: string, isThere: boolean) => object
}

/** Dependencies of a sync. */
export interface FuzzySyncParts<Key> {
  readonly connection: Pick<ClientConnection, 'ask'>
  readonly dialect: FuzzyDialect<Key>
  readonly sent: SentPattern
  readonly after: (ms: number, run: () => void) => void
}

/** How long a client may take to acknowledge a message. */
const ACK_MS = 3_000
const RETRY_MS = 2_000
/**
 * After this many messages without an acknowledgement the client gets nothing until it asks again. It does so
 * every 3 minutes.
 */
const MOST_TRIES = 5

/** A message on its way to the client. */
interface SyncMessage<Key> {
  readonly question: Question
  /** Where its names come from. */
  readonly unsent: UnsentNames<Key>
  /** It says that the client knows everything. */
  readonly isFinish: boolean
}

/**
 * Sends a client the names that match a pattern: first the difference to its known names, in batches, then each change. One
 * message at a time is on its way. Only names that the client has still to receive are kept, and their state is looked up
 * when the message is made. So a client that reads slowly receives fewer messages, with the last state of each name.
 */
export class FuzzySync<Key> {
  readonly #parts: FuzzySyncParts<Key>
  #watched: WatchedKeys<Key> | undefined
  /** The names that the client has still to receive, as long as it watches. */
  #unsent: UnsentNames<Key> | undefined
  #phase: 'init' | 'diff' | 'changes' = 'changes'
  #mustFinish = false
  #batches = { total: 0, sent: 0 }
  #failures = 0
  #isRunning = false

  constructor(parts: FuzzySyncParts<Key>) {
    this.#parts = parts
  }

  /**
   * Begins again with the names that the client knows. `watched` replaces the earlier one. False: there is no room for the names
   * that the client has to receive. Then everything stays as it was, and `watched` has been left.
   */
  begin(watched: WatchedKeys<Key>, { received, isInitializing }: FuzzyRequest): boolean {
    const unsent = new UnsentNames<Key>(watched.room)
    if ((isInitializing && !unsent.finishes()) || !unsent.add(this.#findUnsent(watched, received))) {
      unsent.end()
      watched.leave()
      return false
    }
    this.end()
    this.#watched = watched
    this.#unsent = unsent
    this.#phase = isInitializing ? 'init' : 'diff'
    this.#mustFinish = isInitializing
    this.#batches = { total: Math.ceil(unsent.size / BATCH), sent: 0 }
    this.#failures = 0
    this.#runOn()
    return true
  }

  /**
   * Something that the pattern means has appeared or disappeared. Where there is no room for its name, the client gets nothing
   * until it asks again.
   */
  touched(key: Key): void {
    if (this.#unsent?.add(new Map([[this.#nameOf(key), key]])) === false) this.#giveUp()
    this.#runOn()
  }

  /** The client has left, or does not watch the pattern any longer. */
  end(): void {
    this.#watched?.leave()
    this.#watched = undefined
    this.#unsent?.end()
    this.#unsent = undefined
  }

  #nameOf(key: Key): string {
    return this.#parts.dialect.nameOf(key, this.#parts.sent.namespace)
  }

  /** The names that the client does not know, and the names that only the client knows. */
  #findUnsent({ keys }: WatchedKeys<Key>, received: ReadonlySet<string>): KeysByName<Key> {
    const onlyReceived = new Set(received)
    const unsent = new Map<string, Key | undefined>()
    for (const key of keys) {
      const name = this.#nameOf(key)
      if (!onlyReceived.delete(name)) unsent.set(name, key)
    }
    for (const name of onlyReceived) unsent.set(name, undefined)
    return unsent
  }

  #runOn(): void {
    unawaited('push', () => this.#fail(), this.#run())
  }

  /** A fault ends this round. The client asks again every few minutes, and gets the difference then. */
  #fail(): void {
    this.#isRunning = false
    this.#unsent?.answered(false)
    this.#giveUp()
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return
    this.#isRunning = true
    for (let message = this.#next(); message !== undefined; message = this.#next()) await this.#send(message)
    this.#isRunning = false
  }

  async #send(message: SyncMessage<Key>): Promise<void> {
    if (await this.#isAcknowledged(message)) {
      if (message.isFinish) message.unsent.finished()
      this.#failures = 0
      return
    }
    // After a new beginning meanwhile, nothing is taken back.
    if (this.#unsent === message.unsent && message.isFinish) this.#mustFinish = true
    if (++this.#failures >= MOST_TRIES) return this.#giveUp()
    await new Promise<void>((resolve) => this.#parts.after(this.#failures * RETRY_MS, resolve))
  }

  async #isAcknowledged({ question, unsent }: SyncMessage<Key>): Promise<boolean> {
    let isAcknowledged = false
    try {
      isAcknowledged = await this.#parts.connection.ask(question, ACK_MS)
    } finally {
      unsent.answered(isAcknowledged)
    }
    return isAcknowledged
  }

  /** The next message, if any. */
  #next(): SyncMessage<Key> | undefined {
    const [watched, unsent] = [this.#watched, this.#unsent]
    if (watched === undefined || unsent === undefined) return undefined
    if (unsent.size === 0) {
      this.#phase = 'changes'
      return this.#mustFinish ? this.#finish(unsent) : undefined
    }
    return this.#phase === 'changes' ? this.#change(watched, unsent) : this.#batch(watched, unsent)
  }

  #batch(watched: WatchedKeys<Key>, unsent: UnsentNames<Key>): SyncMessage<Key> {
    const { dialect, sent } = this.#parts
    const names = unsent.take(BATCH)
    const currentBatch = ++this.#batches.sent
    const body = {
      syncType: this.#phase === 'init' ? 'FUZZY_WATCH_INIT_NOTIFY' : 'FUZZY_WATCH_DIFF_SYNC_NOTIFY',
      groupKeyPattern: sent.text,
      contexts: Array.from(names, ([name, key]) => dialect.contextOf(name, isThere(watched, key))),
      // Changes meanwhile are sent in further batches.
      totalBatch: Math.max(this.#batches.total, currentBatch),
      currentBatch,
    }
    return { question: { type: dialect.syncType, body }, unsent, isFinish: false }
  }

  #change(watched: WatchedKeys<Key>, unsent: UnsentNames<Key>): SyncMessage<Key> {
    const { dialect } = this.#parts
    const names = unsent.take(1)
    const [[name, key]] = [...names] as [[string, Key | undefined]]
    const body = dialect.changeOf(name, isThere(watched, key))
    return { question: { type: dialect.changeType, body }, unsent, isFinish: false }
  }

  #finish(unsent: UnsentNames<Key>): SyncMessage<Key> {
    const { dialect, sent } = this.#parts
    this.#mustFinish = false
    const { total: totalBatch, sent: currentBatch } = this.#batches
    const body = {
      syncType: 'FINISH_FUZZY_WATCH_INIT_NOTIFY',
      groupKeyPattern: sent.text,
      contexts: [],
      totalBatch,
      currentBatch,
    }
    return { question: { type: dialect.syncType, body }, unsent, isFinish: true }
  }

  #giveUp(): void {
    this.#unsent?.clear()
    this.#unsent?.finished()
    this.#mustFinish = false
    this.#phase = 'changes'
    this.#failures = 0
  }
}

function isThere<Key>(watched: WatchedKeys<Key>, key: Key | undefined): boolean {
  return key !== undefined && watched.isThere(key)
}
