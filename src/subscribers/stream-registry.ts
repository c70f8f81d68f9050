import type { StreamClient } from '../core/clients/stream-client.ts'
import { textBytes } from '../core/memory/bytes-of.ts'
import { ClientMemory, watchingOf } from '../core/memory/client-memory.ts'
import { serviceKeyText, type ServiceKey } from '../core/naming/state/service.ts'
import { Refusal } from '../core/refusal.ts'
import { contained, nothing } from '../core/unexpected.ts'
import { ClientTurns, type TurnPlace } from '../core/work/client-turns.ts'
import { variantBytes, WatchedService, watchedServiceBytes } from './service-watch.ts'

/** The most subscriptions of one connection, of all connections, and spellings of clusters of one service. */
export interface StreamLimits {
  readonly ofConnection: number
  readonly inAll: number
  readonly variantsOfService: number
}

/** A gateway subscribes to every service that there is; each subscription is a few hundred bytes. */
export const STREAM_LIMITS: StreamLimits = {
  ofConnection: 20_000,
  inAll: 1_000_000,
  variantsOfService: 256,
}

/** The objects of a subscription, and its places in tables. */
const SUBSCRIPTION_BYTES = 240
/** Decides whether its pushes are allowed; without the name of the service. */
const JUDGE_BYTES = 500

/** A client that wants a service, in its own spelling of the clusters. */
export interface SubscriptionRequest {
  readonly client: StreamClient
  /** The user, or the network of a client without one; absent: its address. */
  readonly owner?: string
  readonly key: ServiceKey
  readonly clusters: string
  /** Asked before each push; undefined: always. */
  readonly isAllowed?: (() => boolean) | undefined
}

/** A service that connections subscribe to. */
export class StreamedService extends WatchedService {
  readonly variants = new Map<string, StreamVariant>()

  /** Walks over all subscriptions; they may come and go meanwhile. */
  subscriptions(): Generator<StreamSubscription, void> {
    return subscriptionsOf(this.variants)
  }
}

function* subscriptionsOf(variants: ReadonlyMap<string, StreamVariant>): Generator<StreamSubscription, void> {
  for (const variant of variants.values()) yield* variant.subscriptions.values()
}

/** The subscriptions of a service with the same spelling of clusters: they get the same list. */
class StreamVariant {
  readonly service: StreamedService
  readonly clusters: string
  /** By the ids of connections. */
  readonly subscriptions = new Map<string, StreamSubscription>()

  constructor(service: StreamedService, clusters: string) {
    this.service = service
    this.clusters = clusters
  }

  /** The memory that its subscriptions share, while it has none: with its service, which has no other variant then. */
  get unsharedBytes(): number {
    if (this.subscriptions.size > 0) return 0
    const ofService = this.service.variants.size > 1 ? 0 : watchedServiceBytes(this.service.key)
    return ofService + variantBytes(this.clusters)
  }
}

/** One client's interest in one service. */
export class StreamSubscription {
  readonly variant: StreamVariant
  readonly of: ConnectionSubscriptions
  /** Its own memory. */
  readonly bytes: number
  isAllowed: (() => boolean) | undefined
  /** The version of the service that was sent last, or -1. */
  sentVersion = -1
  /** A list was sent, and its ack is awaited. */
  isInFlight = false
  /** It is in the queue for a push. */
  isQueued = false
  /** Pushes in a row without an ack. */
  failures = 0
  isOver = false

  constructor(variant: StreamVariant, of: ConnectionSubscriptions, request: SubscriptionRequest) {
    this.variant = variant
    this.of = of
    this.bytes = ownBytes(request)
    this.isAllowed = request.isAllowed
  }

  get client(): StreamClient {
    return this.of.client
  }
}

/** The subscriptions of one connection. */
export class ConnectionSubscriptions {
  readonly client: StreamClient
  /** Its place among the connections of its owner. */
  readonly place: TurnPlace<ConnectionSubscriptions>
  readonly all = new Set<StreamSubscription>()
  /** The size of the lists whose acks are awaited. */
  unackedBytes = 0
  /** The subscriptions that wait until some of these lists are acknowledged. */
  readonly waiting = new Set<StreamSubscription>()

  constructor(client: StreamClient, owner: string, turns: ClientTurns<ConnectionSubscriptions>) {
    this.client = client
    this.place = turns.add(owner, this)
  }
}

