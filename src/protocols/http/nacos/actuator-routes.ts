import type { Operations } from '../../../operations/operations.ts'
import { Type } from '../../parameters/schema.ts'
import type { NotReadyReason } from '../endpoints/health-routes.ts'
import { jsonAnswer } from '../routing/answers.ts'
import { type Endpoint, endpoint, placeRoutes, type Route } from '../routing/route.ts'
import { CONFIG_DEFAULTS } from './config-defaults.ts'

/** Dependencies of the routes under `/nacos/actuator`. */
export interface ActuatorParts {
  readonly operator: Pick<Operations['operator'], 'scrapeForNacos'>
  /** Empty when the server is ready. */
  readonly notReady: () => readonly NotReadyReason[]
}

const NO_PARAMS = Type.Object({})

/** `/nacos/actuator`: the addresses of the Java server that probes and monitoring ask (docs/operations.md). */
export function actuatorRoutes({ operator, notReady }: ActuatorParts): Route[] {
  return placeRoutes(CONFIG_DEFAULTS, '/nacos/actuator', [
    ['GET', '/health', health(notReady)],
    ['GET', '/prometheus', prometheus(operator)],
  ])
}

function health(notReady: ActuatorParts['notReady']): Endpoint {
  return endpoint({
    summary: 'UP, or 503 and DOWN where the server should get no requests',
    permission: { action: 'read', resource: 'public' },
    params: NO_PARAMS,
    handle: () =>
      notReady().length === 0 ? jsonAnswer({ status: 'UP' }) : jsonAnswer({ status: 'DOWN' }, 503),
  })
}

function prometheus({ scrapeForNacos }: ActuatorParts['operator']): Endpoint {
  return endpoint({
    summary: 'Measures under the names of the Java server, in the text format of Prometheus',
    permission: scrapeForNacos.permission,
    params: NO_PARAMS,
    handle: async ({ caller }) => {
      const { contentType, body } = await scrapeForNacos({}, caller)
      return { status: 200, contentType, body }
    },
  })
}
