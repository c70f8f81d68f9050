import { packageVersion } from '../../command/version.ts'
import { describeApi } from '../../protocols/http/documents/openapi.ts'
import { Guard } from '../../operations/guard.ts'
import { allOperations, type OperationParts } from '../../operations/operations.ts'
import { allRoutes, type RouteParts } from './routes.ts'
import { loadSettings } from '../../settings/settings.ts'

/** The OpenAPI document of a server with default settings, as it answers it. No server runs for it. */
export function apiDocument(): string {
  const routes = allRoutes(partsOfNoServer())
  return JSON.stringify(describeApi(routes, packageVersion()))
}

/** Describing routes needs only the settings: handlers and operations use the other parts and are not called here. */
function partsOfNoServer(): RouteParts {
  const settings = loadSettings({ env: {} })
  const operations = allOperations({ guard: new Guard() } as OperationParts)
  return { settings, operations } as RouteParts
}