/** The subscriptions of connections, within limits, each until the connection unsubscribes or ends. */
export class StreamRegistry {
  readonly #limits: StreamLimits
  readonly #services = new Map<string, StreamedService>()
  readonly #connections = new Map<string, ConnectionSubscriptions>()
  readonly #turns = new ClientTurns<ConnectionSubscriptions>()
  readonly #watching = watchingOf(
    () => this.#turns.weights(),
    (owner) => this.#turns.heaviestOf(owner),
    (connection) => this.#giveWay(connection),
  )
  readonly #memory: ClientMemory
  #size = 0

  constructor(limits: StreamLimits, memory = new ClientMemory()) {
    this.#limits = limits
    this.#memory = memory
    memory.join(this.#watching)
  }

  get size(): number {
    return this.#size
  }

  /** How many subscriptions a connection has. */
  countOf(connectionId: string): number {
    return this.#connections.get(connectionId)?.all.size ?? 0
  }

  service(key: ServiceKey): StreamedService | undefined {
    return this.#services.size === 0 ? undefined : this.#services.get(serviceKeyText(key))
  }

  services(): Iterable<StreamedService> {
    return this.#services.values()
  }

  /** The subscription, which may be there already. Throws Refusal `too-many-subscriptions` where a limit is reached. */
  add(request: SubscriptionRequest): StreamSubscription {
    const there = this.#find(request)
    if (there === undefined) return this.#add(request)
    there.isAllowed = request.isAllowed
    return there
  }

  /** Ends the subscription in this spelling, if it exists. */
  remove(
    request: Pick<SubscriptionRequest, 'key' | 'clusters'> & { readonly client: { readonly id: string } },
  ): void {
    const subscription = this.#find(request)
    if (subscription !== undefined) this.#remove(subscription)
  }

  #find({
    client,
    key,
    clusters,
  }: Pick<SubscriptionRequest, 'key' | 'clusters'> & { client: { id: string } }) {
    return this.service(key)?.variants.get(clusters)?.subscriptions.get(client.id)
  }

  #add(request: SubscriptionRequest): StreamSubscription {
    const { client, key, clusters } = request
    const owner = request.owner ?? client.address
    this.#refuseBeyondLimit(owner, client.id)
    this.#refuseSpelling(key, clusters)
    const shared = watchedServiceBytes(key) + variantBytes(clusters)
    if (!this.#memory.takeFor(owner, 1, ownBytes(request) + shared))
      throw tooMany('The subscriptions of all clients take as much memory as they may.')
    // Only now: where others have given way, their services may be gone.
    const variant = this.#variantFor(key, clusters)
    this.#memory.free(shared - variant.unsharedBytes)
    const known = this.#connections.get(client.id)
    const connection = known ?? new ConnectionSubscriptions(client, owner, this.#turns)
    const subscription = new StreamSubscription(variant, connection, request)
    variant.subscriptions.set(client.id, subscription)
    connection.all.add(subscription)
    this.#turns.weigh(connection.place, 1)
    this.#size++
    if (known === undefined) {
      this.#connections.set(client.id, connection)
      client.onEnd(() => this.#leave(connection))
    }
    return subscription
  }

  /** Where all have as many as there may be, the client with the most gives way. */
  #refuseBeyondLimit(owner: string, connectionId: string): void {
    const { ofConnection, inAll } = this.#limits
    if (this.countOf(connectionId) >= ofConnection)
      throw tooMany(`This connection has ${ofConnection} subscriptions: no more are allowed.`)
    while (this.#size >= inAll)
      if (!this.#memory.makeRoom(owner, 1, [this.#watching]))
        throw tooMany(`There are ${inAll} subscriptions: no more are allowed.`)
  }

  #giveWay(connection: ConnectionSubscriptions): void {
    this.#leave(connection)
    contained('push', nothing, () => connection.client.end('gave-way'))
  }

  #refuseSpelling(key: ServiceKey, clusters: string): void {
    const variants = this.service(key)?.variants
    const { variantsOfService } = this.#limits
    if (variants !== undefined && variants.size >= variantsOfService && !variants.has(clusters))
      throw tooMany(`The service has subscribers with ${variantsOfService} spellings of clusters.`)
  }

  #variantFor(key: ServiceKey, clusters: string): StreamVariant {
    const keyText = serviceKeyText(key)
    const service = this.#services.get(keyText) ?? new StreamedService(key)
    const there = service.variants.get(clusters)
    if (there !== undefined) return there
    const variant = new StreamVariant(service, clusters)
    service.variants.set(clusters, variant)
    this.#services.set(keyText, service)
    return variant
  }

  #leave({ client, all, place }: ConnectionSubscriptions): void {
    this.#connections.delete(client.id)
    this.#turns.leave(place)
    for (const subscription of all) this.#remove(subscription)
  }

  #remove(subscription: StreamSubscription): void {
    const { variant, of, client } = subscription
    subscription.isOver = true
    of.all.delete(subscription)
    this.#turns.weigh(of.place, -1)
    of.waiting.delete(subscription)
    variant.subscriptions.delete(client.id)
    this.#memory.free(subscription.bytes + variant.unsharedBytes)
    this.#forgetUnused(variant)
    this.#size--
  }

  #forgetUnused({ service, clusters, subscriptions }: StreamVariant): void {
    if (subscriptions.size === 0) service.variants.delete(clusters)
    if (service.variants.size === 0) this.#services.delete(serviceKeyText(service.key))
  }
}

/** The memory of a subscription beside what it shares with others. */
function ownBytes({ key, isAllowed }: SubscriptionRequest): number {
  return SUBSCRIPTION_BYTES + (isAllowed === undefined ? 0 : JUDGE_BYTES + textBytes(key.groupedName))
}

function tooMany(message: string): Refusal {
  return new Refusal('too-many-subscriptions', message)
}
