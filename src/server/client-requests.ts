import type { Operations } from '../operations/operations.ts'
import { configRequests } from '../protocols/grpc/config/config-requests.ts'
import { namingRequests } from '../protocols/grpc/naming/naming-requests.ts'
import type { AnyRequestType } from '../protocols/grpc/requests/request-type.ts'
import type { Settings } from '../settings/settings.ts'
import { later } from './clocks.ts'

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
export function clientRequests({ operations }: ClientRequestParts, settings: Settings): ClientRequests {
  const parts = { operations, limits: settings, after: later }
  return {
    types: [...configRequests(parts), ...namingRequests(parts)],
    abilities: ['supportPersistentInstanceByGrpc', 'fuzzyWatch'],
  }
}
