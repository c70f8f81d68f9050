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

/** An item that some clients have not got though they watch it. */
export interface BehindConfig {
  readonly namespaceId: string
  readonly group: string
  readonly dataId: string
  readonly clientCount: number
  /** The first of them. */
  readonly clients: readonly { readonly ip: string; readonly port: number | null; readonly agent: string }[]
}

/** A server of the installation. */
export interface OverviewMember {
  readonly ip: string
  readonly port: number
  readonly alive: boolean
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
  readonly behind: readonly BehindConfig[]
  readonly members: readonly OverviewMember[]
}

/** How everything is that the user may read. */
export const readOverview = (): Promise<Overview> =>
  request('GET', 'svc/v1/console/overview', { query: { namespaceId: '*' } })
