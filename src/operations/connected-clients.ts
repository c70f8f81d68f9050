import { Refusal } from '../core/refusal.ts'
import type { Guard, Resource } from './guard.ts'
import { cutPage, type Page, type PageRequest } from './page.ts'

/** A client that is connected to this server by gRPC. */
export interface ConnectedClient {
  readonly id: string
  readonly ip: string
  readonly port: number
  /** The name and version of its library as it says, its application, and what the connection is for; ''. */
  readonly version: string
  readonly appName: string
  readonly module: string
  /** The address that it takes for its own; ''. */
  readonly clientIp: string
  readonly labels: ReadonlyMap<string, string>
  /** When it was set up, epoch ms. */
  readonly sinceMs: number
  /** How long ago something came from it. */
  readonly heardAgoMs: number
  /** The services in which it has instances, and these. */
  readonly services: number
  readonly instances: number
  /** The services that it subscribes to, with each spelling of clusters. */
  readonly subscriptions: number
}

/** Which clients are asked for: those in whose id, address, library or application the text occurs. */
export interface ClientSearch extends PageRequest {
  readonly text: string
}

/** The clients that are connected to this server. */
export interface ConnectedClients {
  /** The address of this server. */
  server(): string
  /** In the order in which they connected. */
  find(search: ClientSearch): Page<ConnectedClient>
  /** Sends a client to another server. False where none has the id. */
  move(id: string): boolean
  /** Closes a connection. False where none has the id. */
  close(id: string): boolean
}

/** What the operations on connected clients work on. */
export interface ConnectedClientParts {
  readonly guard: Guard
  readonly connected: ConnectedClients
}

/** The operations on connected clients. */
export type ConnectedClientOperations = ReturnType<typeof connectedClientOperations>

/** Makes the operations on the clients that are connected to this server. */
export function connectedClientOperations({ guard, connected }: ConnectedClientParts) {
  const resources = (): Resource[] => [{ kind: 'operator' }]
  const item = ({ id }: { readonly id: string }): string => id
  return {
    list: guard.operation({
      permission: { action: 'read', resource: 'operator' },
      resources,
      run: (search: ClientSearch) => ({
        server: connected.server(),
        page: connected.find({ ...search, ...cutPage(search) }),
      }),
    }),
    /** Sends a client to another server, or lets it connect again where there is none. Refusal `client-not-found`. */
    move: guard.operation({
      permission: { action: 'write', resource: 'operator' },
      audit: { operation: 'move client', item },
      resources,
      run: ({ id }: { readonly id: string }): void => refuseUnknown(connected.move(id)),
    }),
    /** Closes the connection of a client: its instances leave, and it connects again. Refusal `client-not-found`. */
    close: guard.operation({
      permission: { action: 'write', resource: 'operator' },
      audit: { operation: 'close client', item },
      resources,
      run: ({ id }: { readonly id: string }): void => refuseUnknown(connected.close(id)),
    }),
  }
}

function refuseUnknown(isKnown: boolean): void {
  if (!isKnown) throw new Refusal('client-not-found', 'No client with this id is connected to this server.')
}
