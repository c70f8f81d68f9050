import type { Operations } from '../../../operations/operations.ts'
import type { PublishLimits } from '../../parameters/publish-params.ts'
import {
  publishGrayOfClients,
  publishOfClients,
  readBeta,
  readGrayOfClients,
  removeOfClients,
  stopBeta,
  stopGrayOfClients,
} from '../endpoints/config/client-endpoints.ts'
import { type Endpoint, placeRoutes } from '../routing/endpoint.ts'
import type { Route } from '../routing/route.ts'
import { CONFIG_PART } from './defaults.ts'
import { enveloped } from './envelope.ts'
import { renamed } from './renamed.ts'

/** The names of parameters here, by their names in endpoints. */
const NAMES = { tenant: 'namespaceId', group: 'groupName', config_tags: 'configTags', src_user: 'srcUser' }

/**
 * The gray versions of `/nacos/v3/admin/cs/config`, and publish and delete, which accept a gray version (grpc-compat.md
 * section 7). The rest of that path comes later.
 */
export function v3GrayRoutes(parts: Pick<Operations, 'configs' | 'gray'>, limits: PublishLimits): Route[] {
  const { gray } = parts
  const rows = [
    ['POST', '', publishOfClients(parts, limits)],
    ['DELETE', '', removeOfClients(parts)],
    ['GET', '/beta', readBeta(gray)],
    ['DELETE', '/beta', stopBeta(gray)],
    ['POST', '/gray', publishGrayOfClients(gray, limits)],
    ['GET', '/gray', readGrayOfClients(gray)],
    ['DELETE', '/gray', stopGrayOfClients(gray)],
  ] as const satisfies readonly (readonly [string, string, Endpoint])[]
  return placeRoutes(
    CONFIG_PART,
    '/nacos/v3/admin/cs/config',
    rows.map(([method, path, of]) => [method, path, enveloped(renamed(of, NAMES))] as const),
  )
}
