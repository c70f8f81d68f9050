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
import { InstancePacks, type Pack } from './instance-packs.ts'
import { LineRuns } from './line-runs.ts'
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
/** and not before there is work for that. */
const LEAST_CLEANED = 16 * 8_192
/** What a row costs beside its lines, in bytes: reading and removing many small ones is the more work. */
const ROW_BYTES = 200

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
  readonly #onDamage: (damage: DamagedRow) => void
  #isDamaged = false

  /**
   * `onDamage` is told once when a pack is not as it was written: the next start refuses that. `spareBytes` is how much
   * that is superseded is let be where there is little.
   */
  constructor(
    connection: Connection,
    onDamage: (damage: DamagedRow) => void = () => {},
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

  /** Writes lines of any kind, in their order. Throws `DamagedRow`. */
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

  /** The newest lines of all instances there are, those of a pack together, the newest pack first. Throws `DamagedRow`. */
  *load(): Generator<readonly Line[]> {
    const index = new InstanceIndex()
    const gone = new Set<number>()
    let oldest = 0
    for (const { id, lines } of this.#packs.newestFirst()) {
      if (index.bytes === 0) index.nextPack = id + 1
      else if (id !== oldest - 1) throw missingPacks(id, oldest)
      oldest = id
      index.bytes += sizeOf(lines)
      const newest = lines.toReversed().filter((line) => isNewest(line, { index, gone, pack: id }))
      index.begin()
      if (newest.length > 0) yield newest.reverse()
    }
    this.#index = index
  }

  #read(): InstanceIndex {
    if (this.#index === undefined) for (const _ of this.load());
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
    if (id >= this.#firstUnwritten) this.#flush(index)
    const pack = this.#sound(() => this.#packs.find(id))
    return pack?.lines.findLast((line) => line.serial === serial)
  }

  /**
   * Takes a whole line into the next pack. Only one in a pack says that an instance is there; and one that is persistent
   * is alone in its pack, so that damage takes no other one along.
   */
  #put(line: Line, index: InstanceIndex): void {
    const isTwice = index.packOf(line.serial) === index.nextPack
    const isAlone = line.kind === PERSISTENT
    const length = line.end - line.start
    if (isTwice || isAlone || this.#pending.length + length > PACK_BYTES) this.#endPack(index)
    this.#pending.add(line)
    if (isSaved(line)) index.set(line.serial, index.nextPack, length)
    else index.delete(line.serial)
    if (isAlone) this.#endPack(index)
  }

  #endPack(index: InstanceIndex): void {
    if (this.#pending.count === 0) return
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
      const packs = this.#oldest(firstNew)
      const last = packs.at(-1)
      if (last === undefined) return
      for (const pack of packs) this.#move(pack, index)
      this.#packs.removeUpTo(last.id)
    }
  }

  #oldest(before: number): Pack[] {
    // Nothing goes once there is damage: the next start says so and refuses, and until then no more of it is lost.
    return this.#isDamaged ? [] : (this.#sound(() => this.#packs.oldest(before, CLEANED_AT_ONCE)) ?? [])
  }

  /** What was read; undefined where it is damaged: then a commit of many does not fail for one. */
  #sound<T>(read: () => T): T | undefined {
    try {
      return read()
    } catch (error) {
      if (!(error instanceof DamagedRow)) throw error
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

/** Packs are numbered without a gap. */
function missingPacks(below: number, above: number): DamagedRow {
  const [first, last] = [below + 1, above - 1]
  const problem = first === last ? 'it is missing' : `it is missing, and all after it up to ${last}`
  return new DamagedRow('instance', String(first), problem)
}

/** What a pack of lines takes, in bytes. */
function sizeOf(lines: readonly Line[]): number {
  return lines.reduce((bytes, { start, end }) => bytes + end - start, ROW_BYTES)
}

interface Reading {
  readonly index: InstanceIndex
  /** Those that a later line says are gone. */
  readonly gone: Set<number>
  readonly pack: number
}

/** Whether a line is the newest of an instance that is there; of lines that are read from the newest on. */
function isNewest(line: Line, { index, gone, pack }: Reading): boolean {
  if (gone.has(line.serial) || index.packOf(line.serial) !== undefined) return false
  if (isSaved(line)) index.set(line.serial, pack, line.end - line.start)
  else gone.add(line.serial)
  return isSaved(line)
}
