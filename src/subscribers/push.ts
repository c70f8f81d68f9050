import type { Change } from '../core/changes.ts'
import type { PushCounts, PushPacket, PushSender } from '../core/naming/push-sender.ts'
import type { ServiceKey } from '../core/naming/service.ts'
import { SlicedWork, type Loop } from '../core/sliced-work.ts'
import {
  PushRegistry,
  type PushedService,
  type Subscriber,
  type Subscription,
  type Variant,
} from './push-registry.ts'

export type { Subscriber } from './push-registry.ts'

/** Changes of a service are gathered for so long and then pushed as one, unless told otherwise. */
export const GATHER_MS = 20

/**
 * A client calls again when the cacheMillis that it was granted is over; one library looks only once a
 * second, and a call may be slow. So a subscription outlives cacheMillis by this much.
 */
export const LAPSE_MARGIN_MS = 5_000

/** How many subscriptions of one service are served before another service has its turn. */
const TURN = 32

/** What pushes need of the server. */
export interface PushOptions {
  readonly sender: PushSender
  /**
   * The list answer as JSON, with the cacheMillis of clients that get pushes. Answers undefined where the list is so
   * long that making it would be in vain.
   */
  readonly answerOf: (list: PushedList) => Buffer | undefined
  /** Whether the list depends on who asks for it: the service has a selector. Absent: never. */
  readonly isPersonal?: (key: ServiceKey) => boolean
  readonly loop: PushLoop
  /** The switch pushEnabled. */
  readonly enabled: () => boolean
  /** For how long a list call subscribes, ms: what the client may cache, and {@link LAPSE_MARGIN_MS}. */
  readonly lapseMs: () => number
  /** For how long the changes of a service are gathered into one push; 0: each is pushed by itself. */
  readonly gatherMs?: (key: ServiceKey) => number
}

/** Which list is pushed. */
export interface PushedList extends Pick<Subscriber, 'clusters' | 'format'> {
  readonly key: ServiceKey
  /** Whose list it is, where that matters; undefined: without the service's selector. */
  readonly consumerIp: string | undefined
}

/** The loop, and a timer on it. */
export interface PushLoop extends Loop {
  readonly after: (ms: number, run: () => void) => void
}

/** What is known of all subscriptions; pushes are counted since the start. */
export interface PushStatus extends PushCounts {
  readonly subscribers: number
  /** Lists that were not sent to a client because its datagrams cannot hold them. */
  readonly tooLarge: number
}

interface Walk {
  readonly service: PushedService
  readonly subscriptions: Iterator<Subscription>
  /** The time spent on it. */
  workMs: number
  readonly packets: Map<Variant, { version: number; packet: PushPacket | undefined }>
}

/**
 * Tells the subscribers of a service its list when it has changed. Changes are gathered for a moment, from
 * the first one on, so that a burst becomes one push and none waits longer. Packets are made once per
 * `clusters` text and format, and always from what is current when they are sent: no subscriber ever gets a list that is
 * older than the one that it was answered before. Services take turns, a few milliseconds at a time.
 */
export class PushSubscribers {
  readonly #options: PushOptions
  readonly #registry: PushRegistry
  /** The services that are being pushed; the next turn is the first one's. */
  readonly #walks: Walk[] = []
  readonly #work: SlicedWork
  #tooLarge = 0

  constructor(options: PushOptions) {
    this.#options = options
    this.#registry = new PushRegistry(options.lapseMs)
    this.#work = new SlicedWork(options.loop, () => this.#step())
  }

