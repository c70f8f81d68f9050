import { guarded } from '../../../core/unexpected.ts'
import type { WatchedItem } from '../../../core/config/state/config-view.ts'

/** A client that has acknowledged a push asks at once. It is reminded after one to two times this. */
export const REMIND_MS = 3_000
/** After this many reminders the server stops: the client does not want the item. */
export const MOST_REMINDERS = 3

/** Dependencies of reminders. */
export interface ReminderParts {
  readonly after: (ms: number, run: () => void) => void
  /** Pushes the item once more. */
  readonly remind: (item: WatchedItem) => void
}

/** An item that the client should have asked for. */
interface Awaited {
  item: WatchedItem
  reminders: number
  /** It was there at the last look already. */
  isOld: boolean
}

/**
 * Clients acknowledge a push and then ask what has changed. Some forget a push that arrives while they handle the answer to an
 * earlier one, and would have an old content for minutes. So a client that does not ask gets the push again. Costs one timer for a connection.
 */
export class PushReminders {
  readonly #parts: ReminderParts
  /** By the text of the key. */
  readonly #awaited = new Map<string, Awaited>()
  #isWaiting = false

  constructor(parts: ReminderParts) {
    this.#parts = parts
  }

  /** The client has acknowledged a push of this item. */
  acknowledged(item: WatchedItem): void {
    const known = this.#awaited.get(item.key.text)
    if (known === undefined) this.#awaited.set(item.key.text, { item, reminders: 0, isOld: false })
    else Object.assign(known, { item, isOld: false })
    this.#wait()
  }

  /** The client has asked for this item, or does not listen to it any longer. */
  asked(keyText: string): void {
    this.#awaited.delete(keyText)
  }

  /** The connection has ended. */
  end(): void {
    this.#awaited.clear()
  }

  #wait(): void {
    if (this.#isWaiting || this.#awaited.size === 0) return
    this.#isWaiting = true
    const look = guarded(
      'push',
      () => this.#continue(),
      () => {
        this.#look()
        this.#continue()
      },
    )
    this.#parts.after(REMIND_MS, look)
  }

  #continue(): void {
    this.#isWaiting = false
    this.#wait()
  }

  #look(): void {
    for (const [keyText, awaited] of this.#awaited) {
      if (!awaited.isOld) awaited.isOld = true
      else if (awaited.reminders++ < MOST_REMINDERS) this.#parts.remind(awaited.item)
      else this.#awaited.delete(keyText)
    }
  }
}
