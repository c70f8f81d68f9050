import { setTimeout as sleep } from 'node:timers/promises'
import { md5 } from '../../../interface/client.ts'
import { ask } from './ask.ts'
import { PATH_OF_ITEMS, type RecordedClient } from './clients.ts'
import { TAGGED, taggedKey } from './gray-clients.ts'

/** So long that only a change ends a poll in time. */
const POLL_MS = 60_000
const LIMIT_MS = POLL_MS + 5_000
const RETRY_MS = 200

/** Watches one item at its server as clients do: it polls with the md5 that it has, and reads after a change. */
export class ItemWatcher {
  /** The item, or what clients with the tag see of it. */
  readonly item: string
  readonly dataId: string
  readonly #headers: Readonly<Record<string, string>>
  readonly #client: RecordedClient
  #value: string | undefined

  constructor(client: RecordedClient, dataId: string, { hasTag = false } = {}) {
    this.#client = client
    this.dataId = dataId
    this.item = hasTag ? taggedKey(dataId) : dataId
    this.#headers = hasTag ? TAGGED : {}
  }

  /** What it has; undefined: nothing. */
  get value(): string | undefined {
    return this.#value
  }

  /** The index of its server. */
  get server(): number {
    return this.#client.parts.home
  }

  async run(): Promise<void> {
    const { urls, home, isStopped } = this.#client.parts
    while (!isStopped()) {
      const known = this.#value === undefined ? '' : md5(this.#value)
      const reply = await ask(urls[home]!, {
        method: 'POST',
        path: `${PATH_OF_ITEMS}/listener`,
        query: { 'Listening-Configs': `${this.dataId}\u0002G\u0002${known}\u0001` },
        headers: { ...this.#headers, 'Long-Pulling-Timeout': String(POLL_MS) },
        limitMs: LIMIT_MS,
      })
      if (isStopped()) return
      if (reply.kind !== 'answered' || reply.status !== 200) await sleep(RETRY_MS)
      else if (reply.text !== '') await this.#read()
    }
  }

  async #read(): Promise<void> {
    const { home } = this.#client.parts
    const about = { server: home, key: this.item, kind: 'read' as const }
    const query = { dataId: this.dataId, group: 'G' }
    const request = { method: 'GET', path: PATH_OF_ITEMS, query, headers: this.#headers }
    const read = await this.#client.ask(about, request)
    if (read.outcome === 'ok') this.#value = read.seen
    else await sleep(RETRY_MS)
  }
}
