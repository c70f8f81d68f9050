import { Refusal } from '../../refusal.ts'
import { type ServiceKey, serviceKeyText } from '../state/service.ts'
import { ConnectionRegistration, type PublishingClient } from './connection-registration.ts'

/** How many connections are remembered as ended: requests that they sent before may be read afterwards. */
const MOST_ENDED = 10_000

type ByService = Map<string, ConnectionRegistration>

/** The registrations of this process, by connection and service. A connection is connected, or has ended. */
export class ConnectionRegistrations {
  readonly #process: string
  /** The connections that register something. */
  readonly #connected = new Map<string, ByService>()
  /** The ended connections, oldest first, with the registrations that are not removed yet. */
  readonly #ended = new Map<string, ByService>()

  /** `process`: the one that holds the connections. */
  constructor(process: string) {
    this.#process = process
  }

  /** How many connections register something. */
  get size(): number {
    return this.#connected.size
  }

  /** The registrations of a connection, one for each service. */
  of(connectionId: string): readonly ConnectionRegistration[] {
    return [...(this.#connected.get(connectionId)?.values() ?? [])]
  }

  /** The client of a connection that registers something. */
  clientOf(connectionId: string): PublishingClient | undefined {
    for (const { client } of this.#connected.get(connectionId)?.values() ?? []) return client
    return undefined
  }

  /** How much a connection publishes. */
  counts(connectionId: string): { readonly services: number; readonly instances: number } {
    let [services, instances] = [0, 0]
    for (const { size } of this.#connected.get(connectionId)?.values() ?? []) {
      services += Number(size > 0)
      instances += size
    }
    return { services, instances }
  }

  /** The registrations that ended connections left behind, kept for a while. */
  *left(): Iterable<ConnectionRegistration> {
    for (const registrations of this.#ended.values()) yield* registrations.values()
  }

  find(serviceKey: ServiceKey, connectionId: string): ConnectionRegistration | undefined {
    return this.#connected.get(connectionId)?.get(serviceKeyText(serviceKey))
  }

  /** The same; a new one where it is nothing yet. Refusal where the connection has ended. */
  open(serviceKey: ServiceKey, connectionId: string): ConnectionRegistration {
    const known = this.find(serviceKey, connectionId)
    if (known !== undefined) return known
    if (this.#ended.has(connectionId)) throw connectionEnded()
    const registration = new ConnectionRegistration(serviceKey, { process: this.#process, connectionId })
    const registrations: ByService = this.#connected.get(connectionId) ?? new Map()
    this.#connected.set(connectionId, registrations.set(serviceKeyText(serviceKey), registration))
    return registration
  }

  /** A connection has ended. Returns its registrations. */
  close(connectionId: string): Iterable<ConnectionRegistration> {
    const registrations: ByService = this.#connected.get(connectionId) ?? new Map()
    this.#connected.delete(connectionId)
    if (!this.#ended.has(connectionId)) this.#ended.set(connectionId, registrations)
    const [oldest] = this.#ended
    if (this.#ended.size > MOST_ENDED && oldest !== undefined) {
      this.#ended.delete(oldest[0])
      // Something is left of it: it becomes the newest.
      if (oldest[1].size > 0) this.#ended.set(...oldest)
    }
    return registrations.values()
  }

  /** Forgets a registration that is over. The same connection may have a newer one in the service. */
  forget(registration: ConnectionRegistration): void {
    const { serviceKey, connectionId } = registration
    const service = serviceKeyText(serviceKey)
    const connected = this.#connected.get(connectionId)
    const registrations = connected ?? this.#ended.get(connectionId)
    if (registrations?.get(service) === registration) registrations.delete(service)
    if (connected?.size === 0) this.#connected.delete(connectionId)
  }
}

/** The refusal of a request for a connection that has ended. */
export function connectionEnded(): Refusal {
  return new Refusal('stopping', 'The connection has ended: connect again.')
}
