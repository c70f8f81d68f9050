import { Type } from '../../parameters/schema.ts'
import type { NotReadyReason } from '../endpoints/health-routes.ts'
import { endpoint, placeRoutes, type Route } from '../routing/route.ts'
import { CONFIG_PART, failure, SERVER_ERROR, success } from './envelope.ts'

const PUBLIC = { action: 'read', resource: 'public' } as const
const NO_PARAMS = Type.Object({})

/** The routes about the server for probes and clients while gRPC is away (grpc-compat.md section 6). */
export function serverStateRoutes(notReady: () => readonly NotReadyReason[]): Route[] {
  const liveness = endpoint({
    summary: 'Whether the server works',
    permission: PUBLIC,
    params: NO_PARAMS,
    handle: () => success('ok'),
  })
  const readiness = endpoint({
    summary: 'Whether the server should get requests; 503 if not',
    permission: PUBLIC,
    params: NO_PARAMS,
    handle: () => {
      const reasons = notReady().map(({ detail }) => detail)
      return reasons.length === 0 ? success('ok') : failure(503, SERVER_ERROR, reasons.join(' '))
    },
  })
  return ['/nacos/v2/console/health', '/nacos/v3/admin/core/state'].flatMap((prefix) =>
    placeRoutes(CONFIG_PART, prefix, [
      ['GET', '/liveness', liveness],
      ['GET', '/readiness', readiness],
    ]),
  )
}
