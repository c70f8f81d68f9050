import type { Connection } from './connection.ts'
import { InstanceIndex } from './instance-index.ts'
import {
  GONE,
  goneLine,
  HEALTH,
  healthOf,
  isSaved,
  type Line,
  linesIn,
  PERSISTENT,
  withHealth,
} from './instance-lines.ts'
import { InstancePacks, missingPacks, type Pack, ROW_BYTES, sizeOf, weightOf } from './instance-packs.ts'
import { LineRuns } from './line-runs.ts'
import { newestLines } from './newest-lines.ts'
import { sqliteCodeOf, StoreFailure } from './store-errors.ts'
import { DamagedRow } from './tables.ts'

/** Bytes of lines in a pack, unless a single line is longer: as a row it fills a page of the file. */
const PACK_BYTES = 8_100
/** So many times as many bytes as the lines of the instances there are take are kept, and some more; then old packs go. */
const KEPT = 3
const SPARE_BYTES = 2 ** 21
/** Bytes of old packs that are taken away for each new byte, at most: what commits do beside their own stays in proportion. */
const CLEANED_PER_BYTE = 4
/** They go so many at a time, */
const CLEANED_AT_ONCE = 16
/** and not before so many bytes may go: as many as such packs have when they are full. */
const LEAST_CLEANED = CLEANED_AT_ONCE * 8_192
/** So many commits pass before old packs are looked at again after they could not be read. */
const PAUSE = 1_000

/**
 * The log of changes of instances (decision 0015): lines (`instance-lines.ts`) in packs. The newest line of an instance
 * counts. What is superseded goes as more is written: the oldest packs are taken away, and the lines of theirs that still
 * count are written again at the end. What is written is the caller's transaction, between `begin` and, where that
 * fails, `undo`.
 */
export class InstanceLog {
  readonly #connection: Connection
  readonly #packs: InstancePacks
  readonly #spareBytes: number
  /** Made by the first reading of the log. */
  #index: InstanceIndex | undefined
  /** The lines of the next pack. */
  #pending = new LineRuns()
  /** Packs from this number on may not be in the database yet. */
  #firstUnwritten = 0
  /** How many bytes of old packs may go. */
  #owed = 0
  readonly #onDamage: (damage: Error) => void
  #isDamaged = false
  /** So many times more nothing is cleaned. */
  #paused = 0
  /** Why the log cannot be read. */
  #unreadable: StoreFailure | undefined

  /**
   * `onDamage` is told once when a pack is not as it was written: the next start refuses that. `spareBytes` is how much
   * that is superseded is let be where there is little.
   */
  constructor(
    connection: Connection,
    onDamage: (damage: Error) => void = () => {},
    spareBytes = SPARE_BYTES,
  ) {
    this.#connection = connection
    this.#packs = new InstancePacks(connection)
    this.#onDamage = onDamage
    this.#spareBytes = spareBytes
  }

  /** What is written from here on can be undone. */
  begin(): void {
    this.#index?.begin()
  }

  /** Forgets what was written since `begin`: its transaction has failed. */
  undo(): void {
    this.#packs.reset()
    this.#pending = new LineRuns()
    this.#firstUnwritten = 0
    this.#index?.undo()
  }

  /** Writes lines of any kind, in their order. Throws `StoreFailure` where the log cannot be read. */
  append(text: string): void {
    if (text === '') return
    const index = this.#read()
    const [firstNew, bytesBefore] = [index.nextPack, index.bytes]
    for (const line of linesIn(Buffer.from(text))) this.#append(line, index)
    this.#flush(index)
    this.#owed = Math.min(this.#owed, LEAST_CLEANED) + CLEANED_PER_BYTE * (index.bytes - bytesBefore)
    this.#clean(firstNew, index)
    this.#flush(index)
  }

  /** Removes instances, in a transaction of its own. */
  remove(serials: readonly number[]): void {
    // A start writes nothing where there is nothing to write.
    if (serials.length === 0) return
    this.begin()
    try {
      this.#connection.transaction(() => this.append(serials.map(goneLine).join('')))
    } catch (error) {
      this.undo()
      throw error
    }
  }

