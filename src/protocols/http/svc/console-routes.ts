import type { Operations } from '../../../operations/operations.ts'
import { SVC_RULES } from '../../parameters/schema.ts'
import { explainEndpoint, listInstancesEndpoint } from '../endpoints/console/instance-list.ts'
import { connectedClientEndpoints } from '../endpoints/console/connected-clients.ts'
import { compareEndpoint } from '../endpoints/console/compare-endpoint.ts'
import { eventsEndpoint } from '../endpoints/console/events-endpoint.ts'
import { listConfigsEndpoint } from '../endpoints/console/config-list.ts'
import { versionEndpoints } from '../endpoints/console/version-endpoints.ts'
import { watchersEndpoint } from '../endpoints/console/watchers-endpoint.ts'
import { listServicesEndpoint } from '../endpoints/console/service-list.ts'
import {
  dismissEndpoint,
  overviewEndpoint,
  type OverviewFacts,
} from '../endpoints/console/overview-endpoint.ts'
import { searchEndpoint } from '../endpoints/console/search-endpoint.ts'
import { spaceEndpoints } from '../endpoints/console/space-endpoints.ts'
import { timelineEndpoint } from '../endpoints/console/timeline-endpoint.ts'
import { problemErrors } from '../errors/problem.ts'
import { placeRoutes, type Route } from '../routing/route.ts'

/** `/svc/v1/console`: the requests of people who look after configurations and services. No client sends them. */
export function svcConsoleRoutes(
  operations: Pick<
    Operations,
    | 'overview'
    | 'spaces'
    | 'inventory'
    | 'versions'
    | 'listening'
    | 'gray'
    | 'serviceInventory'
    | 'instanceViews'
    | 'connectedClients'
    | 'explanations'
    | 'search'
    | 'liveEvents'
    | 'timelines'
  >,
  facts: OverviewFacts,
): Route[] {
  const versions = versionEndpoints(operations.versions)
  const spaces = spaceEndpoints(operations.spaces)
  const clients = connectedClientEndpoints(operations.connectedClients)
  return placeRoutes({ rules: SVC_RULES, errors: problemErrors }, '/svc/v1/console', [
    ['GET', '/clients', clients.list],
    ['PUT', '/clients/move', clients.move],
    ['DELETE', '/clients', clients.close],
    ['GET', '/overview', overviewEndpoint(operations.overview, facts)],
    ['DELETE', '/attention', dismissEndpoint(operations.overview)],
    ['GET', '/events', eventsEndpoint(operations.liveEvents)],
    ['GET', '/namespaces/all', spaces.list],
    ['PUT', '/namespaces/look', spaces.setLook],
    ['GET', '/search', searchEndpoint(operations.search)],
    ['GET', '/configs', listConfigsEndpoint(operations.inventory)],
    ['GET', '/config/versions', versions.list],
    ['GET', '/config/version', versions.read],
    ['POST', '/config/restore', versions.restore],
    ['GET', '/config/watchers', watchersEndpoint(operations)],
    ['GET', '/bin', versions.bin],
    ['GET', '/compare', compareEndpoint(operations.inventory)],
    ['GET', '/services', listServicesEndpoint(operations.serviceInventory)],
    ['GET', '/instances', listInstancesEndpoint(operations.instanceViews)],
    ['GET', '/explain', explainEndpoint(operations.explanations)],
    ['GET', '/timeline', timelineEndpoint(operations.timelines)],
  ])
}
