import type { Operations } from '../operations/operations.ts'
import type { AnyRequestType } from '../protocols/grpc/requests/request-type.ts'

/** What the requests of connected clients work with. */
export interface ClientRequestParts {
  readonly operations: Operations
}

/** What connected clients may ask. */
export interface ClientRequests {
  readonly types: readonly AnyRequestType[]
  /** What this server can do, as clients name it: `fuzzyWatch`, `supportPersistentInstanceByGrpc`. */
  readonly abilities: readonly string[]
}

/** All kinds of requests of connected clients. */
export function clientRequests(_parts: ClientRequestParts): ClientRequests {
  return { types: [], abilities: [] }
}
