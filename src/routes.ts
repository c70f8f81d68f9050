import { ContentBudget } from './core/config/content-budget.ts'
import type { LeaderView } from './core/operator/leadership.ts'
import type { Store } from './core/ports.ts'
import { type AuditLog, auditedRoutes } from './protocols/http/endpoints/audit.ts'
import { nacosConfigRoutes } from './protocols/http/nacos/config-routes.ts'
import { nacosConsoleRoutes } from './protocols/http/nacos/console-routes.ts'
import { nacosHistoryRoutes } from './protocols/http/nacos/history-routes.ts'
import { nacosImportRoutes } from './protocols/http/nacos/import-routes.ts'
import { nacosListenerRoutes } from './protocols/http/nacos/listener-routes.ts'
import { nacosNamespaceRoutes } from './protocols/http/nacos/namespace-routes.ts'
import { nacosNamingRoutes } from './protocols/http/nacos/naming-routes.ts'
import { nacosOperatorRoutes } from './protocols/http/nacos/operator-routes.ts'
import { memoryLimitBytes } from './machine/memory-limit.ts'
import type { NamingParts } from './protocols/http/endpoints/naming/naming-parts.ts'
import { healthRoutes, type HealthParts } from './protocols/http/endpoints/health-routes.ts'
import { openapiRoute } from './protocols/http/documents/openapi-route.ts'
import type { Member, OperatorParts } from './protocols/http/endpoints/operator/operator-operations.ts'
import type { Route } from './protocols/http/routing/route.ts'
import type { BackupParts } from './protocols/http/endpoints/operator/backup-operations.ts'
import { svcBackupRoutes } from './protocols/http/svc/backup-routes.ts'
import { svcConfigRoutes } from './protocols/http/svc/config-routes.ts'
import { svcHistoryRoutes } from './protocols/http/svc/history-routes.ts'
import { svcListenerRoutes } from './protocols/http/svc/listener-routes.ts'
import { svcNamespaceRoutes } from './protocols/http/svc/namespace-routes.ts'
import { svcNamingRoutes } from './protocols/http/svc/naming-routes.ts'
import { svcOperatorRoutes } from './protocols/http/svc/operator-routes.ts'
import type { Settings } from './settings/settings.ts'
import type { LongPolls } from './subscribers/long-poll.ts'
import type { PushSubscribers } from './subscribers/push.ts'
import { packageVersion } from './command/version.ts'

/** What the routes work on. */
export interface RouteParts {
  readonly state: NamingParts['state']
  readonly lists: NamingParts['lists']
  readonly engine: NamingParts['engine']
  readonly store: Store
  readonly clock: NamingParts['clock']
  readonly polls: LongPolls
  readonly pushes: PushSubscribers
  readonly members: () => readonly Member[]
  readonly leader: () => LeaderView
  readonly machine: OperatorParts['machine']
  readonly monotonicMs: () => number
  readonly backups: BackupParts['backups']
  readonly settings: Settings
  readonly notReady: HealthParts['notReady']
  readonly scrape: HealthParts['scrape']
  readonly auditLog: AuditLog
}

/** Every route of both dialects, and the document that describes them. */
export function allRoutes(parts: RouteParts): Route[] {
  const naming: NamingParts = { ...parts, maxInstanceMetadataBytes: parts.settings.maxInstanceMetadataBytes }
  const operator: OperatorParts = { ...parts, subscriberCount: () => parts.pushes.counts().subscribers }
  const { maxListeningItems } = parts.settings
  const listener = { polls: parts.polls, nowMs: parts.monotonicMs, maxListeningItems }
  const config = { ...parts, ...parts.settings, budget: contentBudget(parts) }
  const routes = [
    ...svcConfigRoutes(config),
    ...svcHistoryRoutes(config),
    ...svcListenerRoutes(listener),
    ...svcNamespaceRoutes(config),
    ...svcNamingRoutes(naming),
    ...svcOperatorRoutes(operator),
    ...svcBackupRoutes(parts),
    ...nacosConfigRoutes(config),
    ...nacosImportRoutes(config),
    ...nacosHistoryRoutes(config),
    ...nacosListenerRoutes(listener),
    ...nacosNamespaceRoutes(config),
    ...nacosNamingRoutes(naming),
    ...nacosOperatorRoutes(operator),
    ...nacosConsoleRoutes({ version: packageVersion(), members: parts.members, notReady: parts.notReady }),
    ...healthRoutes(parts),
  ]
  return [...auditedRoutes(routes, parts.auditLog), openapiRoute(routes, packageVersion())]
}

/** Without a limit of its own the server leaves the other half to its answers and to the disk's cache. */
function contentBudget({ state, settings }: RouteParts): ContentBudget {
  const limitBytes = settings.maxContentMemoryBytes || Math.floor(memoryLimitBytes() / 2)
  return new ContentBudget(state, limitBytes)
}
