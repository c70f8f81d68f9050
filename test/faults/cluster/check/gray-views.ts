import type { Operation } from '../load/recording.ts'
import type { Version } from './sessions.ts'

/** How far both versions of an item are: the place of each in its own order. */
interface Cut {
  readonly formal: number
  readonly gray: number
}

/** The views of an item for clients with the tag, by how far its versions are. No value is written twice, but by a promotion. */
export class Views {
  readonly #formal: readonly Version[]
  readonly #gray: readonly Version[]
  /** By the ids of writes. */
  readonly #places = new Map<string, Cut>()
  /** The first place of the formal version that fits to a place of the gray one, and the first one after these. */
  readonly #fitting: readonly { readonly first: number; readonly end: number }[]

  constructor(formal: readonly Version[], gray: readonly Version[]) {
    this.#formal = formal
    this.#gray = gray
    for (const [place, { by }] of formal.entries())
      if (by !== undefined) this.#places.set(by.id, { formal: place, gray: 0 })
    for (const [place, { by }] of gray.entries())
      if (by !== undefined)
        this.#places.set(by.id, { formal: this.#places.get(by.id)?.formal ?? 0, gray: place })
    // Promotions and deletions that have changed both at once.
    const joint = [...this.#places.values()].filter((cut) => cut.formal > 0 && cut.gray > 0)
    this.#fitting = gray.map((_, place) => {
      const begun = joint.filter((cut) => cut.gray <= place)
      const ahead = joint.filter((cut) => cut.gray > place)
      return {
        first: Math.max(0, ...begun.map((cut) => cut.formal)),
        end: Math.min(formal.length, ...ahead.map((cut) => cut.formal)),
      }
    })
  }

  /** Where both are at least after a write; undefined: it has no record. */
  after(id: string): Cut | undefined {
    return this.#places.get(id)
  }

  /** The earliest cuts, not before this one, in which a client with the tag sees the value: as the gray version, or as the formal one. */
  showing(value: string | undefined, from: Cut): Cut[] {
    const own = value === undefined ? undefined : this.#withGray(value, from)
    const formal = this.#withFormal(value, from)
    return earliest([own, formal].filter((cut) => cut !== undefined))
  }

  #withGray(value: string, from: Cut): Cut | undefined {
    const gray = this.#gray.findIndex((version, place) => place >= from.gray && version.value === value)
    if (gray === -1) return undefined
    const { first, end } = this.#fitting[gray]!
    const formal = Math.max(from.formal, first)
    return formal < end ? { formal, gray } : undefined
  }

  #withFormal(value: string | undefined, from: Cut): Cut | undefined {
    for (let gray = from.gray; gray < this.#gray.length; gray++) {
      if (this.#gray[gray]!.value !== undefined) continue
      const { first, end } = this.#fitting[gray]!
      for (let formal = Math.max(from.formal, first); formal < end; formal++)
        if (this.#formal[formal]!.value === value) return { formal, gray }
    }
    return undefined
  }
}

function isBefore(one: Cut, other: Cut): boolean {
  return one.formal <= other.formal && one.gray <= other.gray
}

/**
 * Reads with the tag at one server that go back: behind what the same server has shown before, or behind a write that it has acknowledged
 * before.
 */
export function viewsThatGoBack(operations: readonly Operation[], views: Views): string[] {
  const servers = new Set(operations.map(({ server }) => server))
  return [...servers].flatMap((server) => {
    const here = operations.filter((each) => each.server === server)
    return backwards(here, views).map((text) => `server ${server + 1}, with the tag: ${text}`)
  })
}

function backwards(here: readonly Operation[], views: Views): string[] {
  const wrong: string[] = []
  const writes = here.filter(({ kind, outcome }) => kind !== 'read' && outcome === 'ok')
  const reads = here.filter(({ kind, outcome }) => kind === 'read' && outcome === 'ok')
  const bounds = new Bounds(writes.flatMap((write) => boundOf(views.after(write.id), write)))
  for (const read of reads.sort((a, b) => a.begunMs - b.begunMs)) {
    const cuts = bounds.at(read.begunMs).flatMap((cut) => views.showing(read.seen, cut))
    if (cuts.length === 0) wrong.push(`${read.id} saw ${read.seen}`)
    else bounds.add({ endedMs: read.endedMs, cuts })
  }
  return wrong
}

/** The server has shown one of these, or what is later. */
interface Bound {
  readonly endedMs: number
  readonly cuts: readonly Cut[]
}

function boundOf(cut: Cut | undefined, { endedMs }: Operation): Bound[] {
  return cut === undefined ? [] : [{ endedMs, cuts: [cut] }]
}

/** The latest views that a server has shown. Times are asked for in their order. */
class Bounds {
  #waiting: Bound[]
  #latest: readonly Cut[] = [{ formal: 0, gray: 0 }]

  constructor(known: readonly Bound[]) {
    this.#waiting = [...known]
  }

  add(bound: Bound): void {
    this.#waiting.push(bound)
  }

  at(ms: number): readonly Cut[] {
    const due = this.#waiting.filter(({ endedMs }) => endedMs < ms)
    this.#waiting = this.#waiting.filter(({ endedMs }) => endedMs >= ms)
    for (const { cuts } of due)
      this.#latest = earliest(this.#latest.flatMap((one) => cuts.map(latestOf(one))))
    return this.#latest
  }
}

const latestOf =
  (one: Cut) =>
  (other: Cut): Cut => ({ formal: Math.max(one.formal, other.formal), gray: Math.max(one.gray, other.gray) })

/** Without cuts that are behind another cut: a client that may see the later cut may see the earlier one. */
function earliest(cuts: readonly Cut[]): Cut[] {
  return cuts.filter(
    (cut, at) =>
      !cuts.some((one, other) => other !== at && isBefore(one, cut) && (!isBefore(cut, one) || other < at)),
  )
}
