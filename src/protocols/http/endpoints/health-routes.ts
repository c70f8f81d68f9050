import { JSON_TYPE, jsonAnswer, textAnswer } from '../routing/answers.ts'
import { type Endpoint, endpoint, placeRoutes, type Route, type Answer } from '../routing/route.ts'
import { SVC_RULES, Type } from '../../parameters/schema.ts'
import { problemErrors } from '../errors/problem.ts'
import type { Operations } from '../../../operations/operations.ts'

/** Why the server should be sent no requests; `forMs`: for how long, ms. */
export interface NotReadyReason {
  readonly code: string
  readonly detail: string
  readonly forMs: number
}

/** Dependencies of the routes for probes and monitoring. */
export interface HealthParts {
  readonly operator: Pick<Operations['operator'], 'scrape'>
  /** Empty when the server is ready. */
  readonly notReady: () => readonly NotReadyReason[]
  /** Faults of a server that is ready. */
  readonly warnings: () => readonly NotReadyReason[]
  /** The faults that were caught since the start, by boundary. */
  readonly faults: () => Readonly<Record<string, number>>
}

const PUBLIC = { action: 'read', resource: 'public' } as const

/** The routes for orchestrators and monitoring: `/healthz`, `/readyz`, `/metrics`. No switch closes them. */
export function healthRoutes(parts: HealthParts): Route[] {
  return placeRoutes({ rules: SVC_RULES, errors: problemErrors }, '', [
    ['GET', '/healthz', alive()],
    ['GET', '/readyz', ready(parts)],
    ['GET', '/metrics', metrics(parts.operator)],
  ])
}

function alive(): Endpoint {
  const answer = textAnswer('ok')
  return endpoint({
    summary: 'Whether the process works',
    permission: PUBLIC,
    params: Type.Object({}),
    handle: () => answer,
  })
}

function ready({ notReady, warnings, faults }: HealthParts): Endpoint {
  return endpoint({
    summary: 'Whether the server should get requests; 503 with the reasons if not',
    permission: PUBLIC,
    params: Type.Object({}),
    handle: () => readyAnswer(notReady(), { warnings: warnings(), faults: faults() }),
  })
}

interface Remarks {
  readonly warnings: readonly NotReadyReason[]
  readonly faults: Readonly<Record<string, number>>
}

function readyAnswer(problems: readonly NotReadyReason[], { warnings, faults }: Remarks): Answer {
  if (problems.length === 0)
    return jsonAnswer({
      ready: true,
      ...(warnings.length === 0 ? {} : { warnings }),
      ...(Object.keys(faults).length === 0 ? {} : { faults }),
    })
  return {
    status: 503,
    contentType: JSON_TYPE,
    body: JSON.stringify({ ready: false, reasons: problems }),
    headers: { 'Retry-After': '5' },
  }
}

function metrics({ scrape }: HealthParts['operator']): Endpoint {
  return endpoint({
    summary: 'Measures, in the text format of Prometheus',
    permission: scrape.permission,
    params: Type.Object({}),
    handle: async ({ caller }) => {
      const { contentType, body } = await scrape({}, caller)
      return { status: 200, contentType, body }
    },
  })
}
