import { requirePermissions } from '../../protocols/http/routing/declared-permissions.ts'
import type { Operations } from '../../operations/operations.ts'
import { errorsOfPath } from '../../protocols/http/dialect-errors.ts'
import { serverStateRoutes } from '../../protocols/http/enveloped/server-state-routes.ts'
import { v2ConfigRoutes } from '../../protocols/http/enveloped/v2-config-routes.ts'
import { v2NamespaceRoutes } from '../../protocols/http/enveloped/v2-namespace-routes.ts'
import { v2NamingRoutes } from '../../protocols/http/enveloped/v2-naming-routes.ts'
import { v3GrayRoutes, v3Routes } from '../../protocols/http/enveloped/v3-routes.ts'
import { actuatorRoutes } from '../../protocols/http/nacos/actuator-routes.ts'
import { nacosAccessRoutes } from '../../protocols/http/nacos/access-routes.ts'
import { nacosConfigRoutes } from '../../protocols/http/nacos/config-routes.ts'
import { nacosConsoleRoutes, type ServerFacts } from '../../protocols/http/nacos/console-routes.ts'
import { nacosImportRoutes } from '../../protocols/http/nacos/import-routes.ts'
import { nacosListenerRoutes } from '../../protocols/http/nacos/listener-routes.ts'
import { nacosNamespaceRoutes } from '../../protocols/http/nacos/namespace-routes.ts'
import { nacosNamingRoutes } from '../../protocols/http/nacos/naming-routes.ts'
import { nacosOperatorRoutes } from '../../protocols/http/nacos/operator-routes.ts'
import { healthRoutes, type HealthParts } from '../../protocols/http/endpoints/health-routes.ts'
import { openapiRoute } from '../../protocols/http/documents/openapi-route.ts'
import type { Route } from '../../protocols/http/routing/route.ts'
import { type PageParts, pageRoutes } from '../../protocols/http/page/page-routes.ts'
import { svcAccessRoutes } from '../../protocols/http/svc/access-routes.ts'
import { svcConfigRoutes } from '../../protocols/http/svc/config-routes.ts'
import { svcConsoleRoutes } from '../../protocols/http/svc/console-routes.ts'
import { svcListenerRoutes } from '../../protocols/http/svc/listener-routes.ts'
import { svcNamespaceRoutes } from '../../protocols/http/svc/namespace-routes.ts'
import { svcNamingRoutes } from '../../protocols/http/svc/naming-routes.ts'
import { svcOperatorRoutes } from '../../protocols/http/svc/operator-routes.ts'
import type { Settings } from '../../settings/settings.ts'
import { packageVersion } from '../../command/version.ts'

/** The parts that the routes use. */
export interface RouteParts {
  readonly operations: Operations
  readonly monotonicMs: () => number
  readonly settings: Settings
  readonly notReady: HealthParts['notReady']
  readonly warnings: HealthParts['warnings']
  readonly faults: HealthParts['faults']
}

/**
 * Every route of all dialects, and the document that describes them. Throws an Error for a route or an operation without a
 * declared permission.
 */
export function allRoutes(parts: RouteParts): Route[] {
  const { operations, settings } = parts
  const { listening, namespaces } = operations
  const { maxListeningItems, namespaceQuota, maxInstanceMetadataBytes } = settings
  const naming = { ...operations, maxInstanceMetadataBytes }
  const operated = { ...operations, version: packageVersion() }
  const listener = { listening, nowMs: parts.monotonicMs, maxListeningItems }
  const routes = [
    ...svcAccessRoutes(operations),
    ...svcConfigRoutes(operations, settings),
    ...svcConsoleRoutes(operations, { ...parts, version: packageVersion(), temporary: settings.temporary }),
    ...svcListenerRoutes(listener),
    ...svcNamespaceRoutes({ namespaces, namespaceQuota }),
    ...svcNamingRoutes(naming),
    ...svcOperatorRoutes({ ...operated, limits: settings }),
    ...nacosAccessRoutes(operations),
    ...nacosConfigRoutes(operations, settings),
    ...nacosImportRoutes(operations, settings),
    ...nacosListenerRoutes(listener),
    ...nacosNamespaceRoutes({ namespaces, namespaceQuota }),
    ...nacosNamingRoutes(naming),
    ...nacosOperatorRoutes(operated),
    ...nacosConsoleRoutes({ ...operated, notReady: parts.notReady, facts: factsOf(settings) }),
    ...v2ConfigRoutes(operations, settings),
    ...v2NamingRoutes(naming),
    ...v2NamespaceRoutes({ namespaces, namespaceQuota }),
    ...v3Routes(naming),
    ...v3GrayRoutes(operations, settings),
    ...serverStateRoutes(parts.notReady),
    ...healthRoutes({ ...operations, ...parts }),
    ...actuatorRoutes({ ...operations, ...parts }),
  ]
  const all = [...routes, openapiRoute(routes, packageVersion())]
  requirePermissions(operations, all)
  return all
}

/** All that the server answers: the interface, and the files of the console, which the document leaves out. */
export function servedRoutes(parts: RouteParts & { readonly console: PageParts }): Route[] {
  const page = pageRoutes(parts.console, errorsOfPath)
  requirePermissions(parts.operations, page)
  return [...allRoutes(parts), ...page]
}

function factsOf({ store, ...settings }: Settings): ServerFacts {
  return { ...settings, isOneOfMany: store === 'etcd' }
}
