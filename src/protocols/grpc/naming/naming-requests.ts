import type { Operations } from '../../../operations/operations.ts'
import type { AnyRequestType } from '../requests/request-type.ts'
import { discoveryRequests } from './discovery-requests.ts'
import { fuzzyServices } from './fuzzy-services.ts'
import { instanceRequests } from './instance-requests.ts'

/** Dependencies of the requests on services and instances. */
export interface NamingRequestParts {
  readonly operations: Operations
  readonly limits: { readonly maxInstanceMetadataBytes: number }
  /** Runs something later, and keeps no process alive for it. */
  readonly after: (ms: number, run: () => void) => void
}

/** The requests on services and instances (grpc-compat.md section 3). */
export function namingRequests(parts: NamingRequestParts): AnyRequestType[] {
  const { operations, after } = parts
  return [
    ...instanceRequests(parts),
    ...discoveryRequests(operations),
    fuzzyServices(operations.servicePatterns, after),
  ]
}
