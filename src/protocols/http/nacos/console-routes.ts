import type { Operations } from '../../../operations/operations.ts'
import { Type } from '../../parameters/schema.ts'
import { jsonAnswer, textAnswer } from '../routing/answers.ts'
import type { NotReadyReason } from '../endpoints/health-routes.ts'
import { nodeJson } from '../endpoints/operator/node-json.ts'
import { type Endpoint, endpoint, placeRoutes, type Route } from '../routing/route.ts'
import { CONFIG_DEFAULTS } from './config-defaults.ts'

/** The settings that the server shows. */
export interface ServerFacts {
  /** Whether other servers may serve the same store. */
  readonly isOneOfMany: boolean
  readonly port: number
  readonly maxContentBytes: number
  readonly historyRetentionMs: number
  readonly namespaceQuota: number
}

/** Dependencies of the routes about the server itself. */
export interface ConsoleParts extends Pick<Operations, 'operator'> {
  readonly version: string
  readonly facts: ServerFacts
  /** Why the server should be sent no requests; empty when it is ready. */
  readonly notReady: () => readonly NotReadyReason[]
}

const PUBLIC = { action: 'read', resource: 'public' } as const
const NO_PARAMS = Type.Object({})

/** The routes about the server for clients, probes and tools (http-compat.md sections 7 and 8). */
export function nacosConsoleRoutes(parts: ConsoleParts): Route[] {
  return placeRoutes(CONFIG_DEFAULTS, '/nacos/v1', [
    ['GET', '/console/server/state', serverState(parts)],
    ['GET', '/console/health/liveness', constant('Whether the server works', 'OK')],
    ['GET', '/console/health/readiness', readiness(parts)],
    ['GET', '/cs/health', constant('Whether the configuration part works', 'UP')],
    ['GET', '/core/cluster/nodes', clusterNodes(parts)],
  ])
}

function constant(summary: string, text: string): Endpoint {
  const answer = textAnswer(text)
  return endpoint({ summary, permission: PUBLIC, params: NO_PARAMS, handle: () => answer })
}

function readiness({ notReady }: ConsoleParts): Endpoint {
  const ok = textAnswer('OK')
  return endpoint({
    summary: 'Whether the server should get requests; 503 if not',
    permission: PUBLIC,
    params: NO_PARAMS,
    handle: () => {
      const problems = notReady()
      return problems.length === 0 ? ok : textAnswer(problems.map(({ detail }) => detail).join(' '), 503)
    },
  })
}

function serverState({ version, facts, operator }: ConsoleParts): Endpoint {
  const constants = stateOf(facts)
  return endpoint({
    summary: 'The version and the mode of the server',
    permission: PUBLIC,
    params: NO_PARAMS,
    handle: ({ caller }) => {
      const isAuthenticated = `${operator.needsSignIn({}, caller)}`
      return jsonAnswer({
        version,
        standalone_mode: 'standalone',
        function_mode: null,
        auth_enabled: isAuthenticated,
        login_page_enabled: isAuthenticated,
        auth_admin_request: `${operator.needsAdministrator({}, caller)}`,
        ...constants,
      })
    },
  })
}

const DAY_MS = 86_400_000

/** The further state of 2.x, as texts: only the settings that exist here. */
function stateOf({
  isOneOfMany,
  port,
  maxContentBytes,
  historyRetentionMs,
  namespaceQuota,
}: ServerFacts): object {
  return {
    startup_mode: isOneOfMany ? 'cluster' : 'standalone',
    server_port: `${port}`,
    auth_system_type: 'nacos',
    console_ui_enabled: 'true',
    maxContent: `${maxContentBytes}`,
    defaultMaxSize: `${maxContentBytes}`,
    config_retention_days: `${Math.ceil(historyRetentionMs / DAY_MS)}`,
    defaultGroupQuota: `${namespaceQuota}`,
    // Nothing enforces a quota.
    isManageCapacity: 'false',
    isCapacityLimitCheck: 'false',
    isHealthCheck: 'true',
    datasource_platform: '',
    plugin_datasource_log_enabled: 'false',
  }
}

function clusterNodes({ version, operator }: ConsoleParts): Endpoint {
  return endpoint({
    summary: 'Lists the servers',
    permission: operator.members.permission,
    params: NO_PARAMS,
    handle: ({ caller }) => {
      const members = operator.members({ onlyAlive: false }, caller)
      const data = members.map((member) => nodeJson(member, version))
      return jsonAnswer({ code: 200, message: null, data })
    },
  })
}
