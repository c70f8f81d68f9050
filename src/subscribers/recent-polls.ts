import { LOOK_LIMITS } from '../core/config/state/look-limits.ts'
import type { WatchedItem } from '../core/config/state/config-view.ts'
import { ClientMemory, watchedBytes } from '../core/memory/client-memory.ts'

/** The client of a poll, as its protocol knows it. */
export interface PollClient {
  readonly port: number
  /** How its library names itself. */
  readonly agent: string
}

/** A poll that has ended, without the fields to answer it. */
export interface EndedPoll {
  readonly ip: string
  readonly tag?: string | undefined
  readonly client: PollClient | undefined
  readonly items: readonly WatchedItem[]
  /** When it ended, on the clock of the polls. */
  readonly atMs: number
}

/** As it is remembered. */
type Kept = { -readonly [Field in keyof EndedPoll]: EndedPoll[Field] }

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
  }

  /** Notes that a client polls: its poll before is not needed any more. */
  began(poll: Omit<EndedPoll, 'atMs'>): void {
    if (this.#size === 0) return
    const name = nameOf(poll)
    const ended = this.#byClient.get(name)
    if (ended === undefined) return
    const before = ended.shift()
    if (before !== undefined) this.#release(before.items)
    if (ended.length === 0) this.#byClient.delete(name)
  }

  /** Notes that a poll has ended. */
  ended({ ip, tag, client, items }: Omit<EndedPoll, 'atMs'>, atMs: number): void {
    if (this.#size >= MOST_KEPT || this.#items + items.length > MOST_ITEMS || items.length === 0) return
    if (!this.#memory.take(itemsBytes(items))) return
    const poll = { ip, tag, client, items, atMs }
    const name = nameOf(poll)
    const others = this.#byClient.get(name)
    if (others === undefined) this.#byClient.set(name, [poll])
    else others.push(poll)
    this.#size++
    this.#items += items.length
  }

  /** Notes a poll that was answered as soon as it came: it takes the place of the one before, without a new object. */
  passed(poll: Omit<EndedPoll, 'atMs'>, atMs: number): void {
    const before = this.#byClient.get(nameOf(poll))
    const oldest = before?.[0]
    if (before === undefined || oldest === undefined) return this.ended(poll, atMs)
    const grown = itemsBytes(poll.items) - itemsBytes(oldest.items)
    if (!this.#memory.take(grown)) return
    before.shift()
    oldest.tag = poll.tag
    oldest.client = poll.client
    oldest.items = poll.items
    oldest.atMs = atMs
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

function nameOf({ ip, client, items }: Omit<EndedPoll, 'atMs'>): string {
  return `${ip} ${client?.agent ?? ''} ${items.length} ${items[0]?.key.text ?? ''}`
}
