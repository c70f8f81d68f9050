import type { HealthChecker } from './health-checker.ts'

/** Names a service. `groupedName` is `<group>@@<service>`, the form that answers use. */
export interface ServiceKey {
  readonly namespaceId: string
  readonly groupedName: string
}

/** A named group of a service's instances, and how they are probed. */
export interface Cluster {
  readonly name: string
  readonly healthChecker: HealthChecker
  /** The port that probes use unless `useInstancePort4Check`. */
  readonly checkPort: number
  readonly useInstancePort4Check: boolean
  readonly metadata: Readonly<Record<string, string>>
}

/** Selects the instances that a consumer may see: all, or the instances that share labels with it. */
export type Selector = { readonly type: 'none' } | { readonly type: 'label'; readonly expression: string }

/**
 * A discovered service, without its instances. `madeBy` decides when it leaves. One made by an operator
 * (POST) stays until it is deleted; one made by a registration leaves when it has been empty for a while.
 * `serial` is this server's own number for it, never sent.
 */
export interface Service {
  readonly key: ServiceKey
  readonly serial: number
  readonly protectThreshold: number
  readonly metadata: Readonly<Record<string, string>>
  readonly selector: Selector
  readonly clusters: Readonly<Record<string, Cluster>>
  readonly madeBy: 'operator' | 'registration'
}

/** The first settings of a service. Nearly all services keep and share them. */
export const SERVICE_DEFAULTS: Pick<Service, 'protectThreshold' | 'metadata' | 'selector' | 'clusters'> = {
  protectThreshold: 0,
  metadata: Object.freeze({}),
  selector: Object.freeze({ type: 'none' }),
  clusters: Object.freeze({}),
}

/** The separator between group and service in a grouped name. */
export const GROUP_SEPARATOR = '@@'

/** The group part of `<group>@@<service>`. */
export function groupOf(groupedName: string): string {
  return groupedName.slice(0, groupedName.indexOf(GROUP_SEPARATOR))
}

/** The service part of `<group>@@<service>`. */
export function serviceNameOf(groupedName: string): string {
  return groupedName.slice(groupedName.indexOf(GROUP_SEPARATOR) + GROUP_SEPARATOR.length)
}

/** One string per key, for maps and sets. */
export function serviceKeyText(key: ServiceKey): string {
  return `${key.namespaceId}\u0002${key.groupedName}`
}