  /** The newest lines of all instances there are, in no order. Throws `DamagedRow`. */
  *load(): Generator<readonly Line[]> {
    const index = new InstanceIndex()
    yield* newestLines(this.#packs, index)
    this.#index = index
  }

  /** Reads the log where nothing of it is known, as after a crash of the store's thread. */
  #read(): InstanceIndex {
    if (this.#unreadable !== undefined) throw this.#unreadable
    try {
      if (this.#index === undefined) for (const _ of this.load());
    } catch (error) {
      if (!(error instanceof DamagedRow)) throw error
      this.#unreadable = new StoreFailure(`The store is not available: ${error.message}`, { reopen: false })
      throw this.#unreadable
    }
    if (this.#index === undefined) throw new Error('The instance log was not read to its end')
    return this.#index
  }

  #append(line: Line, index: InstanceIndex): void {
    if (line.kind === HEALTH) this.#appendHealth(line, index)
    else if (line.kind !== GONE && healthOf(line) === undefined) this.#appendHealthKept(line, index)
    else this.#put(line, index)
  }

  /** All but the health is as it was. */
  #appendHealth(line: Line, index: InstanceIndex): void {
    const before = this.#newest(line.serial, index)
    if (before !== undefined) this.#put(withHealth(before, healthOf(line) === true), index)
  }

  /** The health alone is as it was. One whose health was never said counts as healthy, as a new one does. */
  #appendHealthKept(line: Line, index: InstanceIndex): void {
    const before = this.#newest(line.serial, index)
    this.#put(withHealth(line, before === undefined || healthOf(before) === true), index)
  }

  #newest(serial: number, index: InstanceIndex): Line | undefined {
    const id = index.packOf(serial)
    if (id === undefined) return undefined
    // Rare: what is written behind comes whole.
    if (id >= this.#firstUnwritten) this.#flush(index)
    const pack = this.#sound(() => this.#packs.find(id))
    return pack?.lines.findLast((line) => line.serial === serial)
  }

  /**
   * Takes a whole line into the next pack. A pack has at most one line that says that an instance is there, and none
   * behind that by which it is gone; one that is persistent is alone in its pack, so that damage takes no other one along.
   */
  #put(line: Line, index: InstanceIndex): void {
    const isTwice = index.packOf(line.serial) === index.nextPack
    const isAlone = line.kind === PERSISTENT
    const length = line.end - line.start
    if (isTwice || isAlone || this.#pending.length + length > PACK_BYTES) this.#endPack(index)
    this.#pending.add(line)
    if (isSaved(line)) index.set(line.serial, index.nextPack, weightOf(line))
    else index.delete(line.serial)
    if (isAlone) this.#endPack(index)
  }

  #endPack(index: InstanceIndex): void {
    if (this.#pending.length === 0) return
    this.#packs.add(index.nextPack, this.#pending.joined())
    index.bytes += this.#pending.length + ROW_BYTES
    index.nextPack++
    this.#pending = new LineRuns()
  }

  #flush(index: InstanceIndex): void {
    this.#endPack(index)
    this.#packs.flush()
    this.#firstUnwritten = index.nextPack
  }

  /** Takes old packs away while too much is superseded; none of `firstNew` and later ones. */
  #clean(firstNew: number, index: InstanceIndex): void {
    while (this.#owed >= LEAST_CLEANED && index.bytes > KEPT * index.liveBytes + this.#spareBytes) {
      const packs = this.#oldest(firstNew, index)
      const last = packs.at(-1)
      if (last === undefined) return
      for (const pack of packs) this.#move(pack, index)
      this.#packs.removeUpTo(last.id)
      index.firstPack = last.id + 1
    }
  }

  /** The packs that go next. None once there is damage: the next start says so and refuses, and until then no more of it is lost. */
  #oldest(before: number, index: InstanceIndex): Pack[] {
    if (this.#isDamaged || this.#paused-- > 0) return []
    // Where the disk cannot be read the commit fails; when it is tried again it must not read here.
    this.#paused = PAUSE
    const found = this.#sound(() => {
      const packs = this.#packs.oldest(before, CLEANED_AT_ONCE)
      for (const [at, { id }] of packs.entries())
        if (id !== index.firstPack + at) throw missingPacks(index.firstPack + at - 1, id)
      return packs
    })
    this.#paused = 0
    return found ?? []
  }

  /** What was read; undefined where it is damaged: then a commit of many does not fail for one. */
  #sound<T>(read: () => T): T | undefined {
    try {
      return read()
    } catch (error) {
      if (!isDamage(error)) throw error
      if (!this.#isDamaged) this.#onDamage(error)
      this.#isDamaged = true
      return undefined
    }
  }

  /** Writes again what still counts of a pack that is about to go. What it removed has gone before it. */
  #move({ id, lines }: Pack, index: InstanceIndex): void {
    for (const line of lines) if (isSaved(line) && index.packOf(line.serial) === id) this.#put(line, index)
    const size = sizeOf(lines)
    index.bytes -= size
    this.#owed -= size
  }
}

function isDamage(error: unknown): error is Error {
  return error instanceof DamagedRow || sqliteCodeOf(error)?.startsWith('SQLITE_CORRUPT') === true
}
