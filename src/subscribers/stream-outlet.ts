import type { ClientMemory } from '../core/memory/client-memory.ts'
import { failed, guarded, unawaited } from '../core/unexpected.ts'
import type { ListedSubscriber } from '../core/clients/client-views.ts'
import { bytesOfText, type SentText } from '../core/text/long-text.ts'
import type { ServiceKey } from '../core/naming/state/service.ts'
import { SlicedWork } from '../core/work/sliced-work.ts'
import type { ReportRound, WatchLoop, WatchOutlet } from './service-watch.ts'
import {
  type ConnectionSubscriptions,
  type StreamedService,
  type StreamLimits,
  STREAM_LIMITS,
  StreamRegistry,
  type SubscriptionRequest,
  type StreamSubscription,
} from './stream-registry.ts'

export type { SubscriptionRequest as StreamRequest } from './stream-registry.ts'

/** How long a client has to acknowledge a push, ms. */
const ACK_MS = 5_000
/** How long after a push without an ack the next one is sent, ms. */
const RETRY_MS = 1_000
/** How many pushes in a row stay without an ack until the client is left alone until the next change. */
const MOST_FAILURES = 10
/**
 * A new subscriber gets a push this long after its answer, ms. The Java client subscribes again after a reconnect and
 * ignores the answer: without this push it would miss the changes meanwhile.
 */
const FIRST_PUSH_MS = 500
/** Lists on their way to one client, in bytes; a single one may be larger. The others wait for acks. */
const MOST_UNACKED_BYTES = 256 * 1024
/** How long changes are gathered for streams, ms: changes until an ack are gathered anyway. */
const GATHER_MS = 5

/** Dependencies of pushes on streams. */
export interface StreamOptions {
  /** The list as sent, made once; a long list comes later. Undefined if it is longer than clients take. */
  readonly listOf: (list: StreamedList) => SentText | undefined | Promise<SentText | undefined>
  /** Whether the list depends on the client: the service has a selector. */
  readonly isPersonal: (key: ServiceKey) => boolean
  readonly loop: WatchLoop
  /** The switch pushEnabled. */
  readonly enabled: () => boolean
  /** Called for each list that is longer than clients take. */
  readonly onTooLarge?: (key: ServiceKey) => void
  readonly limits?: StreamLimits
  readonly memory?: ClientMemory
}

/** Which list is pushed. */
export interface StreamedList {
  readonly key: ServiceKey
  readonly clusters: string
  /** The consumer of the list, where that matters; undefined: without the service's selector. */
  readonly consumerIp: string | undefined
}

/** Figures of all subscriptions; pushes are counted since the start. */
export interface StreamCounts {
  readonly subscribers: number
  readonly sent: number
  readonly acked: number
  /** Pushes without an ack in time. */
  readonly failed: number
  /** Lists that are longer than a client takes. */
  readonly tooLarge: number
}

/**
 * The outlet of the service watch for clients with a connection of their own. Each subscription has one push on its way
 * at a time, always with the list of the moment when it is sent. Changes until the ack become one push afterwards, so
 * the last change arrives and a slow reader delays nobody.
 */
export class StreamOutlet implements WatchOutlet {
  readonly gatherMs = GATHER_MS
  readonly #options: StreamOptions
  readonly #registry: StreamRegistry
  /** Those to be served in the next turns, the last one first. */
  #serving: StreamSubscription[] = []
  /** Those to be served after them, the first one first. */
  #queue: StreamSubscription[] = []
  readonly #work: SlicedWork
  #newcomers: StreamSubscription[] = []
  #isPaused = false
  #sent = 0
  #acked = 0
  #failed = 0
  #tooLarge = 0

  constructor(options: StreamOptions) {
    this.#options = options
    this.#registry = new StreamRegistry(options.limits ?? STREAM_LIMITS, options.memory)
    this.#work = new SlicedWork(options.loop, () => this.#step())
  }

