/** A pack and the bytes of a line in one number: a Map of such takes less than one of objects. */
const LENGTHS = 2 ** 20

/**
 * In which pack of the instance log the newest line of each instance stands; of those that are there. What a
 * transaction notes in it is undone when that fails.
 */
export class InstanceIndex {
  readonly #places = new Map<number, number>()
  /** What was before, for each change since `begin`. */
  readonly #changed: number[] = []
  readonly #placesBefore: (number | undefined)[] = []
  #before = { bytes: 0, firstPack: 1, nextPack: 1 }
  #liveBytes = 0
  /** How large the log is; see `sizeOfPack`. */
  bytes = 0
  /** The number of the oldest pack, or of the next where there is none. Packs are numbered without a gap. */
  firstPack = 1
  /** The number that the next pack gets. */
  nextPack = 1

  /** How many bytes the lines of instances that are there take. */
  get liveBytes(): number {
    return this.#liveBytes
  }

  /** The pack with the newest line of an instance; undefined where that is gone. */
  packOf(serial: number): number | undefined {
    const place = this.#places.get(serial)
    return place === undefined ? undefined : Math.floor(place / LENGTHS)
  }

  /** The newest line of an instance stands there, and takes so many bytes; of more than a million not all are counted. */
  set(serial: number, pack: number, bytes: number): void {
    this.#note(serial)
    this.#place(serial, pack * LENGTHS + Math.min(bytes, LENGTHS - 1))
  }

  /** An instance is gone. */
  delete(serial: number): void {
    this.#note(serial)
    this.#place(serial, undefined)
  }

  /** What is noted from here on is kept, unless `undo` is called before the next `begin`. */
  begin(): void {
    this.#changed.length = 0
    this.#placesBefore.length = 0
    this.#before = { bytes: this.bytes, firstPack: this.firstPack, nextPack: this.nextPack }
  }

  /** Takes back what was noted since `begin`. */
  undo(): void {
    for (let at = this.#changed.length - 1; at >= 0; at--)
      this.#place(this.#changed[at] ?? 0, this.#placesBefore[at])
    this.bytes = this.#before.bytes
    this.firstPack = this.#before.firstPack
    this.nextPack = this.#before.nextPack
    this.begin()
  }

  #note(serial: number): void {
    this.#changed.push(serial)
    this.#placesBefore.push(this.#places.get(serial))
  }

  #place(serial: number, place: number | undefined): void {
    this.#liveBytes += ((place ?? 0) % LENGTHS) - ((this.#places.get(serial) ?? 0) % LENGTHS)
    if (place === undefined) this.#places.delete(serial)
    else this.#places.set(serial, place)
  }
}
