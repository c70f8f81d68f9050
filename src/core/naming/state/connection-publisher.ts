import type { Publisher } from './instance.ts'
import type { ServiceKey } from './service.ts'

/** A connection of a client, unique among all processes of all servers. */
export interface ConnectionName {
  /** Names the process of the server that holds the connection (`MemberFacts.process`). */
  readonly process: string
  /** Names the connection within that process. */
  readonly connectionId: string
}

/** Instances of a connection that leave a service because its client asks. `registration`: others replace them. */
export interface AskedLeave {
  readonly serviceKey: ServiceKey
  readonly publisher: Publisher
  readonly cause: 'deregistration' | 'registration'
}

/**
 * The publisher of the instances of a connection. It names the process, because no connection outlives its process: so
 * everybody can tell which instances are left over.
 */
export function connectionPublisher({ process, connectionId }: ConnectionName): Publisher {
  return { kind: 'connection', id: `${process}/${connectionId}` }
}

/** The connection that a publisher stands for, or undefined. */
export function connectionOf(publisher: Publisher): ConnectionName | undefined {
  if (publisher.kind !== 'connection') return undefined
  const { id } = publisher
  const end = id.indexOf('/')
  if (end === -1) return { process: '', connectionId: id }
  return { process: id.slice(0, end), connectionId: id.slice(end + 1) }
}

/** The process of imported instances begins like this. No process of a server does. */
const MOVED = 'moved:'

/**
 * The publisher of an ephemeral instance that was imported: a client that has published it at another server, and has
 * still to come. It names the process that imported it.
 */
export function movedPublisher(importer: string): Publisher {
  return connectionPublisher({ process: `${MOVED}${importer}`, connectionId: '' })
}

/** Whether an instance was imported, and nobody has published it here since. */
export function isMoved(publisher: Publisher): boolean {
  return publisher.kind === 'connection' && publisher.id.startsWith(MOVED)
}

/** The process that has imported the instances of such a process; undefined: it is the process of a server. */
export function importerOf(process: string): string | undefined {
  return process.startsWith(MOVED) ? process.slice(MOVED.length) : undefined
}
