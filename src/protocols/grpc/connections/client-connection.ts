import type { ServerRequestType, ServerMessage } from '../wire/payload.ts'
import type { CertificateUser } from '../../sockets/secure-layer.ts'

/** The facts that a client sends when it sets its connection up. */
export interface ClientFacts {
  /** The name and version of its library as sent, such as `Nacos-Java-Client:v3.0.3`; ''. */
  readonly version: string
  /** The purpose of the connection: `config`, `naming`, `lock`, `ai`; '' if the client does not name it. */
  readonly module: string
  /** The name of the application; ''. */
  readonly appName: string
  /** The address that the client takes for its own, or ''; it may be wrong. */
  readonly clientIp: string
  /** Labels as sent, `module` and `AppName` among them. */
  readonly labels: ReadonlyMap<string, string>
  /** It has named its abilities, perhaps none: it wants to know those of the server. */
  readonly negotiates: boolean
}

/** A request of the server to a client. */
export interface Question {
  /** Such as `NotifySubscriberRequest`. */
  readonly type: ServerRequestType
  /** Its own keys; a ReadyJson where the text was made once for many. `requestId` is added. */
  readonly body: object
}

/**
 * Why a connection has ended. `left`: the client closed it, is silently dead, or was ended by an operator. `moved`: the
 * client was sent to another server, where it registers again. `signed-out`: its credentials do not count any more; it
 * may sign in again. `stopping`: this server stops.
 */
export type EndReason = 'left' | 'moved' | 'signed-out' | 'stopping'

/** How a connection ended, for metrics. `silent`, `unread` (too much of it) and `closed` (by an operator) mean `left`. */
export type EndCause = EndReason | 'silent' | 'unread' | 'closed'

/** A client that is connected and set up. */
export interface ClientConnection {
  /** `<ms>_<ip>_<port>`; no other connection of this process has it. */
  readonly id: string
  /** The address and port of the socket's other side. */
  readonly ip: string
  readonly port: number
  readonly client: ClientFacts
  /** Monotonic time of the setup. */
  readonly beganMs: number
  /** Monotonic time at which something last came from the client. */
  readonly heardMs: number
  /** Monotonic time at which the client first sent its current credentials; -Infinity if never. */
  readonly signedInMs: number
  /** Asks the client. Resolves with whether it has acknowledged it in time. Never rejects. */
  ask(question: Question, limitMs: number): Promise<boolean>
  /** Calls back once when the connection has ended, or at once if it has ended already. */
  onEnd(ended: (why: EndReason) => void): void
  /** Closes the connection: its client connects again, to this server or another one. */
  close(): void
  /** The same, because others need its room: its instances stay until it has registered again, as those of a moved client. */
  giveWay(): void
}

/**
 * A TCP connection with its HTTP/2 session. It is the identity of a client: requests belong to the connection on whose
 * session they arrive.
 */
export interface ClientSession {
  /** `<ms>_<ip>_<port>` of when it was opened; no other session of this process has it. */
  readonly id: string
  readonly ip: string
  readonly port: number
  /** The user of the certificate that the client has shown. */
  readonly certificateUser: CertificateUser | undefined
  /** Whether a request on it could be carried out: it is set up, and its caller counts. Until then its requests are small. */
  isKnown: boolean
  /** The owner of the memory of its requests: the user, or the network of its address until one is known. */
  owner: string
  /** Ends it: answers that were given to it are sent first. */
  close(): void
}

/** Where messages to a client go: its stream. */
export interface Outlet {
  /** Sends a message. False if too much waits unread: the client must be left. */
  send(message: ServerMessage): boolean
  /** Nothing more is sent. */
  end(): void
}
