import type { ConfigKey } from '../core/config/state/config-item.ts'

/** An item that was published a moment ago. */
interface Published {
  readonly key: ConfigKey
  readonly atMs: number
}

/** When an item is of interest again after a publish, ms. */
export interface PublishedTimes {
  /** Clients that have not got it count as behind. */
  readonly lateMs: number
  /** The state of its clients is not known any longer, and it is forgotten. */
  readonly overMs: number
}

/**
 * The items that were published lately, in the order of their last publish. So a search for due items ends at the first
 * item that is not due.
 */
export class PublishedLately {
  readonly #times: PublishedTimes
  readonly #young = new Map<string, Published>()
  /** The items that were late once. */
  readonly #late = new Map<string, Published>()

  constructor(times: PublishedTimes) {
    this.#times = times
  }

  get size(): number {
    return this.#young.size + this.#late.size
  }

  has({ text }: ConfigKey): boolean {
    return this.#young.has(text) || this.#late.has(text)
  }

  published(key: ConfigKey, atMs: number): void {
    this.#late.delete(key.text)
    this.#young.delete(key.text)
    this.#young.set(key.text, { key, atMs })
  }

  /** The items that have become late since the last call, and the items that are forgotten now. */
  due(nowMs: number): ConfigKey[] {
    const { lateMs, overMs } = this.#times
    const late = takeUntil(this.#young, nowMs - lateMs)
    for (const one of late) this.#late.set(one.key.text, one)
    const over = takeUntil(this.#late, nowMs - overMs)
    return [...new Set([...late, ...over])].map(({ key }) => key)
  }
}

/** Takes the items that were published by this time. */
function takeUntil(items: Map<string, Published>, untilMs: number): Published[] {
  const taken: Published[] = []
  for (const [text, one] of items) {
    if (one.atMs > untilMs) break
    taken.push(one)
    items.delete(text)
  }
  return taken
}
