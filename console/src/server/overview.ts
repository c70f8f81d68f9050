import { request } from './request.ts'
import type { Overview } from './answers.ts'
import type { ServiceName } from './services.ts'

export type { Attention, BehindConfig, Overview } from './answers.ts'

/** A server of the installation. */
export type OverviewMember = Overview['members'][number]

/** How everything is that the user may read. */
export const readOverview = (): Promise<Overview> =>
  request('GET', 'svc/v1/console/overview', { query: { namespaceId: '*' } })

/** Somebody has seen that the last instance of a service has left. */
export const dismissLost = (name: ServiceName): Promise<boolean> =>
  request('DELETE', 'svc/v1/console/attention', { query: { ...name } })
