import { Client } from '../../interface/client.ts'
import type { Params, Reply } from '../../interface/client.ts'
import type { Random } from '../random.ts'

/** The outcome of a request; `lost` if no answer came. */
export type Sent = { readonly kind: 'answered'; readonly reply: Reply } | { readonly kind: 'lost' }

/** Sends requests, each in a random dialect. */
export class Sender {
  readonly #clients: readonly Client[]
  readonly #random: Random

  constructor(url: string, random: Random) {
    this.#clients = [new Client(`${url}/svc/v1`), new Client(`${url}/nacos/v1`)]
    this.#random = random
  }

  /** Sends one request. POST has its parameters in a form. It never throws. */
  async send(method: string, path: string, params: Params): Promise<Sent> {
    const client = this.#clients[this.#random() < 0.5 ? 0 : 1]!
    try {
      const reply = await client.call(method, path, method === 'POST' ? { form: params } : { query: params })
      return { kind: 'answered', reply }
    } catch {
      return { kind: 'lost' }
    }
  }

  close(): void {
    for (const client of this.#clients) client.close()
  }
}
