import { Refusal } from '../../refusal.ts'
import type { RecordView } from '../../records/record-tables.ts'
import type { ConfigKey } from './config-item.ts'
import type { ConfigTable } from './config-table.ts'
import { GRAY, grayNamed } from './gray-version.ts'

/** The state that holds the contents. */
interface Contents extends Pick<RecordView, 'record'> {
  readonly configs: Pick<ConfigTable, 'contentBytes' | 'get'>
  /** The total size of the texts of all gray versions, in bytes. */
  readonly grayBytes: number
}

/**
 * The limit of all current contents together, in bytes, gray versions included. Contents on their way to the disk count
 * too: with a slow store they must not pile up beyond the limit.
 */
export class ContentBudget {
  readonly #state: Contents
  readonly #limitBytes: number
  #onTheWay = 0

  constructor(state: Contents, limitBytes: number) {
    this.#state = state
    this.#limitBytes = limitBytes
  }

  /**
   * Publishes within the budget: counts `bytes` until `publish` has ended. Throws Refusal `content-memory` where
   * there is no room, but never for a content that is no larger than the one it replaces.
   */
  within<T>(key: ConfigKey, bytes: number, publish: () => T | Promise<T>): Promise<T> {
    const replaced = this.#state.configs.get(key)?.content.length ?? 0
    return this.#within({ bytes, replaced }, publish)
  }

  /** The same for the gray version of an item. */
  withinGray<T>(
    { key, name }: { readonly key: ConfigKey; readonly name: string },
    bytes: number,
    publish: () => T | Promise<T>,
  ): Promise<T> {
    const replaced = grayNamed(this.#state.record(GRAY, key.text), name)?.size ?? 0
    return this.#within({ bytes, replaced }, publish)
  }

  async #within<T>(
    { bytes, replaced }: { readonly bytes: number; readonly replaced: number },
    publish: () => T | Promise<T>,
  ): Promise<T> {
    const { configs, grayBytes } = this.#state
    const needed = configs.contentBytes + grayBytes + this.#onTheWay + bytes - replaced
    if (bytes > replaced && needed > this.#limitBytes) throw this.#refusal()
    this.#onTheWay += bytes
    try {
      return await publish()
    } finally {
      this.#onTheWay -= bytes
    }
  }

  #refusal(): Refusal {
    const allowed = `at most ${this.#limitBytes} bytes of content in all`
    const message = `The server holds ${allowed}: delete what is not needed, or raise max-content-memory.`
    return new Refusal('content-memory', message, { parameter: 'content', allowed })
  }
}
