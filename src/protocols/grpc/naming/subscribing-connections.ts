import type { SentText } from '../../../core/text/long-text.ts'
import type { StreamClient } from '../../../core/clients/stream-client.ts'
import type { ClientConnection } from '../connections/client-connection.ts'
import { ReadyJson } from '../wire/json.ts'

/** Connections as subscribers of services. */
export class SubscribingConnections {
  readonly #known = new WeakMap<ClientConnection, StreamClient>()
  /** The list that was pushed last, and its body: most pushes are the same list for the next subscriber. */
  #list: SentText = ''
  #body = new ReadyJson('{}')

  /** The subscriber that a connection is. */
  of(connection: ClientConnection): StreamClient {
    const known = this.#known.get(connection)
    if (known !== undefined) return known
    const subscriber = this.#subscriberOf(connection)
    this.#known.set(connection, subscriber)
    return subscriber
  }

  #subscriberOf(connection: ClientConnection): StreamClient {
    const { id, ip, port, client } = connection
    return {
      id,
      address: ip,
      port,
      agent: client.version,
      app: client.appName || 'unknown',
      consumerIp: client.clientIp || ip,
      push: (list, limitMs) =>
        connection.ask({ type: 'NotifySubscriberRequest', body: this.#bodyOf(list) }, limitMs),
      end: () => connection.close(),
      onEnd: (ended) => connection.onEnd(() => ended()),
    }
  }

  #bodyOf(list: SentText): ReadyJson {
    if (list !== this.#list) {
      this.#list = list
      this.#body = new ReadyJson('{"serviceInfo":', list, '}')
    }
    return this.#body
  }
}
