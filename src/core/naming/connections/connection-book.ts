import { Refusal } from '../../refusal.ts'
import { Publication, type PublishingClient } from './publication.ts'
import { type ServiceKey, serviceKeyText } from '../state/service.ts'

/** How many connections are remembered as ended: what they had asked for before may be read afterwards. */
const MOST_ENDED = 10_000

/** What a connection publishes. */
export interface PublishedBy {
  readonly services: number
  readonly instances: number
}

/** What the connections of this process publish, by connection and service. */
export class ConnectionBook {
  readonly #connections = new Map<string, Map<string, Publication>>()
  readonly #ended = new Set<string>()

  /** How many connections publish something. */
  get size(): number {
    return this.#connections.size
  }

  /** What a connection publishes, service by service. */
  of(connectionId: string): readonly Publication[] {
    return [...(this.#connections.get(connectionId)?.values() ?? [])]
  }

  /** The client of a connection that publishes. */
  clientOf(connectionId: string): PublishingClient | undefined {
    for (const { client } of this.#connections.get(connectionId)?.values() ?? []) return client
    return undefined
  }

  /** How much a connection publishes. */
  counts(connectionId: string): PublishedBy {
    let [services, instances] = [0, 0]
    for (const { wanted } of this.#connections.get(connectionId)?.values() ?? []) {
      services += Number(wanted.size > 0)
      instances += wanted.size
    }
    return { services, instances }
  }

  find(serviceKey: ServiceKey, connectionId: string): Publication | undefined {
    return this.#connections.get(connectionId)?.get(serviceKeyText(serviceKey))
  }

  /** What a connection publishes in a service; a new one where it is nothing yet. Refusal where the connection has ended. */
  open(serviceKey: ServiceKey, connectionId: string): Publication {
    const known = this.find(serviceKey, connectionId)
    if (known !== undefined) return known
    if (this.#ended.has(connectionId)) throw connectionEnded()
    const publication = new Publication(serviceKey, connectionId)
    const publications = this.#connections.get(connectionId) ?? new Map<string, Publication>()
    this.#connections.set(connectionId, publications.set(serviceKeyText(serviceKey), publication))
    return publication
  }

  /** Forgets a connection, and that it may publish. Returns what it has published. */
  close(connectionId: string): readonly Publication[] {
    const publications = this.of(connectionId)
    this.#connections.delete(connectionId)
    this.#ended.add(connectionId)
    const [oldest] = this.#ended
    if (this.#ended.size > MOST_ENDED && oldest !== undefined) this.#ended.delete(oldest)
    return publications
  }

  /** Forgets a publication that is over. */
  forget({ serviceKey, connectionId }: Publication): void {
    const publications = this.#connections.get(connectionId)
    if (publications?.delete(serviceKeyText(serviceKey)) === true && publications.size === 0)
      this.#connections.delete(connectionId)
  }
}

/** The refusal of what is asked for a connection that has ended. */
export function connectionEnded(): Refusal {
  return new Refusal('stopping', 'The connection has ended: connect again.')
}
