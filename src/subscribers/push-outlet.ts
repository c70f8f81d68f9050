import type { ClientMemory } from '../core/memory/client-memory.ts'
import { contained } from '../core/unexpected.ts'
import type { PushCounts, PushPacket, PushSender } from '../core/clients/push-sender.ts'
import type { ServiceKey } from '../core/naming/state/service.ts'
import type { Loop } from '../core/work/sliced-work.ts'
import {
  PushRegistry,
  type PushedService,
  type Subscriber,
  type Subscription,
  type Variant,
} from './push-registry.ts'
import type { ReportRound, WatchOutlet } from './service-watch.ts'

export type { Subscriber } from './push-registry.ts'

/**
 * A client calls again when the cacheMillis that it was granted is over. One library checks only once a
 * second, and a call may be slow. So a subscription outlives cacheMillis by this much.
 */
export const LAPSE_MARGIN_MS = 5_000

/** Dependencies of pushes. */
export interface PushOptions {
  readonly sender: PushSender
  /**
   * The list answer as JSON, with the cacheMillis of clients that get pushes. Answers undefined where the list is so
   * long that making it would be in vain.
   */
  readonly answerOf: (list: PushedList) => Buffer | undefined
  /** Whether the list depends on the client: the service has a selector. Absent: never. */
  readonly isPersonal?: (key: ServiceKey) => boolean
  readonly loop: Pick<Loop, 'now'>
  /** The switch pushEnabled. */
  readonly enabled: () => boolean
  /** For how long a list call subscribes, ms: the time that the client may cache it, and {@link LAPSE_MARGIN_MS}. */
  readonly lapseMs: () => number
  readonly memory?: ClientMemory
}

/** Which list is pushed. */
export interface PushedList extends Pick<Subscriber, 'clusters' | 'format'> {
  readonly key: ServiceKey
  /** The consumer of the list, where that matters; undefined: without the service's selector. */
  readonly consumerIp: string | undefined
}

/** Figures of all subscriptions; pushes are counted since the start. */
export interface PushStatus extends PushCounts {
  readonly subscribers: number
  /** Lists that were not sent to a client because its datagrams cannot hold them. */
  readonly tooLarge: number
}

/** The packets of a service that a round has made, each with the version of the service that it shows. */
type Packets = Map<Variant, { version: number; packet: PushPacket | undefined }>

/**
 * The outlet of the service watch for clients that listen for datagrams. They subscribe with each list call, and only until
 * the next one is due. Packets are made once per `clusters` text and format, from the state at the time of sending. No
 * subscriber ever gets a list that is older than its last answer. The sender repeats unacknowledged packets.
 */
export class PushOutlet implements WatchOutlet {
  readonly #options: PushOptions
  readonly #registry: PushRegistry
  #tooLarge = 0

  constructor(options: PushOptions) {
    this.#options = options
    this.#registry = new PushRegistry(options.lapseMs, options.memory)
  }

  /**
   * Notes a list call with a udpPort by a client that understands pushes. Answers whether it will get pushes, so that
   * it may cache the list for longer. It gets no pushes while they are off, or if the list is too large for a datagram.
   * Nor does it if a limit is reached, or if the last pushes to it were never acknowledged.
   */
  subscribe(subscriber: Subscriber): boolean {
    if (!this.#options.enabled()) return false
    const subscription = this.#registry.refresh(subscriber, this.#options.loop.now())
    if (subscription === undefined || subscription.silentSinceMs !== undefined) return false
    const bytes = this.#bytesOf(subscription.variant)
    return bytes !== undefined && this.#options.sender.fits(subscription, bytes)
  }

  watched(key: ServiceKey): PushedService | undefined {
    return this.#registry.service(key)
  }

  round(service: PushedService): ReportRound | undefined {
    if (!this.#options.enabled()) return undefined
    const subscriptions = service.subscriptions()
    const packets: Packets = new Map()
    const next = (): boolean => {
      const subscription = subscriptions.next()
      if (subscription.done === true) return false
      const { value } = subscription
      contained(
        'push',
        () => this.#leaveAlone(value),
        () => this.#push(packets, value),
      )
      return true
    }
    return { next }
  }

  /** Forgets the subscriptions that have lapsed. */
  tick(nowMs: number): void {
    this.#registry.tick(nowMs)
  }

  /** The subscribers of a service now. */
  list(key: ServiceKey): Subscriber[] {
    const nowMs = this.#options.loop.now()
    const found: Subscriber[] = []
    for (const subscription of this.#registry.service(key)?.subscriptions() ?? []) {
      if (this.#registry.isLive(subscription, nowMs)) found.push(subscription.subscriber)
    }
    return found
  }

  /** All who are subscribed to anything now. One with several subscriptions is there as often. */
  *all(): Generator<Subscriber> {
    const nowMs = this.#options.loop.now()
    for (const service of this.#registry.services())
      for (const subscription of service.subscriptions())
        if (this.#registry.isLive(subscription, nowMs)) yield subscription.subscriber
  }

  counts(): PushStatus {
    return { subscribers: this.#registry.size, tooLarge: this.#tooLarge, ...this.#options.sender.counts() }
  }

  #push(packets: Packets, subscription: Subscription): void {
    const { service } = subscription.variant
    if (subscription.sentVersion === service.version || !this.#isWanted(subscription)) return
    const packet = this.#packetOf(packets, subscription)
    subscription.sentVersion = service.version
    if (packet === undefined || !this.#options.sender.fits(subscription, packet.datagram.length)) {
      this.#tooLarge++
      return
    }
    this.#options.sender.send(subscription, packet)
  }

  /** A fault ends the pushes to a client until it calls again; it knows everything then. */
  #leaveAlone(subscription: Subscription): void {
    subscription.silentSinceMs = this.#options.loop.now()
  }

  /** A client that has not answered, or may not read the service any longer, gets nothing until it calls again. */
  #isWanted(subscription: Subscription): boolean {
    const { silentSinceMs, lastCallMs, subscriber } = subscription
    if (silentSinceMs !== undefined && lastCallMs <= silentSinceMs) return false
    if (subscriber.isAllowed?.() === false) return false
    return this.#registry.isLive(subscription, this.#options.loop.now()) && this.#options.enabled()
  }

  #packetOf(packets: Packets, subscription: Subscription): PushPacket | undefined {
    const { variant, subscriber } = subscription
    const { version, key } = variant.service
    if (this.#options.isPersonal?.(key)) {
      const consumerIp = subscriber.consumerIp ?? subscriber.address
      return this.#packed(variant, consumerIp)
    }
    const made = packets.get(variant)
    if (made?.version === version) return made.packet
    const packet = this.#pack(variant)
    packets.set(variant, { version, packet })
    return packet
  }

  /** The size of a variant's packet, measured once per change. A selector only makes it smaller. */
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
