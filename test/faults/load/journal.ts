/** The kinds of things whose loss is looked for. */
export type Kind = 'config' | 'namespace' | 'service' | 'persistent' | 'ephemeral' | 'metadata' | 'switch'

/** One write, from its request to what became of it. Times are those of `performance.now()`. */
export interface Write {
  /** What the thing is after the write; undefined: gone. */
  readonly value: string | undefined
  readonly begunMs: number
  endedMs: number
  /** `unknown`: no answer came, or one that leaves open whether it is kept. */
  outcome: 'unknown' | 'acknowledged'
}

/** All that was done to one thing, by its only writer, oldest first. */
export interface Thing {
  readonly kind: Kind
  readonly name: string
  readonly writes: Write[]
}

/**
 * What the clients of a run were told. Each thing has one writer that waits for its answers, so what may be
 * there after a crash is the last acknowledged value, or one of the writes after it whose outcome is unknown.
 */
export class Journal {
  readonly #things = new Map<string, Thing>()
  acknowledged = 0
  unknown = 0

  /** The things of a kind that were ever written, or of all kinds. */
  things(kind?: Kind): Thing[] {
    const all = [...this.#things.values()]
    return kind === undefined ? all : all.filter((thing) => thing.kind === kind)
  }

  /** Notes a write before it is sent. */
  begin(kind: Kind, name: string, value: string | undefined): Write {
    const write: Write = { value, begunMs: performance.now(), endedMs: Infinity, outcome: 'unknown' }
    this.#thing(kind, name).writes.push(write)
    this.unknown++
    return write
  }

  /** Notes that the server said yes. */
  acknowledge(write: Write): void {
    write.endedMs = performance.now()
    write.outcome = 'acknowledged'
    this.acknowledged++
    this.unknown--
  }

  /** Takes what was found as the truth from here on: unknown writes have been lost or kept for good. */
  settle(thing: Thing, found: string | undefined): void {
    const kept = thing.writes.findLastIndex((write) => write.value === found)
    const last = lastAcknowledged(thing)
    const settled = thing.writes.filter(
      (write, at) => write.outcome === 'acknowledged' || (at === kept && at > last),
    )
    for (const write of settled) write.outcome = 'acknowledged'
    thing.writes.splice(0, thing.writes.length, ...settled)
  }

  /** Forgets things that need not be looked at again. */
  forget(things: readonly Thing[]): void {
    for (const { kind, name } of things) this.#things.delete(`${kind} ${name}`)
  }

  #thing(kind: Kind, name: string): Thing {
    const key = `${kind} ${name}`
    const known = this.#things.get(key)
    if (known !== undefined) return known
    const thing: Thing = { kind, name, writes: [] }
    this.#things.set(key, thing)
    return thing
  }
}

/** The index of the last acknowledged write, -1 where none was. */
export function lastAcknowledged(thing: Thing): number {
  return thing.writes.findLastIndex((write) => write.outcome === 'acknowledged')
}

/** The values that may be found: what was acknowledged last (nothing, at first), or what may have come after it. */
export function allowedValues(thing: Thing): (string | undefined)[] {
  const last = lastAcknowledged(thing)
  const acknowledged = last < 0 ? undefined : thing.writes[last]!.value
  return [acknowledged, ...thing.writes.slice(last + 1).map((write) => write.value)]
}
