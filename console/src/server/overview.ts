import { request } from './request.ts'

/** Something of the server that does not work, and for how long. */
export interface ServerProblem {
  readonly code: string
  readonly detail: string
  readonly forMs: number
}

/** A service that needs attention. */
export interface Attention {
  readonly kind: 'service-protecting' | 'service-unhealthy' | 'service-empty'
  readonly namespaceId: string
  readonly serviceName: string
  readonly groupName: string
  readonly healthyInstanceCount: number
  readonly ipCount: number
  readonly lastChangeMs: number
}

/** How everything is. */
export interface Overview {
  readonly version: string
  readonly configCount: number
  readonly serviceCount: number
  readonly instanceCount: number
  readonly healthyInstanceCount: number
  readonly disabledInstanceCount: number
  readonly subscriberCount: number | null
  readonly notReady: readonly ServerProblem[]
  readonly warnings: readonly ServerProblem[]
  readonly attention: readonly Attention[]
}

/** How everything is that the user may read. */
export const readOverview = (): Promise<Overview> =>
  request('GET', 'svc/v1/console/overview', { query: { namespaceId: '*' } })
