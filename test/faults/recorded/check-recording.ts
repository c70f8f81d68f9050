/** A span of time on the clock of the recorder, ms: from the request to its answer. */
export interface Span {
  readonly begunMs: number
  readonly endedMs: number
}

/** An acknowledged publish (its content, which no other publish has) or delete (undefined) of an item. */
export interface RecordedWrite extends Span {
  readonly item: string
  readonly value: string | undefined
}

/** The version of an item that a client saw. `client` reads one after the other. */
export interface RecordedRead extends RecordedWrite {
  readonly client: string
}

/** The content that a watcher had when all writes had ended. */
export interface FinalView {
  readonly client: string
  readonly item: string
  readonly value: string | undefined
}

/** An instance from its registration on; `left` when it deregistered. Without that it beat as long as `beats` say. */
export interface RecordedLife {
  readonly address: string
  readonly unhealthyMs: number
  readonly removeMs: number
  readonly registered: Span
  readonly beats: readonly Span[]
  readonly left?: Span
}

/** A list answer: the addresses in it, and whether they were healthy. */
export interface RecordedList extends Span {
  readonly hosts: ReadonlyMap<string, boolean>
}

/** The recording of a run. */
export interface Recording {
  readonly writes: readonly RecordedWrite[]
  readonly reads: readonly RecordedRead[]
  readonly finalViews: readonly FinalView[]
  readonly lives: readonly RecordedLife[]
  readonly lists: readonly RecordedList[]
}

/** How late a silent instance may expire. */
const SWEEP_ALLOWANCE_MS = 1_000

/** The answers in a recording that a correct server cannot give; empty if there are none. */
export function violations(recording: Recording): string[] {
  const items = new Map<string, ItemWrites>()
  for (const item of new Set([...recording.writes, ...recording.reads].map((event) => event.item)))
    items.set(item, new ItemWrites(recording.writes.filter((write) => write.item === item)))
  return [
    ...staleReads(recording.reads, items),
    ...missedFinals(recording.finalViews, items),
    ...recording.lives.flatMap((life) => wrongLists(life, recording.lists)),
  ]
}

/** The writes of one item, which did not exist before them. */
class ItemWrites {
  readonly #byValue = new Map<string | undefined, RecordedWrite[]>()
  readonly #byBegin: readonly RecordedWrite[]
  /** The earliest end of the writes from this place of `#byBegin` on. */
  readonly #earliestEnd: number[]

  constructor(writes: readonly RecordedWrite[]) {
    const first = { item: '', value: undefined, begunMs: -Infinity, endedMs: -Infinity }
    this.#byBegin = [first, ...writes].sort((a, b) => a.begunMs - b.begunMs)
    this.#earliestEnd = this.#byBegin.map(({ endedMs }) => endedMs)
    for (let at = this.#earliestEnd.length - 2; at >= 0; at--)
      this.#earliestEnd[at] = Math.min(this.#earliestEnd[at]!, this.#earliestEnd[at + 1]!)
    for (const write of this.#byBegin) {
      const same = this.#byValue.get(write.value)
      if (same === undefined) this.#byValue.set(write.value, [write])
      else same.push(write)
    }
  }

  /** The writes with this value that a request in this span may have seen. */
  candidates(value: string | undefined, seen: Span): RecordedWrite[] {
    return (this.#byValue.get(value) ?? []).filter(
      (write) => write.begunMs <= seen.endedMs && this.#overwrittenMs(write) >= seen.begunMs,
    )
  }

  /** The latest end of another write that began after the end of this one. */
  #overwrittenMs(write: RecordedWrite): number {
    let [low, high] = [0, this.#byBegin.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#byBegin[middle]!.begunMs > write.endedMs) high = middle
      else low = middle + 1
    }
    return this.#earliestEnd[low] ?? Infinity
  }
}

/** Reads of an overwritten value, or of a value older than the same client saw before. */
function staleReads(reads: readonly RecordedRead[], items: ReadonlyMap<string, ItemWrites>): string[] {
  const wrong: string[] = []
  const newestBegin = new Map<string, number>()
  for (const read of [...reads].sort((a, b) => a.begunMs - b.begunMs)) {
    const candidates = items.get(read.item)!.candidates(read.value, read)
    const seenBefore = newestBegin.get(`${read.client} ${read.item}`) ?? -Infinity
    const forward = candidates.filter(({ endedMs }) => endedMs >= seenBefore)
    if (candidates.length === 0) wrong.push(`${about(read)}, which was not the last write then`)
    else if (forward.length === 0) wrong.push(`${about(read)}, which is older than what it saw before`)
    else if (forward.length === 1)
      newestBegin.set(`${read.client} ${read.item}`, Math.max(seenBefore, forward[0]!.begunMs))
  }
  return wrong
}

function missedFinals(views: readonly FinalView[], items: ReadonlyMap<string, ItemWrites>): string[] {
  const end = { begunMs: Infinity, endedMs: Infinity }
  return views
    .filter(
      ({ item, value }) =>
        items.get(item) !== undefined && items.get(item)!.candidates(value, end).length === 0,
    )
    .map((view) => `the watcher ${about(view)}, and that is not the final state`)
}

/** Lists without an instance that beat, or with one that had left or fallen silent. */
function wrongLists(life: RecordedLife, lists: readonly RecordedList[]): string[] {
  const wrong: string[] = []
  for (const list of lists) {
    const healthy = list.hosts.get(life.address)
    const at = `in the list of ${Math.round(list.begunMs)} to ${Math.round(list.endedMs)} ms`
    if (mustBeThere(life, list) && healthy !== true)
      wrong.push(`${life.address} beats and is ${healthy === undefined ? 'absent' : 'unhealthy'} ${at}`)
    if (mustBeGone(life, list) && healthy !== undefined)
      wrong.push(`${life.address} has gone and is present ${at}`)
  }
  return wrong
}

/** Registered before the request of the list, and never silent for too long until its answer. */
function mustBeThere({ registered, beats, left, unhealthyMs }: RecordedLife, list: Span): boolean {
  if (registered.endedMs > list.begunMs || (left !== undefined && left.begunMs <= list.endedMs)) return false
  const signs = [registered, ...beats].filter(({ endedMs }) => endedMs <= list.endedMs)
  // A beat counts from some moment between its request and its answer: the earliest is assumed.
  const silentFrom = [...signs.map(({ begunMs }) => begunMs), list.endedMs]
  return silentFrom.every((ms, at) => at === 0 || ms - silentFrom[at - 1]! < unhealthyMs)
}

function mustBeGone({ registered, beats, left, removeMs }: RecordedLife, list: Span): boolean {
  if (left !== undefined) return list.begunMs > left.endedMs
  const last = beats.at(-1) ?? registered
  return list.begunMs > last.endedMs + removeMs + SWEEP_ALLOWANCE_MS
}

function about({ client, item, value }: FinalView): string {
  return `${client} saw ${value === undefined ? 'nothing' : `"${value}"`} in ${item}`
}
