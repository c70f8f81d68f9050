/** The kind of a request of a client. */
export type Kind =
  | 'publish'
  | 'compare-and-set'
  | 'delete'
  | 'publish-gray'
  | 'promote'
  | 'stop'
  | 'read'
  | 'register'
  | 'deregister'
  | 'beat'
  | 'list'

/**
 * How it ended. `ok`: acknowledged. `changed`: refused because the item has another md5, or no gray version to promote or stop. `refused`: certainly not done.
 * `unknown`: no answer, or one that says that the result is unknown.
 */
export type Outcome = 'ok' | 'changed' | 'refused' | 'unknown'

/** One request of a client. Times are in ms on one clock for all clients. */
export interface Operation {
  /** No other operation has it. A write of an item passes it on as `src_user`, so its history record has it. */
  readonly id: string
  readonly client: string
  /** The index of the server. */
  readonly server: number
  readonly kind: Kind
  /** The item, or the service with the address of the instance. */
  readonly key: string
  /** The written value; undefined: nothing is there afterwards. */
  readonly value?: string | undefined
  /** The value that a compare-and-set expects; undefined: nothing. */
  readonly expected?: string | undefined
  readonly outcome: Outcome
  /** The value that a read or a list saw of the key; undefined: nothing. */
  readonly seen?: string | undefined
  readonly begunMs: number
  readonly endedMs: number
  /** The answer, if it was not the expected one. */
  readonly said?: string
}

/** The answer to the list of a service: whether each of its instances is healthy. */
export interface ListOfService {
  readonly server: number
  readonly begunMs: number
  readonly endedMs: number
  readonly hosts: ReadonlyMap<string, boolean>
}

/** The answer of `/readyz`; status 0: none. */
export interface Readiness {
  readonly server: number
  readonly status: number
  readonly text: string
  readonly begunMs: number
  readonly endedMs: number
}

/** Everything that the clients did and saw. */
export class Recording {
  readonly operations: Operation[] = []
  /** Of the instances that beat. */
  readonly lists: ListOfService[] = []
  /** Of the instances that connections publish. */
  readonly connected: ListOfService[] = []
  readonly readiness: Readiness[] = []
}
