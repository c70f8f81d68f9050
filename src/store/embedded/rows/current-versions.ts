import { DamagedRow } from './row-reader.ts'
import type { SqliteConnection } from '../database/connection.ts'
import { readMeta, writeMeta } from './meta.ts'

/** An SQL expression for the newest revision of a name, shown or hidden; 0 without one. It probes the index twice. */
export function newestRevision(nameId: string): string {
  const newest = (hidden: 0 | 1) =>
    `ifnull((SELECT max(its.id) FROM config_revision AS its WHERE its.name_id = ${nameId} AND its.hidden = ${hidden}), 0)`
  return `max(${newest(0)}, ${newest(1)})`
}

/** The current version of the item of a name: one of its revisions. */
export interface CurrentVersion {
  readonly nameId: number
  readonly revisionId: number
}

/**
 * Sums that show the loss of an item's newest revision, from the table or from its index: no row points to it. One sum is of
 * the ids of the current revisions of all items, the other of numbers mixed from id and name. Every commit updates them.
 * After a loss of an item, or of its newest revision, the first sum is too large. The second sum shows which item it is, if
 * only one is lost.
 */
export class VersionSums {
  #ids = 0n
  #mixed = 0

  /** The sums of these items. */
  static of(items: Iterable<CurrentVersion>): VersionSums {
    const sums = new VersionSums()
    for (const { nameId, revisionId } of items) sums.move(nameId, 0, revisionId)
    return sums
  }

  /** The sums in a text of `toString`; undefined for other texts. */
  static parse(text: string): VersionSums | undefined {
    const [, ids, mixed] = /^(\d+) (\d+)$/.exec(text) ?? []
    if (ids === undefined || mixed === undefined) return undefined
    const sums = new VersionSums()
    sums.#ids = BigInt(ids)
    sums.#mixed = Number(mixed)
    return sums
  }

  /** A copy that changes independently. */
  copy(): VersionSums {
    const copy = new VersionSums()
    copy.#ids = this.#ids
    copy.#mixed = this.#mixed
    return copy
  }

  /** Records a new current revision of an item; 0 means no revision. */
  move(nameId: number, before: number, after: number): void {
    this.#ids += BigInt(after - before)
    this.#mixed = (this.#mixed + mixed(nameId, after) - mixed(nameId, before)) >>> 0
  }

  /** Whether both sums cover the same versions. */
  equals(other: VersionSums): boolean {
    return this.#ids === other.#ids && this.#mixed === other.#mixed
  }

  /** The item, with a later revision, that would make these sums; undefined if more than one item differs. */
  oneLater(items: Iterable<CurrentVersion>): CurrentVersion | undefined {
    const found = VersionSums.of(items)
    const by = Number(this.#ids - found.#ids)
    const apart = (this.#mixed - found.#mixed) >>> 0
    for (const { nameId, revisionId } of by > 0 ? items : []) {
      const later = revisionId + by
      if ((mixed(nameId, later) - mixed(nameId, revisionId)) >>> 0 === apart)
        return { nameId, revisionId: later }
    }
    return undefined
  }

  /** The text that `parse` reads. */
  toString(): string {
    return `${this.#ids} ${this.#mixed}`
  }
}

/** A number below 2^32 in which every bit depends on both; 0 for no revision. Ends with the last steps of MurmurHash3. */
function mixed(nameId: number, revisionId: number): number {
  if (revisionId === 0) return 0
  const high = Math.imul(Math.floor(revisionId / 2 ** 32), 0x27d4eb2f)
  let bits = Math.imul(nameId, 0x9e3779b1) ^ Math.imul(revisionId, 0xc2b2ae3d) ^ high
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
  return (bits ^ (bits >>> 16)) >>> 0
}

/** The sums of the rows in the tables; checksums are not verified. */
export function sumCurrentVersions(connection: SqliteConnection): VersionSums {
  const items = connection.all(`SELECT name_id, ${newestRevision('config_item.name_id')} FROM config_item`)
  return VersionSums.of(items.map(([nameId, id]) => ({ nameId: Number(nameId), revisionId: Number(id) })))
}

/** The sums as the last commit has written them. Throws `DamagedRow`. */
export function readVersionSums(connection: SqliteConnection): VersionSums {
  const text = readMeta(connection, 'current_versions')
  if (text === undefined) throw new DamagedRow('meta', 'current_versions', 'it is missing')
  const sums = VersionSums.parse(text)
  if (sums === undefined) throw new DamagedRow('meta', 'current_versions', 'it says no two sums')
  return sums
}

/** Writes the sums; the transaction is the caller's. */
export function writeVersionSums(connection: SqliteConnection, sums: VersionSums): void {
  writeMeta(connection, 'current_versions', sums.toString())
}

/** The newest versions in the tables are not the versions written last: such a loss must be noticed. */
export class LostVersions extends Error {
  constructor() {
    super(
      'The tables config_item and config_revision are damaged: the newest versions of items that are found there are not ' +
        'those that were written last. Run `waypost doctor` on the data directory, or put back a backup.',
    )
    this.name = 'LostVersions'
  }
}
