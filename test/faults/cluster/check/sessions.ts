import type { Operation } from '../load/recording.ts'

/** One version of a key in the order of all versions. `by`: its write; undefined: the key before all writes. */
export interface Version {
  readonly value: string | undefined
  readonly by: Operation | undefined
}

/**
 * The versions of an instance that only one client writes, one write after the other. A write whose outcome is unknown may
 * have happened at any time or never, so it has no place here.
 */
export function versionsOfOwned(operations: readonly Operation[], key: string): Version[] {
  const writes = operations.filter(
    (each) => each.key === key && (each.kind === 'register' || each.kind === 'deregister'),
  )
  const sure = writes.filter(({ outcome }) => outcome === 'ok').sort((a, b) => a.begunMs - b.begunMs)
  return [{ value: undefined, by: undefined }, ...sure.map((by) => ({ value: by.value, by }))]
}

/** The values seen of a key. */
interface Placed {
  readonly endedMs: number
  readonly place: number
  readonly text: string
}

/**
 * Reads of a key at one server that go back: behind a version that the same server has shown before, or behind a write that
 * it has acknowledged before. Other servers may be behind, so their reads are not compared with each other.
 */
export function readsThatGoBack(operations: readonly Operation[], key: string, versions: readonly Version[]) {
  const of = operations.filter((each) => each.key === key)
  const servers = new Set(of.map(({ server }) => server))
  const doubtful = of.filter(
    ({ outcome, kind }) => outcome === 'unknown' && kind !== 'read' && kind !== 'list',
  )
  return [...servers].flatMap((server) => {
    const here = of.filter((each) => each.server === server)
    return backwards(here, { versions, doubtful }).map((text) => `server ${server + 1}, ${key}: ${text}`)
  })
}

function backwards(
  here: readonly Operation[],
  { versions, doubtful }: { versions: readonly Version[]; doubtful: readonly Operation[] },
): string[] {
  const places = new Map(versions.map(({ by }, place) => [by?.id, place]))
  const known: Placed[] = here
    .filter(({ id, outcome }) => outcome === 'ok' && places.has(id))
    .map((write) => ({ endedMs: write.endedMs, place: places.get(write.id)!, text: write.id }))
  const reads = here
    .filter(({ kind, outcome }) => (kind === 'read' || kind === 'list') && outcome === 'ok')
    .sort((a, b) => a.begunMs - b.begunMs)
  const wrong: string[] = []
  const bound = new Bound(known)
  for (const read of reads) {
    const least = bound.at(read.begunMs)
    if (doubtful.some(({ value, begunMs }) => value === read.seen && begunMs < read.endedMs)) continue
    const place = versions.findIndex(({ value }, at) => at >= least.place && value === read.seen)
    if (place < 0) wrong.push(`${read.id} saw ${read.seen}, after ${least.text}`)
    else bound.add({ endedMs: read.endedMs, place, text: `${read.id} saw ${read.seen}` })
  }
  return wrong
}

const FIRST: Placed = { endedMs: -Infinity, place: 0, text: 'the beginning' }

/** The latest place that was known at a time. Times are asked for in their order. */
class Bound {
  #waiting: Placed[]
  #latest = FIRST

  constructor(known: readonly Placed[]) {
    this.#waiting = [...known]
  }

  add(placed: Placed): void {
    this.#waiting.push(placed)
  }

  at(ms: number): Placed {
    const left: Placed[] = []
    for (const placed of this.#waiting) {
      if (placed.endedMs >= ms) left.push(placed)
      else if (placed.place > this.#latest.place) this.#latest = placed
    }
    this.#waiting = left
    return this.#latest
  }
}
