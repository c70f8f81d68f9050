import { DueBook, NOT_DUE, type Due } from '../core/work/due-book.ts'
import type { PushTarget } from '../core/clients/push-sender.ts'
import { textBytes } from '../core/memory/bytes-of.ts'
import { ClientMemory } from '../core/memory/client-memory.ts'
import { serviceKeyText, type ServiceKey } from '../core/naming/state/service.ts'
import { variantBytes, WatchedService, watchedServiceBytes } from './service-watch.ts'

/** Subscriptions in all; a few hundred bytes each, and 5,000 clients with 100 services each. */
const MAX_SUBSCRIPTIONS = 500_000

/** Subscriptions of one address: a host, or a gateway, of a hundred clients with 200 services each. */
export const MAX_SUBSCRIPTIONS_OF_ADDRESS = 20_000

/** Ports of one address that have acknowledged no push: who never answers is sent a push at no more ports. */
export const MAX_SILENT_PORTS = 64

/** Different `clusters` texts and formats that a service is pushed in: each has an answer of its own at every change. */
export const MAX_VARIANTS_OF_SERVICE = 64

/** The objects of a subscription, and its places in tables. */
const SUBSCRIPTION_BYTES = 480
/** Decides whether its pushes are allowed. */
const JUDGE_BYTES = 270

/** Lapsed subscriptions are forgotten at most this late; until then they are known to be lapsed. */
const LAPSE_BUCKET_MS = 1_000

/** A client that asked for a list and can be pushed to. */
export interface Subscriber {
  /** The address of the client's socket, whatever it calls itself. */
  readonly address: string
  readonly port: number
  /** User-Agent. */
  readonly agent: string
  readonly app: string
  /** As the client spelled it: its pushes repeat that. */
  readonly clusters: string
  /** How its lists are written; known to the writer. */
  readonly format: string
  readonly namespaceId: string
  readonly groupedName: string
  /** The address that selectors go by; absent: `address`. */
  readonly consumerIp?: string
  /** Asked before each push; undefined: always. */
  readonly isAllowed?: (() => boolean) | undefined
}

/** A service that somebody subscribes to. */
export class PushedService extends WatchedService {
  readonly variants = new Map<string, Variant>()

  /** Walks over all subscriptions; they may come and go meanwhile. */
  subscriptions(): Generator<Subscription, void> {
    return subscriptionsOf(this.variants)
  }
}

function* subscriptionsOf(variants: ReadonlyMap<string, Variant>): Generator<Subscription, void> {
  for (const variant of variants.values()) yield* variant.subscriptions.values()
}

/** The subscriptions of a service that get the same packet: those with the same `clusters` text and format. */
export class Variant {
  readonly service: PushedService
  readonly clusters: string
  readonly format: string
  readonly subscriptions = new Map<string, Subscription>()
  /** The version of the service that `bytes` was measured at. */
  sizedVersion = -1
  /** The size of its packet; undefined when no client could take it. */
  bytes: number | undefined = undefined

  constructor(service: PushedService, { clusters, format }: Subscriber) {
    this.service = service
    this.clusters = clusters
    this.format = format
  }

  /** The memory that its subscriptions share, while it has none: with its service, which has no other variant then. */
  get unsharedBytes(): number {
    if (this.subscriptions.size > 0) return 0
    const ofService = this.service.variants.size > 1 ? 0 : watchedServiceBytes(this.service.key)
    return ofService + variantBytes(variantKey(this))
  }
}

/** A port of an address, and its subscriptions. */
class Port {
  readonly #host: Host
  readonly key: number
  size = 0
  #hasAnswered = false

  constructor(host: Host, key: number) {
    this.#host = host
    this.key = key
  }

  /** A push to it was acknowledged. */
  answered(): void {
    if (this.#hasAnswered) return
    this.#hasAnswered = true
    this.#host.silent--
  }
}

/** An address: its subscriptions, its ports, and how many of the ports have acknowledged nothing. */
class Host {
  size = 0
  silent = 0
  readonly ports = new Map<number, Port>()

  /** The port, if it may be pushed to. */
  portFor(key: number): Port | undefined {
    return this.ports.get(key) ?? (this.silent < MAX_SILENT_PORTS ? new Port(this, key) : undefined)
  }

  enter(port: Port): void {
    this.size++
    if (port.size++ > 0) return
    this.ports.set(port.key, port)
    this.silent++
  }

  leave(port: Port): void {
    this.size--
    if (--port.size > 0) return
    this.ports.delete(port.key)
    port.answered()
  }
}

/** One client's interest in one service. */
export class Subscription implements PushTarget, Due {
  readonly variant: Variant
  subscriber: Subscriber
  /** The last list call, on the monotonic clock. */
  lastCallMs: number
  /** The version of the service that was pushed last. */
  sentVersion = -1
  subscribed = true
  newestRef = 0
  #lastAckMs = -Infinity
  readonly host: Host
  readonly #port: Port
  silentSinceMs: number | undefined = undefined
  dueTick = NOT_DUE

  constructor({ variant, host, port }: SubscriptionParts, subscriber: Subscriber, lastCallMs: number) {
    this.variant = variant
    this.host = host
    this.#port = port
    this.subscriber = subscriber
    this.lastCallMs = lastCallMs
    host.enter(port)
  }

  get lastAckMs(): number {
    return this.#lastAckMs
  }

  set lastAckMs(ackedMs: number) {
    this.#lastAckMs = ackedMs
    this.#port.answered()
  }

