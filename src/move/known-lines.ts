import { createHash } from 'node:crypto'
import {
  isThing,
  itemName,
  nameOf,
  type PlanItem,
  type PlanLine,
  type PlanNote,
  type PlanSource,
  type PlanThing,
} from '../plan/plan.ts'
import { checkedLine } from '../plan/read-plan.ts'
import { readPlan } from './plan-file.ts'
import type { EarlierPlan } from './reading.ts'

/** The things of an earlier plan, as digests: a second plan has only later changes. */
export class KnownLines implements EarlierPlan {
  readonly #digests = new Set<string>()
  readonly #records = new Set<string>()
  #sources: readonly string[] = []
  #isSameSource = true
  #left = 0

  /** Reads an earlier plan; without a plan nothing is known. */
  static async of(file: string | undefined): Promise<KnownLines> {
    const known = new KnownLines()
    if (file !== undefined) for await (const { line } of readPlan(file)) known.#note(line)
    return known
  }

  /**
   * Notes the sources that are read now. Ids of records belong to one source: another source has other records with the
   * same ids, and they would be left out. Returns the note that all records are read.
   */
  readFrom(sources: readonly PlanSource[]): PlanNote[] {
    if (this.#records.size === 0 || sources.some(({ url }) => this.#sources.includes(url))) return []
    this.#isSameSource = false
    const earlier = this.#sources.join(', ') || 'an unknown source'
    const reason = `the earlier plan is of ${earlier}: its records do not count as read, and all are read`
    return [{ kind: 'remark', about: 'history', name: 'all records', reason }]
  }

  /** The lines that were left out. */
  get left(): number {
    return this.#left
  }

  hasRecord(item: PlanItem, oldId: string): boolean {
    return this.#isSameSource && this.#records.has(`${itemName(item)} ${oldId}`)
  }

  /** Whether the earlier plan has exactly this thing; counts it then. */
  leavesOut(thing: PlanThing): boolean {
    if (this.#digests.size === 0) return false
    const isKnown = this.#digests.has(digestOf(inOrderOfFields(thing)))
    if (isKnown) this.#left++
    return isKnown
  }

  #note(line: PlanLine): void {
    if (line.kind === 'plan') this.#sources = line.sources.map(({ url }) => url)
    if (!isThing(line)) return
    this.#digests.add(digestOf(line))
    if (line.kind === 'history') this.#records.add(nameOf(line))
  }
}

/** A persistent instance is the same at any time of reading. */
function digestOf(thing: PlanThing): string {
  const same = thing.kind === 'instance' && !thing.ephemeral ? { ...thing, seenMs: 0 } : thing
  return createHash('sha1').update(JSON.stringify(same)).digest('base64')
}

/** The thing as it would be read from a plan: with the fields in the order of the format. */
function inOrderOfFields(thing: PlanThing): PlanThing {
  try {
    return checkedLine(thing) as PlanThing
  } catch {
    return thing
  }
}
