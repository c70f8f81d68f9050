import { MAP_ENTRY_BYTES, textBytes } from '../../../core/memory/bytes-of.ts'
import type { NameRoom } from '../../../operations/watched-keys.ts'

/** How many names one message may have. */
export const BATCH = 100
/** A name is a text that was joined from others. */
const JOINED_TEXT_BYTES = 32
/** A message on its way without its names: the question, its promise and all that waits for it. */
const MESSAGE_BYTES = 2_300
/** The bytes that a name takes in the body of a message. */
const IN_MESSAGE_BYTES = 50

/** Names with their keys. A name that only the client knows has no key. */
export type KeysByName<Key> = ReadonlyMap<string, Key | undefined>

/** The memory of a name that waits. */
function nameBytes(name: string): number {
  return MAP_ENTRY_BYTES + JOINED_TEXT_BYTES + textBytes(name)
}

/** The memory of the message that is made of this number of names. `finishes`: there will be one without names, too. */
function messageBytes(names: number, finishes: boolean): number {
  return names === 0 && !finishes ? 0 : MESSAGE_BYTES + IN_MESSAGE_BYTES * Math.min(names, BATCH)
}

/**
 * The names that a client has still to receive, with those of the one message on its way. Clients make names up, so all count
 * as watched names of the client, until the client has acknowledged them.
 */
export class UnsentNames<Key> {
  readonly #room: NameRoom
  #unsent = new Map<string, Key | undefined>()
  #onTheirWay: KeysByName<Key> = new Map()
  /** How many names room was taken for. */
  #held = 0
  #isOver = false
  /** A last message without names is to come, or on its way. */
  #finishes = false

  constructor(room: NameRoom) {
    this.#room = room
  }

  /** How many wait, without those on their way. */
  get size(): number {
    return this.#unsent.size
  }

  /** Adds names, all or none; false: there is no room for them. */
  add(names: KeysByName<Key>): boolean {
    const added = [...names.keys()].filter((name) => !this.#unsent.has(name))
    if (!this.#hold(added)) return false
    for (const [name, key] of names) this.#unsent.set(name, key)
    return true
  }

  /** Takes room for the message that the client knows all names, until `finished`; false: there is none. */
  finishes(): boolean {
    const bytes = messageBytes(this.#held, true) - messageBytes(this.#held, false)
    if (!this.#room.take(0, bytes)) return false
    this.#finishes = true
    return true
  }

  /** That message has come to its end, or is not sent. */
  finished(): void {
    if (!this.#finishes) return
    this.#finishes = false
    this.#room.free(0, messageBytes(this.#held, true) - messageBytes(this.#held, false))
  }

  /** Takes names for a message. It is the only one until `answered`. */
  take(most: number): KeysByName<Key> {
    const taken = new Map<string, Key | undefined>()
    for (const [name, key] of this.#unsent) {
      if (taken.size === most) break
      taken.set(name, key)
      this.#unsent.delete(name)
    }
    this.#onTheirWay = taken
    return taken
  }

  /** The message has come to its end. Names that the client has not acknowledged wait again. */
  answered(isAcknowledged: boolean): void {
    const names = this.#onTheirWay
    this.#onTheirWay = new Map()
    const isForgotten = (name: string): boolean => isAcknowledged || this.#isOver || this.#unsent.has(name)
    this.#free([...names.keys()].filter(isForgotten))
    if (isAcknowledged || this.#isOver) return
    for (const [name, key] of names) if (!this.#unsent.has(name)) this.#unsent.set(name, key)
  }

  /** Forgets the names that wait. */
  clear(): void {
    this.#free([...this.#unsent.keys()])
    this.#unsent = new Map()
  }

  /** Forgets all; those on their way once their message has come to its end. */
  end(): void {
    this.#isOver = true
    this.finished()
    this.clear()
  }

  #hold(names: readonly string[]): boolean {
    const held = this.#held + names.length
    if (names.length > 0 && !this.#room.take(names.length, this.#bytesOf(names, this.#held))) return false
    this.#held = held
    return true
  }

  #free(names: readonly string[]): void {
    this.#held -= names.length
    if (names.length > 0) this.#room.free(names.length, this.#bytesOf(names, this.#held))
  }

  /** The memory of names beside this number of others. */
  #bytesOf(names: readonly string[], others: number): number {
    const inMessage =
      messageBytes(others + names.length, this.#finishes) - messageBytes(others, this.#finishes)
    return names.reduce((sum, name) => sum + nameBytes(name), inMessage)
  }
}
