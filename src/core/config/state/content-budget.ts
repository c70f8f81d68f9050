import { Refusal } from '../../refusal.ts'
import type { ConfigKey } from './config-item.ts'
import type { ConfigTable } from './config-table.ts'

/** The state that holds the contents. */
interface Contents {
  readonly configs: Pick<ConfigTable, 'contentBytes' | 'get'>
}

/**
 * What all current contents may take together, in bytes. Contents that are on their way to the disk count too:
 * a store that is slow must not let them pile up beyond it.
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
  async within<T>(key: ConfigKey, bytes: number, publish: () => T | Promise<T>): Promise<T> {
    const { configs } = this.#state
    const replaced = configs.get(key)?.content.length ?? 0
    const needed = configs.contentBytes + this.#onTheWay + bytes - replaced
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
