import { guarded, unawaited } from '../../../core/unexpected.ts'
import type { WatchedItem } from '../../../core/config/state/config-view.ts'
import type { ClientConnection } from '../connections/client-connection.ts'
import { ReadyJson } from '../wire/json.ts'
import { namesOf } from './listened-item.ts'
import { PushReminders } from './push-reminders.ts'

/** How long a client may take to acknowledge a push. */
export const ACK_MS = 3_000
/** The wait after the nth push of an item that was not acknowledged is n times this. */
const RETRY_MS = 2_000
/** After this many pushes of an item without an acknowledgement, it is given up. */
export const MOST_TRIES = 10
/** How many pushes of a connection may wait for their acknowledgements at once. */
export const MOST_PENDING = 64

/** Dependencies of pushes. */
export interface PushParts {
  readonly connection: Pick<ClientConnection, 'ask' | 'close'>
  readonly after: (ms: number, run: () => void) => void
  /** Called when the client acknowledges pushes of other items only: it no longer listens to this item. */
  readonly unheard: (item: WatchedItem) => void
}

/** A change of an item that the client does not know yet. */
class Push {
  readonly item: WatchedItem
  isSent = false
  /** The item has changed once more since the push was sent. */
  hasChanged = false
  failures = 0
  /** How many acknowledgements of other items had come when the first push of this one failed. */
  acksBefore = 0

  constructor(item: WatchedItem) {
    this.item = item
  }
}

/**
 * Notifies a client which of its items have changed; it then asks for them. Changes of an item during a push become one
 * push afterwards. So a client that reads slowly, or not at all, costs only one small object for each of its items.
 */
export class ChangePushes {
  readonly #parts: PushParts
  /** By the text of the key. */
  readonly #pushes = new Map<string, Push>()
  /** The pushes that can be sent now. */
  readonly #ready = new Set<Push>()
  readonly #reminders: PushReminders
  #pending = 0
  #acks = 0
  #ended = false

  constructor(parts: PushParts) {
    this.#parts = parts
    const remind = (item: WatchedItem): void => this.#push(item)
    this.#reminders = new PushReminders({ after: parts.after, remind })
  }

  changed(item: WatchedItem): void {
    this.#reminders.asked(item.key.text)
    this.#push(item)
  }

  #push(item: WatchedItem): void {
    const before = this.#pushes.get(item.key.text)
    if (before !== undefined) {
      before.hasChanged ||= before.isSent
      return
    }
    const push = new Push(item)
    this.#pushes.set(item.key.text, push)
    this.#ready.add(push)
    this.#sendReady()
  }

  /** Drops a pending push: the client has reported its version, or does not listen to the item any longer. */
  forget(keyText: string): void {
    this.#reminders.asked(keyText)
    const push = this.#pushes.get(keyText)
    if (push === undefined) return
    this.#pushes.delete(keyText)
    this.#ready.delete(push)
  }

  /** The connection has ended. */
  end(): void {
    this.#ended = true
    this.#pushes.clear()
    this.#ready.clear()
    this.#reminders.end()
  }

  #sendReady(): void {
    for (const push of this.#ready) {
      if (this.#pending >= MOST_PENDING) return
      this.#ready.delete(push)
      unawaited('push', () => this.#parts.connection.close(), this.#send(push))
    }
  }

  async #send(push: Push): Promise<void> {
    this.#pending++
    push.isSent = true
    push.hasChanged = false
    const body = bodyOf(push.item)
    const isAcknowledged = await this.#parts.connection.ask(
      { type: 'ConfigChangeNotifyRequest', body },
      ACK_MS,
    )
    this.#pending--
    push.isSent = false
    if (isAcknowledged) this.#acks++
    if (this.#isCurrent(push)) this.#settle(push, isAcknowledged)
    this.#sendReady()
  }

  #settle(push: Push, isAcknowledged: boolean): void {
    if (!isAcknowledged) return this.#failed(push)
    push.failures = 0
    if (push.hasChanged) this.#ready.add(push)
    else {
      this.#pushes.delete(push.item.key.text)
      this.#reminders.acknowledged(push.item)
    }
  }

  #failed(push: Push): void {
    if (push.failures++ === 0) push.acksBefore = this.#acks
    if (push.failures >= MOST_TRIES) return this.#giveUp(push)
    const again = (): void => {
      if (!this.#isCurrent(push)) return
      this.#ready.add(push)
      this.#sendReady()
    }
    const end = (): void => this.#parts.connection.close()
    this.#parts.after(push.failures * RETRY_MS, guarded('push', end, again))
  }

  /** Either the client receives nothing, and connects again when it is closed; or it does not listen to this item. */
  #giveUp(push: Push): void {
    this.#pushes.delete(push.item.key.text)
    if (this.#acks > push.acksBefore) this.#parts.unheard(push.item)
    else this.#parts.connection.close()
  }

  #isCurrent(push: Push): boolean {
    return !this.#ended && this.#pushes.get(push.item.key.text) === push
  }
}

/** The last one is used again: a change of an item is pushed to thousands of clients one after the other. */
let last: { readonly keyText: string; readonly echo: string; readonly body: ReadyJson } | undefined

function bodyOf(item: WatchedItem): ReadyJson {
  const { key, echo } = item
  if (last?.keyText !== key.text || last.echo !== echo)
    last = { keyText: key.text, echo, body: new ReadyJson(JSON.stringify(namesOf(item))) }
  return last.body
}
