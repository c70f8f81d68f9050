import { hostPort } from '../../core/text/ip-address.ts'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { connectionOf, isMoved } from '../../core/naming/state/connection-publisher.ts'
import type { Instance } from '../../core/naming/state/service-entry.ts'
import type { ServiceKey } from '../../core/naming/state/service.ts'
import type { State } from '../../core/engine/state.ts'
import type { ClientCounts } from '../../operations/server/operator.ts'
import type { StreamConnection } from '../../protocols/grpc/connections/stream-connection.ts'
import { monotonicMs } from '../process/clocks.ts'

/** How many instances are counted in a turn of the event loop: about 2 ms. */
const IN_A_TURN = 5_000

/** A count is used for this many times its own duration, so that counting takes at most a twentieth of the server's time. */
const USED_TIMES = 20

/** The clients that are counted. */
export interface ClientCounterParts {
  readonly state: Pick<State, 'services'>
  readonly connections: Iterable<Pick<StreamConnection, 'id' | 'client'>>
  /** The addresses that get pushes by UDP. */
  readonly pushed: () => Iterable<{ readonly address: string; readonly port: number }>
  /** Whether this server judges a service; undefined: it judges all. */
  readonly judges: ((key: ServiceKey) => boolean) | undefined
}

/**
 * Counts clients as Java does: each connection for naming, and each address and port registered without a connection. Such an
 * address counts once for instances that beat, and once for persistent ones. Pushes by UDP count as beats.
 */
export class ClientCounter {
  readonly #parts: ClientCounterParts
  #last: Promise<ClientCounts> | undefined
  #usedUntilMs = 0

  constructor(parts: ClientCounterParts) {
    this.#parts = parts
  }

  /** The current counts, or counts of a moment ago if there are many instances. Requests at the same time share a result. */
  count(): Promise<ClientCounts> {
    if (this.#last === undefined || monotonicMs() > this.#usedUntilMs) this.#last = this.#counted()
    return this.#last
  }

  async #counted(): Promise<ClientCounts> {
    this.#usedUntilMs = Infinity
    try {
      const beganMs = monotonicMs()
      const clients = new FoundClients()
      await this.#find(clients)
      const endedMs = monotonicMs()
      this.#usedUntilMs = endedMs + (endedMs - beganMs < 1 ? -1 : USED_TIMES * (endedMs - beganMs))
      return clients.counts()
    } catch (error) {
      this.#last = undefined
      throw error
    }
  }

  async #find(clients: FoundClients): Promise<void> {
    const { state, connections, pushed, judges } = this.#parts
    for (const { id, client } of connections) if (client.module === 'naming') clients.connected(id)
    let found = 0
    for (const place of pushed()) {
      clients.pushed(place)
      if (++found % IN_A_TURN === 0) await nextTurn()
    }
    for (const { service, instances } of state.services.all()) {
      const isJudged = judges?.(service.key) ?? true
      for (const instance of instances.values()) {
        clients.found(instance, isJudged)
        if (++found % IN_A_TURN === 0) await nextTurn()
      }
    }
  }
}

/** The clients that were found. */
class FoundClients {
  readonly #own = new Set<string>()
  readonly #connections = new Set<string>()
  readonly #ephemeral = new Set<string>()
  readonly #persistent = new Set<string>()
  readonly #judged = new Set<string>()

  connected(connectionId: string): void {
    this.#own.add(connectionId)
    this.#connections.add(connectionId)
  }

  pushed({ address, port }: { readonly address: string; readonly port: number }): void {
    const client = hostPort(address, port)
    this.#ephemeral.add(client)
    this.#judged.add(`${client}#true`)
  }

  found({ record }: Instance, isJudged: boolean): void {
    const owner = connectionOf(record.publisher)
    if (owner !== undefined && !isMoved(record.publisher)) {
      this.#connections.add(owner.connectionId)
      return
    }
    const client = hostPort(record.address.ip, record.address.port)
    const clients = record.ephemeral ? this.#ephemeral : this.#persistent
    clients.add(client)
    if (isJudged) this.#judged.add(`${client}#${record.ephemeral}`)
  }

  counts(): ClientCounts {
    return {
      connections: this.#connections.size,
      ephemeralAddresses: this.#ephemeral.size,
      persistentAddresses: this.#persistent.size,
      responsible: this.#own.size + this.#judged.size,
    }
  }
}