  /**
   * Notes a list call with a udpPort by a client that understands pushes. Answers whether it will get them,
   * so that it may cache the list for longer: not while pushes are off, the list fits no datagram of this
   * client, a limit is reached, or the last pushes to it were never acked.
   */
  subscribe(subscriber: Subscriber): boolean {
    if (!this.#options.enabled()) return false
    const subscription = this.#registry.refresh(subscriber, this.#options.loop.now())
    if (subscription === undefined || subscription.silentSinceMs !== undefined) return false
    const bytes = this.#bytesOf(subscription.variant)
    return bytes !== undefined && this.#options.sender.fits(subscription, bytes)
  }

  /** To be called with every committed change, after State has applied it. */
  onChange(change: Change): void {
    const key = serviceKeyOf(change)
    const service = key === undefined ? undefined : this.#registry.service(key)
    if (service === undefined) return
    service.version++
    if (service.planned) return
    service.planned = true
    const gatherMs = Math.max(this.#options.gatherMs?.(service.key) ?? GATHER_MS, service.gatherMs)
    this.#options.loop.after(gatherMs, () => this.#begin(service))
  }

  /** Forgets the subscriptions that have lapsed. */
  tick(nowMs: number): void {
    this.#registry.tick(nowMs)
  }

  /** Who is subscribed to a service now. */
  list(key: ServiceKey): Subscriber[] {
    const nowMs = this.#options.loop.now()
    const found: Subscriber[] = []
    for (const subscription of this.#registry.service(key)?.subscriptions() ?? []) {
      if (this.#registry.isLive(subscription, nowMs)) found.push(subscription.subscriber)
    }
    return found
  }

  counts(): PushStatus {
    return { subscribers: this.#registry.size, tooLarge: this.#tooLarge, ...this.#options.sender.counts() }
  }

  #begin(service: PushedService): void {
    // From here on a change plans the next push; this one may or may not carry it already.
    service.planned = false
    if (!this.#options.enabled()) return
    this.#walks.push({ service, subscriptions: service.subscriptions(), workMs: 0, packets: new Map() })
    this.#work.start()
  }

  /** One turn of one service. */
  #step(): boolean {
    const walk = this.#walks.shift()
    if (walk === undefined) return false
    const startedMs = this.#options.loop.now()
    const more = this.#turn(walk)
    walk.workMs += this.#options.loop.now() - startedMs
    if (more) this.#walks.push(walk)
    // A service with so many subscribers that a push takes long is pushed less often.
    else walk.service.gatherMs = walk.workMs
    return this.#walks.length > 0
  }

  /** Answers whether there may be more subscriptions to serve. */
  #turn(walk: Walk): boolean {
    for (let count = 0; count < TURN; count++) {
      const next = walk.subscriptions.next()
      if (next.done === true) return false
      this.#push(walk, next.value)
    }
    return true
  }

  #push(walk: Walk, subscription: Subscription): void {
    const { service } = walk
    if (subscription.sentVersion === service.version || !this.#isWanted(subscription)) return
    const packet = this.#packetOf(walk, subscription)
    subscription.sentVersion = service.version
    if (packet === undefined || !this.#options.sender.fits(subscription, packet.datagram.length)) {
      this.#tooLarge++
      return
    }
    this.#options.sender.send(subscription, packet)
  }

  /** Who has not answered is left alone until it calls again. */
  #isWanted(subscription: Subscription): boolean {
    const { silentSinceMs, lastCallMs } = subscription
    if (silentSinceMs !== undefined && lastCallMs <= silentSinceMs) return false
    return this.#registry.isLive(subscription, this.#options.loop.now()) && this.#options.enabled()
  }

  #packetOf(walk: Walk, subscription: Subscription): PushPacket | undefined {
    const { variant, subscriber } = subscription
    const { version, key } = walk.service
    if (this.#options.isPersonal?.(key)) {
      const consumerIp = subscriber.consumerIp ?? subscriber.address
      return this.#packed(variant, consumerIp)
    }
    const made = walk.packets.get(variant)
    if (made?.version === version) return made.packet
    const packet = this.#pack(variant)
    walk.packets.set(variant, { version, packet })
    return packet
  }

  /** The size of a variant's packet, measured once per change; what a selector leaves of it is no larger. */
  #bytesOf(variant: Variant): number | undefined {
    if (variant.sizedVersion !== variant.service.version) this.#pack(variant)
    return variant.bytes
  }

  #pack(variant: Variant): PushPacket | undefined {
    const packet = this.#packed(variant, undefined)
    variant.bytes = packet?.datagram.length
    variant.sizedVersion = variant.service.version
    return packet
  }

  #packed({ service, clusters, format }: Variant, consumerIp: string | undefined): PushPacket | undefined {
    const answer = this.#options.answerOf({ key: service.key, clusters, format, consumerIp })
    return answer === undefined ? undefined : this.#options.sender.pack(answer)
  }
}

/** The service whose list a change may have changed. */
function serviceKeyOf(change: Change): ServiceKey | undefined {
  switch (change.kind) {
    case 'service-saved':
      return change.service.key
    case 'service-deleted':
      return change.key
    case 'instance-saved':
    case 'instance-removed':
    case 'instance-health-changed':
    case 'metadata-remembered':
      return change.serviceKey
    // Only what is remembered of instances that are not there is forgotten.
    case 'metadata-forgotten':
    case 'config-published':
    case 'config-deleted':
    case 'namespace-saved':
    case 'namespace-deleted':
    case 'switches-set':
      return undefined
  }
}
