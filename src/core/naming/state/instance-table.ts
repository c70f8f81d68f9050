import { identityOf, isSameIp } from '../../text/ip-address.ts'
import type { InstanceAddress, InstanceRecord } from './instance.ts'

/** The fields of an instance that the table reads. */
interface Addressed {
  readonly record: Pick<InstanceRecord, 'address' | 'serial'>
}

const FEWEST_SLOTS = 8
/** The share of slots that is used at most, so that a free one is near. */
const MOST_USED = 2 / 3
/** Free slots of a rebuilt table, so that it is rarely rebuilt. */
const SPARE = 1.25

/** A slot that leads nowhere; others hold a place, counted from 1. */
const FREE = 0

/** The table while none is needed. It is shared, because it is never written to but replaced. */
const NO_PLACES: undefined[] = []
const NO_SLOTS: number[] = [FREE]

/** Random for each process, so that a client cannot choose addresses that all collide. */
const SEED = Math.trunc(Math.random() * 2 ** 32)

/**
 * The instances of a service by address, in the order of their serials, which a restart keeps. It takes a third of the
 * memory of a Map from texts. A lookup hashes the parts of the address, without a text. A single instance needs no table.
 */
export class InstanceTable<T extends Addressed> {
  /** The only instance; undefined if there is none, or a table. */
  #alone: T | undefined
  /** The instances in order; undefined for a removed one, to which its slot still points. */
  #places: (T | undefined)[] = NO_PLACES
  #slots = NO_SLOTS
  /** Places that have been given away. */
  #used = 0
  #size = 0
  #largestSerial = 0
  /** False once an instance came after one with a larger serial: its registration waited for the disk. */
  #isInOrder = true

  get size(): number {
    return this.#size
  }

  get(address: InstanceAddress): T | undefined {
    const alone = this.#alone
    if (alone !== undefined) return isAt(alone, address) ? alone : undefined
    const place = this.#placeOf(address)
    return place === FREE ? undefined : this.#places[place - 1]
  }

  /** Adds an instance whose address is not in the table. */
  add(instance: T): void {
    const { serial } = instance.record
    if (serial < this.#largestSerial) this.#isInOrder = false
    else this.#largestSerial = serial
    if (this.#size === 0) this.#alone = instance
    else {
      if (this.#used === this.#places.length) this.#makeRoom()
      this.#put(instance)
    }
    this.#size++
  }

  /** Removes the instance at this address; false if there is no instance. */
  delete(address: InstanceAddress): boolean {
    if (this.get(address) === undefined) return false
    this.#size--
    if (this.#size === 0) this.#clear()
    else this.#places[this.#placeOf(address) - 1] = undefined
    return true
  }

  /** Iterates all instances. During the walk, do not add any; remove only those already returned. */
  values(): Generator<T> {
    if (!this.#isInOrder) this.#sort()
    return this.#stored()
  }

  *#stored(): Generator<T> {
    if (this.#alone !== undefined) yield this.#alone
    const places = this.#places
    for (let at = 0; at < this.#used; at++) {
      const instance = places[at]
      if (instance !== undefined) yield instance
    }
  }

  #clear(): void {
    this.#alone = undefined
    this.#places = NO_PLACES
    this.#slots = NO_SLOTS
    this.#used = 0
    this.#largestSerial = 0
    this.#isInOrder = true
  }

  #placeOf(address: InstanceAddress): number {
    const slots = this.#slots
    const mask = slots.length - 1
    for (let slot = hashOf(address) & mask; ; slot = (slot + 1) & mask) {
      const place = slots[slot]!
      if (place === FREE) return FREE
      const there = this.#places[place - 1]
      if (there !== undefined && isAt(there, address)) return place
    }
  }

  #put(instance: T): void {
    const slots = this.#slots
    const mask = slots.length - 1
    let slot = hashOf(instance.record.address) & mask
    while (slots[slot] !== FREE) slot = (slot + 1) & mask
    this.#places[this.#used++] = instance
    slots[slot] = this.#used
  }

  #makeRoom(): void {
    this.#rebuild([...this.#stored()])
  }

  #sort(): void {
    this.#isInOrder = true
    if (this.#alone === undefined)
      this.#rebuild([...this.#stored()].sort((a, b) => a.record.serial - b.record.serial))
  }

  #rebuild(there: readonly T[]): void {
    let slots = FEWEST_SLOTS
    while (Math.floor(slots * MOST_USED) < (this.#size + 1) * SPARE) slots *= 2
    this.#slots = Array.from({ length: slots }, () => FREE)
    this.#places = Array.from({ length: Math.floor(slots * MOST_USED) })
    this.#used = 0
    this.#alone = undefined
    for (const instance of there) this.#put(instance)
  }
}

function isAt({ record }: Addressed, { ip, port, cluster }: InstanceAddress): boolean {
  const { address } = record
  return address.port === port && address.cluster === cluster && isSameIp(address.ip, ip)
}

/** Without the cluster: an address is rarely in two clusters. */
function hashOf({ ip, port }: InstanceAddress): number {
  const text = identityOf(ip)
  let hash = SEED ^ port
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash ^ (hash >>> 15)
}
