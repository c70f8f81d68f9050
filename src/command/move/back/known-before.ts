import { createHash } from 'node:crypto'
import { isThing } from '../../../move/plan.ts'
import { type ComparedThing, comparedThing } from '../parity/compared-fields.ts'
import { readPlan } from '../plan-file.ts'
import type { GoingThing, TargetKind } from './what-goes-back.ts'

/** The things on a server when it was moved from, as digests: nobody there has changed a thing with the same digest. */
export class KnownBefore {
  readonly #kind: TargetKind
  readonly #digests = new Map<string, string>()

  private constructor(kind: TargetKind) {
    this.#kind = kind
  }

  /** Reads the plans of the move to here. For a thing in several plans the last plan counts. */
  static async of(files: readonly string[], kind: TargetKind): Promise<KnownBefore> {
    const known = new KnownBefore(kind)
    for (const file of files)
      for await (const { line } of readPlan(file)) {
        const thing = isThing(line) ? comparedThing(line, kind) : undefined
        if (thing !== undefined) known.#digests.set(keyOf(thing), digestOf(thing))
      }
    return known
  }

  /** Whether a thing of the server is as it was then. */
  has(thing: GoingThing): boolean {
    const compared = comparedThing(thing, this.#kind)
    return compared !== undefined && this.#digests.get(keyOf(compared)) === digestOf(compared)
  }
}

function keyOf({ kind, name }: ComparedThing): string {
  return `${kind} ${name}`
}

/** Leaves out the health, which probes find, and `ephemeral` of a service, which is known only while it has instances. */
function digestOf({ kind, fields }: ComparedThing): string {
  const { healthy: _health, ephemeral, ...rest } = fields
  const kept = kind === 'service' ? rest : { ...rest, ephemeral }
  return createHash('sha1').update(JSON.stringify(kept)).digest('base64')
}
