import type { Change } from '../../core/decisions/changes.ts'
import type { ChangeGroup, Snapshot, StoredSerials } from '../../core/engine/ports.ts'

const PER_WORD = 32

/** The serials that one commit saves, while nobody knows whether they are on disk. */
export type SentSerials = ReadonlySet<number>

/** The serials of services and instances that are, or may be, on disk. It follows the load and each commit. */
export class SerialsOnDisk implements StoredSerials {
  readonly #there = new SerialSet()
  /** Serials of the commits that are underway. */
  readonly #underway = new Set<SentSerials>()
  /** Serials of failed commits. A crash may find them, until the next commit is on disk. */
  readonly #doubtful = new Set<number>()

  /** Everything was read from the disk. */
  loaded({ services, instances }: Pick<Snapshot, 'services' | 'instances'>): void {
    this.#there.clear()
    for (const { serial } of services) this.#there.add(serial)
    for (const { record } of instances) this.#there.add(record.serial)
  }

  /**
   * A commit is sent: from now on its rows may be on disk. This also holds for rows on disk: an earlier pending commit may
   * delete them first.
   */
  sent(groups: readonly ChangeGroup[]): SentSerials {
    const serials = new Set<number>()
    for (const group of groups)
      for (const change of group) {
        const serial = savedSerial(change)
        if (serial !== undefined) serials.add(serial)
      }
    this.#underway.add(serials)
    return serials
  }

  /** The commit is on disk. It replaces the failed commits before it. */
  written(sent: SentSerials, groups: readonly ChangeGroup[]): void {
    this.#underway.delete(sent)
    this.#doubtful.clear()
    for (const group of groups)
      for (const change of group) {
        const serial = savedSerial(change)
        if (serial !== undefined) this.#there.add(serial)
        else if (change.kind === 'service-deleted' || change.kind === 'instance-removed')
          this.#there.delete(change.serial)
      }
  }

  /** The commit has failed. */
  failed(sent: SentSerials): void {
    this.#underway.delete(sent)
    for (const serial of sent) this.#doubtful.add(serial)
  }

  mayHave(serial: number): boolean {
    if (this.#there.has(serial) || this.#doubtful.has(serial)) return true
    for (const sent of this.#underway) if (sent.has(serial)) return true
    return false
  }

  surelyHas(serial: number): boolean {
    return this.#there.has(serial)
  }
}

/** The serial of the service or instance that a change saves. */
function savedSerial(change: Change): number | undefined {
  if (change.kind === 'service-saved') return change.service.serial
  return change.kind === 'instance-saved' ? change.record.serial : undefined
}

/** A set of serials in bits. Most serials are neighbours: a million take 2 MB here, 40 MB in a Set. */
class SerialSet {
  readonly #words = new Map<number, number>()

  has(serial: number): boolean {
    return ((this.#words.get(wordOf(serial)) ?? 0) & bitOf(serial)) !== 0
  }

  add(serial: number): void {
    this.#words.set(wordOf(serial), (this.#words.get(wordOf(serial)) ?? 0) | bitOf(serial))
  }

  delete(serial: number): void {
    const bits = (this.#words.get(wordOf(serial)) ?? 0) & ~bitOf(serial)
    if (bits === 0) this.#words.delete(wordOf(serial))
    else this.#words.set(wordOf(serial), bits)
  }

  clear(): void {
    this.#words.clear()
  }
}

function wordOf(serial: number): number {
  return Math.floor(serial / PER_WORD)
}

function bitOf(serial: number): number {
  return 1 << (serial % PER_WORD)
}
