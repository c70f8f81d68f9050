import { identityOf, isSameIp } from '../../text/ip-address.ts'
import type { InstanceAddress } from '../state/instance.ts'
import type { InstancePlace } from '../state/presence.ts'
import type { ServiceKey } from '../state/service.ts'

/** How long a deregistration counts against beats that are late, ms: a beat interval and a reserve. */
export const GOODBYE_MS = 10_000
/** The most addresses that are remembered; the oldest are forgotten first. */
const MOST = 100_000
/** With fewer past ones than this, the queue is not cut. */
const FEWEST_PAST = 1_024
/** Random for each process, so that a client cannot choose addresses that all collide. */
const SEED = Math.trunc(Math.random() * 2 ** 32)

/** A place that an instance has left. */
interface PlaceLeft extends InstancePlace {
  /** How often its client beats, ms; undefined: as the switch says. */
  readonly intervalMs: number | undefined
}

interface Goodbye extends PlaceLeft {
  readonly untilMs: number
  /** Whether a late beat has come. */
  hasLateBeat: boolean
  /** Whether it has ended. */
  isOver: boolean
  /** The one noted before it with the same hash. */
  next: Goodbye | undefined
}

/** A beat that comes after a goodbye. `isFirst`: no other one has come. */
export interface LateBeat {
  readonly cluster: string
  /** How often its client beats, ms; undefined: as the switch says. */
  readonly intervalMs: number | undefined
  readonly isFirst: boolean
}

/** The address of a beat. Without a cluster, the address in any cluster is meant. */
export interface BeatingAddress {
  readonly serviceKey: ServiceKey
  readonly ip: string
  readonly port: number
  readonly cluster: string | undefined
}

/**
 * Addresses that were deregistered a moment ago by a client that beats. A beat of such a client may still be on its way,
 * and must not register what has said goodbye. Each server notes it when it applies the removal, and forgets it with a
 * restart: then beats must bring back what was lost. All times are health time. Addresses that silence has removed are
 * kept in the same way, for a longer time.
 */
export class Goodbyes {
  /** By a hash of service, ip and port. A text for each would cost more than the rest of a deregistration. */
  readonly #byHash = new Map<number, Goodbye>()
  /** In the order of their times, which all last equally long. */
  #queue: Goodbye[] = []
  #from = 0
  #size = 0

  readonly #lastMs: number

  /** `lastMs`: how long an address is known. */
  constructor(lastMs: number) {
    this.#lastMs = lastMs
  }

  get size(): number {
    return this.#size
  }

  /** A client that beats has deregistered this place. */
  note({ serviceKey, address }: InstancePlace, intervalMs: number | undefined, nowMs: number): void {
    this.#forgetPast(nowMs)
    const hash = hashOf(serviceKey, address)
    const next = this.#byHash.get(hash)
    const untilMs = nowMs + this.#lastMs
    const goodbye = { serviceKey, address, untilMs, intervalMs, hasLateBeat: false, isOver: false, next }
    this.#byHash.set(hash, goodbye)
    this.#queue.push(goodbye)
    this.#size++
    if (this.#queue.length - this.#from > MOST) this.#end(this.#queue[this.#from++]!)
  }

  /** A registration ends what was said before. */
  lift({ serviceKey, address }: InstancePlace): void {
    if (this.#size === 0) return
    const { ip, port, cluster } = address
    const source = { serviceKey, ip, port, cluster }
    for (let one = this.#find(source); one !== undefined; one = this.#find(source)) this.#end(one)
  }

  /** The place of an address, with the key object of the state or a copy of it. */
  known(source: BeatingAddress, nowMs: number): PlaceLeft | undefined {
    return this.#known(source, nowMs)
  }

  /** A beat has come. Undefined: it comes after no goodbye, or that does not count any more. */
  heard(source: BeatingAddress, nowMs: number): LateBeat | undefined {
    const goodbye = this.#known(source, nowMs)
    if (goodbye === undefined) return undefined
    const isFirst = !goodbye.hasLateBeat
    goodbye.hasLateBeat = true
    return { cluster: goodbye.address.cluster, intervalMs: goodbye.intervalMs, isFirst }
  }

  #known(source: BeatingAddress, nowMs: number): Goodbye | undefined {
    if (this.#size === 0) return undefined
    this.#forgetPast(nowMs)
    return this.#find(source)
  }

  /** The last goodbye of an address. */
  #find({ serviceKey, ip, port, cluster }: BeatingAddress): Goodbye | undefined {
    let one = this.#byHash.get(hashOf(serviceKey, { ip, port }))
    for (; one !== undefined; one = one.next) {
      const { address } = one
      const isThere =
        address.port === port && isSameIp(address.ip, ip) && isSameService(one.serviceKey, serviceKey)
      if (isThere && (cluster === undefined || cluster === address.cluster)) return one
    }
    return undefined
  }

  #forgetPast(nowMs: number): void {
    const queue = this.#queue
    while (this.#from < queue.length && queue[this.#from]!.untilMs <= nowMs) this.#end(queue[this.#from++]!)
    if (this.#from < FEWEST_PAST || this.#from * 2 < queue.length) return
    this.#queue = queue.slice(this.#from)
    this.#from = 0
  }

  #end(goodbye: Goodbye): void {
    if (goodbye.isOver) return
    goodbye.isOver = true
    this.#size--
    const hash = hashOf(goodbye.serviceKey, goodbye.address)
    let one = this.#byHash.get(hash)
    if (one === goodbye) {
      if (goodbye.next === undefined) this.#byHash.delete(hash)
      else this.#byHash.set(hash, goodbye.next)
      return
    }
    while (one !== undefined && one.next !== goodbye) one = one.next
    if (one !== undefined) one.next = goodbye.next
  }
}

function isSameService(a: ServiceKey, b: ServiceKey): boolean {
  return a === b || (a.groupedName === b.groupedName && a.namespaceId === b.namespaceId)
}

/** A small integer, which a Map finds fastest. */
function hashOf({ groupedName }: ServiceKey, { ip, port }: Pick<InstanceAddress, 'ip' | 'port'>): number {
  const text = identityOf(ip)
  let hash = SEED ^ port
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  for (let at = 0; at < groupedName.length; at++)
    hash = Math.imul(hash ^ groupedName.charCodeAt(at), 0x01000193)
  return (hash ^ (hash >>> 15)) & 0x3fffffff
}