  /** Sends the client changes until its connection ends. Throws Refusal `too-many-subscriptions` at a limit. */
  subscribe(request: SubscriptionRequest): void {
    const subscription = this.#registry.add(request)
    subscription.sentVersion = -1
    subscription.failures = 0
    if (this.#newcomers.length === 0) this.#greetSoon()
    this.#newcomers.push(subscription)
  }

  /** How many subscriptions a connection has. */
  subscriptionsOf(connectionId: string): number {
    return this.#registry.countOf(connectionId)
  }

  /** Ends the subscription with this spelling of clusters, if it exists. */
  unsubscribe(request: Parameters<StreamRegistry['remove']>[0]): void {
    this.#registry.remove(request)
  }

  watched(key: ServiceKey): StreamedService | undefined {
    return this.#registry.service(key)
  }

  round(service: StreamedService): ReportRound | undefined {
    if (!this.#isEnabled()) return undefined
    const subscriptions = service.subscriptions()
    const next = (): boolean => {
      const subscription = subscriptions.next()
      if (subscription.done === true) return false
      this.#serve(subscription.value)
      return true
    }
    return { next }
  }

  /** Call it about each second: after pushes were switched off, everybody gets the changes meanwhile. */
  tick(): void {
    if (!this.#isPaused || !this.#options.enabled()) return
    this.#isPaused = false
    for (const service of this.#registry.services())
      for (const subscription of service.subscriptions()) this.#enqueue(subscription)
  }

  /** Checks one subscription at each step: a client that may read a service again gets the changes meanwhile. */
  *lookAgain(): Generator<void, void> {
    for (const service of this.#registry.services())
      for (const subscription of service.subscriptions()) yield this.#enqueue(subscription)
  }

  /** The subscribers of a service now. */
  list(key: ServiceKey): Omit<ListedSubscriber, 'via'>[] {
    const { namespaceId, groupedName } = key
    const subscriptions = this.#registry.service(key)?.subscriptions() ?? []
    return Array.from(subscriptions, ({ client, variant }) => {
      const { address, port, agent, app, consumerIp: toldIp } = client
      return { address, port, toldIp, agent, app, clusters: variant.clusters, namespaceId, groupedName }
    })
  }

  counts(): StreamCounts {
    const counts = { sent: this.#sent, acked: this.#acked, failed: this.#failed, tooLarge: this.#tooLarge }
    return { subscribers: this.#registry.size, ...counts }
  }

  #greetSoon(): void {
    const greet = guarded(
      'push',
      () => this.#greetSoon(),
      () => this.#greet(),
    )
    this.#options.loop.after(FIRST_PUSH_MS, greet)
  }

  #greet(): void {
    const newcomers = this.#newcomers
    this.#newcomers = []
    for (const subscription of newcomers) this.#enqueue(subscription)
  }

  #isEnabled(): boolean {
    const isEnabled = this.#options.enabled()
    if (!isEnabled) this.#isPaused = true
    return isEnabled
  }

  #enqueue(subscription: StreamSubscription): void {
    if (subscription.isQueued || !isBehind(subscription)) return
    subscription.isQueued = true
    this.#queue.push(subscription)
    this.#work.start()
  }

  #step(): boolean {
    if (this.#serving.length === 0) {
      this.#serving = this.#queue.reverse()
      this.#queue = []
    }
    const subscription = this.#serving.pop()
    if (subscription === undefined) return false
    subscription.isQueued = false
    this.#serve(subscription)
    return this.#serving.length + this.#queue.length > 0
  }

  /** Sends the list if the client does not have it, unless it has to acknowledge another first. */
  #serve(subscription: StreamSubscription): void {
    const { waiting } = subscription.of
    try {
      if (waiting.size > 0 || !this.#serveInTurn(subscription)) waiting.add(subscription)
    } catch (error) {
      failed('push', subscription.client.end, error)
    }
  }

  /** False if it has to wait until the client has acknowledged other lists. */
  #serveInTurn(subscription: StreamSubscription): boolean {
    if (subscription.isInFlight || !isBehind(subscription)) return true
    if (subscription.of.unackedBytes >= MOST_UNACKED_BYTES) return false
    if (!this.#isEnabled() || subscription.isAllowed?.() === false) return true
    return this.#push(subscription)
  }

  #push(subscription: StreamSubscription): boolean {
    const { version } = subscription.variant.service
    const list = this.#listFor(subscription)
    if (!(list instanceof Promise)) return this.#send(subscription, list, version)
    subscription.isInFlight = true
    const sent = list.then(
      (made) => {
        subscription.isInFlight = false
        if (!subscription.isOver && !this.#send(subscription, made, version)) this.#serve(subscription)
      },
      () => {
        subscription.isInFlight = false
        this.#unanswered(subscription)
      },
    )
    unawaited('push', subscription.client.end, sent)
    return true
  }

  /** False if it is too much for now. Nothing is sent of a list that is longer than clients take. */
  #send(subscription: StreamSubscription, list: SentText | undefined, version: number): boolean {
    const { of, client } = subscription
    const bytes = list === undefined ? 0 : bytesOfText(list)
    if (of.unackedBytes > 0 && of.unackedBytes + bytes > MOST_UNACKED_BYTES) return false
    subscription.sentVersion = version
    if (list === undefined) {
      this.#tooLarge++
      this.#options.onTooLarge?.(subscription.variant.service.key)
      return true
    }
    subscription.isInFlight = true
    of.unackedBytes += bytes
    this.#sent++
    const settled = client.push(list, ACK_MS).then((isAcked) => {
      subscription.isInFlight = false
      of.unackedBytes -= bytes
      if (isAcked) this.#acknowledged(subscription)
      else this.#unanswered(subscription)
      this.#serveWaiting(of)
    })
    unawaited('push', client.end, settled)
    return true
  }

  #acknowledged(subscription: StreamSubscription): void {
    this.#acked++
    subscription.failures = 0
    this.#enqueue(subscription)
  }

  #unanswered(subscription: StreamSubscription): void {
    if (subscription.isOver) return
    this.#failed++
    subscription.failures++
    const isGivenUp = subscription.failures >= MOST_FAILURES
    // The next change begins again.
    if (isGivenUp) subscription.failures = 0
    else subscription.sentVersion = -1
    const again = guarded('push', subscription.client.end, () => this.#enqueue(subscription))
    this.#options.loop.after(RETRY_MS, again)
  }

  #serveWaiting({ waiting }: ConnectionSubscriptions): void {
    for (const subscription of waiting) {
      if (!this.#serveInTurn(subscription)) return
      waiting.delete(subscription)
    }
  }

  #listFor({ variant, client }: StreamSubscription): ReturnType<StreamOptions['listOf']> {
    const { service, clusters } = variant
    const { key } = service
    const consumerIp = this.#options.isPersonal(key) ? client.consumerIp : undefined
    return this.#options.listOf({ key, clusters, consumerIp })
  }
}

/** Whether there is a change that was not sent. */
function isBehind({ isOver, sentVersion, variant }: StreamSubscription): boolean {
  return !isOver && sentVersion !== variant.service.version
}
