/** The kinds of things that the tests check for losses. */
export type Kind = 'config' | 'namespace' | 'service' | 'persistent' | 'ephemeral' | 'metadata' | 'switch'

/** One write, from its request to its outcome. Times are those of `performance.now()`. */
export interface Write {
  /** The thing after the write; undefined if the write removes it. */
  readonly value: string | undefined
  readonly begunMs: number
  endedMs: number
  /** `unknown`: no answer came, or an error that does not say whether the write is kept. */
  outcome: 'unknown' | 'acknowledged'
}

/** All writes of one thing, by its only writer, oldest first. */
export interface Thing {
  readonly kind: Kind
  readonly name: string
  readonly writes: Write[]
}

/**
 * The answers to the clients of a run. Each thing has one writer that waits for its answers, so what may be
 * there after a crash is the last acknowledged value, or one of the writes after it whose outcome is unknown.
 */
export class Journal {
  readonly #things = new Map<string, Thing>()
  acknowledged = 0
  unknown = 0

  /** The written things of a kind, or of all kinds. */
  things(kind?: Kind): Thing[] {
    const all = [...this.#things.values()]
    return kind === undefined ? all : all.filter((thing) => thing.kind === kind)
  }

  /** Records a write before it is sent. */
  begin(kind: Kind, name: string, value: string | undefined): Write {
    const write: Write = { value, begunMs: performance.now(), endedMs: Infinity, outcome: 'unknown' }
    this.#thing(kind, name).writes.push(write)
    this.unknown++
    return write
  }

  /** Records the acknowledgement of the server. */
  acknowledge(write: Write): void {
    write.endedMs = performance.now()
    write.outcome = 'acknowledged'
    this.acknowledged++
    this.unknown--
  }

  /** Accepts the found state from now on: unknown writes are lost or kept for good. */
  settle(thing: Thing, found: string | undefined): void {
    const kept = thing.writes.findLastIndex((write) => write.value === found)
    const last = lastAcknowledged(thing)
    const settled = thing.writes.filter(
      (write, at) => write.outcome === 'acknowledged' || (at === kept && at > last),
    )
    for (const write of settled) write.outcome = 'acknowledged'
    thing.writes.splice(0, thing.writes.length, ...settled)
  }

  /** Forgets things that need no further check. */
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

/** The index of the last acknowledged write, or -1. */
export function lastAcknowledged(thing: Thing): number {
  return thing.writes.findLastIndex((write) => write.outcome === 'acknowledged')
}

/** The values that may be found: the last acknowledged one (nothing, at first), and the unknown ones after it. */
export function allowedValues(thing: Thing): (string | undefined)[] {
  const last = lastAcknowledged(thing)
  const acknowledged = last < 0 ? undefined : thing.writes[last]!.value
  return [acknowledged, ...thing.writes.slice(last + 1).map((write) => write.value)]
}