  /** It is over. */
  end(): void {
    this.subscribed = false
    this.host.leave(this.#port)
  }

  get address(): string {
    return this.subscriber.address
  }

  get port(): number {
    return this.subscriber.port
  }

  get agent(): string {
    return this.subscriber.agent
  }
}

interface SubscriptionParts {
  readonly variant: Variant
  readonly host: Host
  readonly port: Port
}

/** The subscriptions of clients, within limits, each no longer than its list calls last. */
export class PushRegistry {
  readonly #services = new Map<string, PushedService>()
  readonly #hosts = new Map<string, Host>()
  readonly #due = new DueBook<Subscription>(LAPSE_BUCKET_MS)
  readonly #lapseMs: () => number
  #size = 0

  readonly #memory: ClientMemory

  /** `lapseMs`: for how long a list call subscribes. */
  constructor(lapseMs: () => number, memory = new ClientMemory()) {
    this.#lapseMs = lapseMs
    this.#memory = memory
    memory.joinRemembering(() => this.#forgetOne())
  }

  get size(): number {
    return this.#size
  }

  service(key: ServiceKey): PushedService | undefined {
    return this.#services.size === 0 ? undefined : this.#services.get(serviceKeyText(key))
  }

  /** All services with subscriptions. They may come and go meanwhile. */
  services(): Iterable<PushedService> {
    return this.#services.values()
  }

  /** Notes a list call; undefined when a limit is reached. */
  refresh(subscriber: Subscriber, nowMs: number): Subscription | undefined {
    const there = this.#find(subscriber)
    if (there === undefined) return this.#add(subscriber, nowMs)
    if (!this.#memory.takeSaving(subscriberBytes(subscriber) - subscriberBytes(there.subscriber)))
      return undefined
    there.subscriber = subscriber
    there.lastCallMs = nowMs
    return there
  }

  isLive(subscription: Subscription, nowMs: number): boolean {
    return subscription.subscribed && nowMs < subscription.lastCallMs + this.#lapseMs()
  }

  /** Forgets clients that have not called for too long. */
  tick(nowMs: number): void {
    for (const subscription of this.#due.due(nowMs)) {
      if (this.isLive(subscription, nowMs)) this.#watch(subscription)
      else this.#remove(subscription)
    }
  }

  /** Forgets a subscription: its client has the list after `cacheMillis`. False: there is none. */
  #forgetOne(): boolean {
    for (const { variants } of this.#services.values())
      for (const { subscriptions } of variants.values())
        for (const subscription of subscriptions.values()) {
          this.#due.remove(subscription)
          this.#remove(subscription)
          return true
        }
    return false
  }

  #find(subscriber: Subscriber): Subscription | undefined {
    const variant = this.service(subscriber)?.variants.get(variantKey(subscriber))
    return variant?.subscriptions.get(placeOf(subscriber))
  }

  #add(subscriber: Subscriber, nowMs: number): Subscription | undefined {
    const host = this.#hosts.get(subscriber.address) ?? new Host()
    if (this.#size >= MAX_SUBSCRIPTIONS || host.size >= MAX_SUBSCRIPTIONS_OF_ADDRESS) return undefined
    const port = host.portFor(subscriber.port)
    if (port === undefined) return undefined
    const variant = this.#variantFor(subscriber)
    if (variant === undefined) return undefined
    if (!this.#memory.takeSaving(subscriberBytes(subscriber) + variant.unsharedBytes)) {
      this.#forgetUnused(variant)
      return undefined
    }
    const subscription = new Subscription({ variant, host, port }, subscriber, nowMs)
    variant.subscriptions.set(placeOf(subscriber), subscription)
    this.#hosts.set(subscriber.address, host)
    this.#size++
    this.#watch(subscription)
    return subscription
  }

  #variantFor(subscriber: Subscriber): Variant | undefined {
    const keyText = serviceKeyText(subscriber)
    let service = this.#services.get(keyText)
    if (service === undefined) {
      service = new PushedService({
        namespaceId: subscriber.namespaceId,
        groupedName: subscriber.groupedName,
      })
      this.#services.set(keyText, service)
    }
    const key = variantKey(subscriber)
    let variant = service.variants.get(key)
    if (variant !== undefined) return variant
    if (service.variants.size >= MAX_VARIANTS_OF_SERVICE) return undefined
    variant = new Variant(service, subscriber)
    service.variants.set(key, variant)
    return variant
  }

  #watch(subscription: Subscription): void {
    this.#due.add(subscription, subscription.lastCallMs + this.#lapseMs())
  }

  #remove(subscription: Subscription): void {
    const { variant, subscriber, host } = subscription
    subscription.end()
    this.#size--
    if (host.size === 0) this.#hosts.delete(subscriber.address)
    variant.subscriptions.delete(placeOf(subscriber))
    this.#memory.free(subscriberBytes(subscriber) + variant.unsharedBytes)
    this.#forgetUnused(variant)
  }

  #forgetUnused(variant: Variant): void {
    const { service, subscriptions } = variant
    if (subscriptions.size === 0) service.variants.delete(variantKey(variant))
    if (service.variants.size === 0) this.#services.delete(serviceKeyText(service.key))
  }
}

/** The memory of a subscription beside what it shares with others. */
function subscriberBytes({ isAllowed, ...texts }: Subscriber): number {
  const { address, agent, app, clusters, consumerIp = '' } = texts
  let bytes = SUBSCRIPTION_BYTES + 2 * textBytes(address)
  for (const text of [agent, app, clusters, consumerIp]) bytes += textBytes(text)
  return isAllowed === undefined ? bytes : bytes + JUDGE_BYTES
}

function placeOf(subscriber: Subscriber): string {
  return `${subscriber.address} ${subscriber.port}`
}

function variantKey({ format, clusters }: Pick<Subscriber, 'format' | 'clusters'>): string {
  return `${format} ${clusters}`
}
