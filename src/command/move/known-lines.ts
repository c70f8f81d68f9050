import { createHash } from 'node:crypto'
import { isThing, itemName, nameOf, type PlanItem, type PlanThing } from '../../move/plan.ts'
import { checkedLine } from '../../move/read-plan.ts'
import { readPlan } from './plan-file.ts'
import type { EarlierPlan } from './reading.ts'

/** The things that an earlier plan has, as digests: a second plan has only what changed since. */
export class KnownLines implements EarlierPlan {
  readonly #digests = new Set<string>()
  readonly #records = new Set<string>()
  #left = 0

  /** Reads an earlier plan; without one nothing is known. */
  static async of(file: string | undefined): Promise<KnownLines> {
    const known = new KnownLines()
    if (file !== undefined) for await (const { line } of readPlan(file)) if (isThing(line)) known.#note(line)
    return known
  }

  /** The lines that were left out. */
  get left(): number {
    return this.#left
  }

  hasRecord(item: PlanItem, oldId: string): boolean {
    return this.#records.has(`${itemName(item)} ${oldId}`)
  }

  /** Whether the earlier plan has this very thing; it is counted then. */
  leavesOut(thing: PlanThing): boolean {
    if (this.#digests.size === 0) return false
    const isKnown = this.#digests.has(digestOf(inOrderOfFields(thing)))
    if (isKnown) this.#left++
    return isKnown
  }

  #note(thing: PlanThing): void {
    this.#digests.add(digestOf(thing))
    if (thing.kind === 'history') this.#records.add(nameOf(thing))
  }
}

/** A persistent instance is the same, whenever it was read. */
function digestOf(thing: PlanThing): string {
  const same = thing.kind === 'instance' && !thing.ephemeral ? { ...thing, seenMs: 0 } : thing
  return createHash('sha1').update(JSON.stringify(same)).digest('base64')
}

/** As a plan would be read: with the fields in the order of the format. What no plan can have is not known. */
function inOrderOfFields(thing: PlanThing): PlanThing {
  try {
    return checkedLine(thing) as PlanThing
  } catch {
    return thing
  }
}
