import { packageVersion } from './command/version.ts'
import { describeApi } from './protocols/http/documents/openapi.ts'
import { allRoutes, type RouteParts } from './routes.ts'
import { loadSettings } from './settings/settings.ts'

/** The OpenAPI document of a server with default settings, docs/openapi.json; no server runs for it. */
export function apiDocument(): string {
  const routes = allRoutes(partsOfNoServer())
  return `${JSON.stringify(describeApi(routes, packageVersion()), null, 2)}\n`
}

/** Handlers work on the parts and are not called here: all that describing routes needs is the settings. */
function partsOfNoServer(): RouteParts {
  const settings = loadSettings({ args: [], env: {} })
  return { settings } as Partial<RouteParts> as RouteParts
}
