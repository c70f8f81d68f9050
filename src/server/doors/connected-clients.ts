import { hostPort } from '../../core/text/ip-address.ts'
import type {
  ClientSearch,
  ConnectedClient,
  Dismissal,
  ServerClients,
} from '../../core/clients/connected-client.ts'
import type { ConnectionInstances } from '../../core/naming/connections/connection-instances.ts'
import type { ClientSilence } from '../../core/naming/connections/connection-registration.ts'
import { ConnectionBook, REPLY_MS, SILENT_MS } from '../../protocols/grpc/connections/connection-book.ts'
import { Moves } from '../../protocols/grpc/connections/moves.ts'
import type { ServerAddress, StreamConnection } from '../../protocols/grpc/connections/stream-connection.ts'
import { advertisedHost, advertisedPort } from '../process/server-address.ts'
import type { Settings } from '../../settings/settings.ts'
import type { StreamOutlet } from '../../subscribers/stream-outlet.ts'
import { later, monotonicMs, wallMs } from '../process/clocks.ts'
import type { Members } from '../process/installation.ts'

/** Other servers and parts that know connected clients. */
export interface ClientParts {
  readonly members: Pick<Members, 'list'>
  readonly publishing: { readonly connectionInstances: Pick<ConnectionInstances, 'registrations'> }
  readonly pushing: { readonly streams: Pick<StreamOutlet, 'subscriptionsOf'> }
}

/** The clients that are connected to this server: for the gRPC port, and for operators. */
export type ClientsOfServer = ReturnType<typeof openClients>

/** Libraries say something every five seconds. */
const LIVELY_MS = 7_000

/** Makes the book of connected clients, empty. */
export function openClients(parts: ClientParts, settings: Settings) {
  const own = { ip: advertisedHost(settings), port: advertisedPort(settings, settings.port) }
  const isOwn = ({ ip, port }: ServerAddress): boolean => ip === own.ip && port === own.port
  // A server that is alone may have a port that the settings do not name.
  const others = (): ServerAddress[] => {
    const members = parts.members.list()
    return members.length === 1 ? [] : members.filter((member) => member.alive && !isOwn(member))
  }
  const book = new ConnectionBook()
  const moves = new Moves({ book, others, after: later })
  const server = (): string => addressText(parts.members.list().find(isOwn) ?? parts.members.list()[0] ?? own)
  return {
    book,
    moves,
    list({ text, most }: ClientSearch): ServerClients {
      const found = Array.from(book).filter((connection) => isMeant(connection, text))
      const clients = found.slice(0, most).map((connection) => shown(connection, parts))
      return { server: server(), count: found.length, clients }
    },
    /** The silence of a client; undefined where it is none, or no client has the id. */
    silenceOf(id: string): ClientSilence | undefined {
      const connection = book.of(id)
      const silentMs = connection === undefined ? 0 : monotonicMs() - connection.heardMs
      return silentMs < LIVELY_MS
        ? undefined
        : { silentMs, leavesInMs: Math.max(0, SILENT_MS + REPLY_MS - silentMs) }
    },
    /** Sends a client away. False if no client has the id. */
    dismiss({ id, how }: Dismissal): boolean {
      const connection = book.of(id)
      if (connection === undefined) return false
      if (how === 'move') moves.one(connection)
      else connection.close()
      return true
    },
  }
}

function addressText({ ip, port }: ServerAddress): string {
  return hostPort(ip, port)
}

function isMeant({ id, ip, client, username }: StreamConnection, text: string): boolean {
  return [id, ip, client.version, client.appName, client.clientIp, username].some((each) =>
    each.includes(text),
  )
}

function shown(connection: StreamConnection, { publishing, pushing }: ClientParts): ConnectedClient {
  const { id, ip, port, client, username, heardMs, beganMs } = connection
  const nowMs = monotonicMs()
  const { version, appName, module, clientIp, labels } = client
  return {
    id,
    ip,
    port,
    version,
    appName,
    module,
    clientIp,
    username,
    labels: Object.fromEntries(labels),
    sinceMs: Math.round(wallMs() - (nowMs - beganMs)),
    heardAgoMs: Math.round(nowMs - heardMs),
    ...publishing.connectionInstances.registrations.counts(id),
    subscriptions: pushing.streams.subscriptionsOf(id),
  }
}
