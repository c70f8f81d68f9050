/** A client that is connected by gRPC. */
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
  /** The user whose credentials it has shown last; '' where nobody signs in, or not yet. */
  readonly username: string
  readonly labels: Readonly<Record<string, string>>
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

/** Selects at most `most` clients with the text in their id, address, library, application or user. */
export interface ClientSearch {
  readonly text: string
  readonly most: number
}

/** The clients that are connected to one server. */
export interface ServerClients {
  /** Its address. */
  readonly server: string
  /** How many there are. */
  readonly count: number
  /** The first clients, in the order in which they connected. */
  readonly clients: readonly ConnectedClient[]
}

/** How clients are sent away. `move`: to another server; `close`: their connection is closed, and they connect again. */
export const DISMISSALS = ['move', 'close'] as const

/** Which client is sent away, and how. */
export interface Dismissal {
  readonly id: string
  readonly how: (typeof DISMISSALS)[number]
}
