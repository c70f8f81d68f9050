import { LOOK_LIMITS } from '../core/config/state/look-limits.ts'
import type { WatchedItem } from '../core/config/state/config-view.ts'
import { isOwnTool } from '../core/clients/own-tool.ts'
import { ClientMemory, watchedBytes } from '../core/memory/client-memory.ts'

/** The client of a poll, as its protocol knows it. */
export interface PollClient {
  readonly port: number
  /** How its library names itself. */
  readonly agent: string
}

/** A poll, without the fields to answer it. */
export interface PlainPoll {
  readonly ip: string
  readonly tag?: string | undefined
  readonly client: PollClient | undefined
  readonly items: readonly WatchedItem[]
}

/** A poll that has ended. */
export interface EndedPoll extends PlainPoll {
  /** When it ended, on the clock of the polls. */
  readonly atMs: number
  /** The items that its answer named. */
  readonly notified: readonly WatchedItem[]
  /** The items that the answer before named too: the client has asked with the old md5 again. */
  readonly late: readonly WatchedItem[]
  /** When the client was first answered so. */
  readonly lateSinceMs: number
}

/** The outcome of a poll. */
type Outcome = Pick<EndedPoll, 'atMs' | 'notified'>

/** The outcome of the poll before of the same client. */
export type Before = Pick<EndedPoll, 'atMs' | 'notified' | 'late' | 'lateSinceMs'>

/** As it is remembered. */
type Kept = { -readonly [Field in keyof EndedPoll]: EndedPoll[Field] }

const NONE: readonly WatchedItem[] = Object.freeze([])

/** A client polls again within milliseconds; one that has not done so for this long has left. */
const KEPT_MS = 60_000
const PRUNED_EVERY_MS = 5_000
/** People wait for a walk over all remembered polls. */
const { rememberedPolls: MOST_KEPT, rememberedItems: MOST_ITEMS } = LOOK_LIMITS

/**
 * Remembers polls for a while after they have ended. A client that gets a change is away until it polls again, just
 * when somebody wants to know who has the change. The next poll of the same client replaces the ended one: a poll from
 * the same address and library for the same items.
 */
export class RecentPolls {
  readonly #byClient = new Map<string, Kept[]>()
  #size = 0
  #items = 0
  #prunedMs = 0
  readonly #memory: ClientMemory

  constructor(memory = new ClientMemory()) {
    this.#memory = memory
    memory.joinRemembering(() => this.#forgetOne())
  }

  /** Notes that a client polls: its poll before is not needed any more, and is returned. */
  began(poll: PlainPoll): Before | undefined {
    if (this.#size === 0) return undefined
    const name = nameOf(poll)
    const ended = this.#byClient.get(name)
    if (ended === undefined) return undefined
    const before = ended.shift()
    if (before !== undefined) this.#release(before.items)
    if (ended.length === 0) this.#byClient.delete(name)
    return before
  }

  /** Notes that a poll has ended. `before`: what `began` returned. */
  ended({ ip, tag, client, items }: PlainPoll, outcome: Outcome, before?: Before): void {
    if (client !== undefined && isOwnTool(client)) return
    if (this.#size >= MOST_KEPT || this.#items + items.length > MOST_ITEMS || items.length === 0) return
    if (!this.#memory.takeSpare(itemsBytes(items))) return
    const poll = { ip, tag, client, items, ...outcome, ...latenessOf(outcome, before) }
    const name = nameOf(poll)
    const others = this.#byClient.get(name)
    if (others === undefined) this.#byClient.set(name, [poll])
    else others.push(poll)
    this.#size++
    this.#items += items.length
  }

  /** Notes a poll that was answered as soon as it came: it takes the place of the one before, without a new object. */
  passed(poll: PlainPoll, outcome: Outcome): void {
    const before = this.#byClient.get(nameOf(poll))
    const oldest = before?.[0]
    if (before === undefined || oldest === undefined) return this.ended(poll, outcome)
    const grown = itemsBytes(poll.items) - itemsBytes(oldest.items)
    if (!this.#memory.takeSpare(grown)) return
    before.shift()
    Object.assign(oldest, latenessOf(outcome, oldest), outcome)
    oldest.tag = poll.tag
    oldest.client = poll.client
    oldest.items = poll.items
    before.push(oldest)
  }

  /** Forgets old polls. Call it often. */
  tick(nowMs: number): void {
    if (this.#size === 0 || nowMs < this.#prunedMs + PRUNED_EVERY_MS) return
    this.#prunedMs = nowMs
    for (const [name, polls] of this.#byClient) {
      const kept = polls.filter(({ atMs }) => atMs > nowMs - KEPT_MS)
      for (const { items, atMs } of polls) if (atMs <= nowMs - KEPT_MS) this.#release(items)
      if (kept.length === 0) this.#byClient.delete(name)
      else if (kept.length < polls.length) this.#byClient.set(name, kept)
    }
  }

  /** How many polls watched each of these items. Items without any are left out. */
  countsOf(keyTexts: ReadonlySet<string>): Map<string, number> {
    const counts = new Map<string, number>()
    for (const { items } of this.all()) {
      // A poll may name an item twice.
      const texts = new Set<string>()
      for (const { key } of items) if (keyTexts.has(key.text)) texts.add(key.text)
      for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1)
    }
    return counts
  }

  /** Forgets a poll of the client that is known for longest; false: there is none. */
  #forgetOne(): boolean {
    for (const [name, polls] of this.#byClient) {
      const poll = polls.shift()
      if (polls.length === 0) this.#byClient.delete(name)
      if (poll === undefined) continue
      this.#release(poll.items)
      return true
    }
    return false
  }

  #release(items: readonly WatchedItem[]): void {
    this.#size--
    this.#items -= items.length
    this.#memory.free(itemsBytes(items))
  }

  /** Everything that is remembered. */
  *all(): Generator<EndedPoll> {
    for (const polls of this.#byClient.values()) yield* polls
  }
}

/** The memory of watched items. */
export function itemsBytes(items: readonly WatchedItem[]): number {
  let bytes = 0
  for (const { key } of items) bytes += watchedBytes(key.text)
  return bytes
}

/** An answer names an item again whose md5 the client has not changed since the answer before. */
function latenessOf(
  { atMs, notified }: Outcome,
  before: Before | undefined,
): Pick<Before, 'late' | 'lateSinceMs'> {
  if (before === undefined || before.notified.length === 0 || notified.length === 0)
    return { late: NONE, lateSinceMs: atMs }
  const asked = new Map(before.notified.map(({ key, md5 }) => [key.text, md5]))
  const late = notified.filter(({ key, md5 }) => asked.get(key.text) === md5)
  return { late, lateSinceMs: before.late.length > 0 ? before.lateSinceMs : before.atMs }
}

function nameOf({ ip, client, items }: PlainPoll): string {
  return `${ip} ${client?.agent ?? ''} ${items.length} ${items[0]?.key.text ?? ''}`
}
