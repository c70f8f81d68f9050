import { NO_SERIAL, type InstanceSaved } from '../../decisions/changes.ts'
import { type Command, commandOn, storing, synced } from '../../decisions/decision.ts'
import { ownText } from '../../text/own-text.ts'
import { Refusal } from '../../refusal.ts'
import type { View } from '../../decisions/view.ts'
import { type SentChecker, withStoredSecrets } from '../state/health-checker.ts'
import type { Metadata, InstanceRecord } from '../state/instance.ts'
import { refuseServiceBeyondLimit } from '../state/naming-sizes.ts'
import {
  type Cluster,
  type Selector,
  type Service,
  SERVICE_DEFAULTS,
  type ServiceKey,
  serviceKeyText,
} from '../state/service.ts'

/** Settings of a service by an operator; undefined fields stay as they are (or take their defaults). */
export interface ServiceSettings {
  readonly protectThreshold: number | undefined
  readonly metadata: Metadata | undefined
  readonly selector: Selector | undefined
}

/** The engine's name for a service and everything in it. */
export function serviceSubject(key: ServiceKey): string {
  return `service:${serviceKeyText(key)}`
}

/** The service of that name, or the refusal that it is not there. */
export function existingService(view: View, key: ServiceKey): Service {
  const service = view.service(key)
  if (service !== undefined) return service
  throw new Refusal('service-not-found', `service ${key.groupedName} not found!`, {
    names: { serviceName: key.groupedName, namespaceId: key.namespaceId },
  })
}

/** A service of that name with every default. Throws Refusal `too-many-services`. */
export function newService(view: View, asked: ServiceKey, madeBy: Service['madeBy']): Service {
  refuseServiceBeyondLimit(view, asked.namespaceId)
  // A name outlives the request that it was cut out of.
  const key = { namespaceId: ownText(asked.namespaceId), groupedName: ownText(asked.groupedName) }
  const { protectThreshold, metadata, selector, clusters } = SERVICE_DEFAULTS
  return { key, serial: NO_SERIAL, protectThreshold, metadata, selector, clusters, madeBy }
}

/** Makes a service that stays until it is deleted. Refuses one that exists. */
export function createService(key: ServiceKey, settings: ServiceSettings): Command<'ok'> {
  return storing(serviceSubject(key), 0, (view, now) => {
    if (view.service(key) !== undefined) {
      throw new Refusal('service-exists', `specified service ${key.groupedName} already exists!`, {
        names: { serviceName: key.groupedName },
      })
    }
    const service = granted(newService(view, key, 'operator'), settings)
    return synced([{ kind: 'service-saved', service, stamp: now.stamp }], 'ok')
  })
}

/**
 * Changes what the settings name and keeps the rest. A service that a registration made belongs to the operator from
 * then on. It is not removed when it is empty, because its settings were acknowledged.
 */
export function updateService(key: ServiceKey, settings: ServiceSettings): Command<'ok'> {
  return storing(serviceSubject(key), 0, (view, now) => {
    const service = granted(existingService(view, key), settings)
    return synced([{ kind: 'service-saved', service, stamp: now.stamp }], 'ok')
  })
}

/** Removes a service that has no instances. */
export function deleteService(key: ServiceKey): Command<'ok'> {
  return commandOn(serviceSubject(key), (view) => {
    const { serial } = existingService(view, key)
    if (!hasInstances(view, key)) return synced([{ kind: 'service-deleted', key, serial }], 'ok')
    const text = `Service ${key.groupedName} is not empty, can't be delete. Please unregister instance first`
    throw new Refusal('service-not-empty', text, { names: { serviceName: key.groupedName } })
  })
}

/** Also reads one instance by itself: for a read of all instances, a shared store does not notice removed ones. */
function hasInstances(view: View, key: ServiceKey): boolean {
  for (const { record } of view.instances(key)) return view.instance(key, record.address) !== undefined
  return false
}

/** A cluster as somebody sends it: the secrets of its checker may be missing, and stay as stored. */
export interface SentCluster extends Omit<Cluster, 'healthChecker'> {
  readonly healthChecker: SentChecker
}

/** Saves how the persistent instances of a cluster are probed, and its other settings. */
export function saveCluster(key: ServiceKey, cluster: SentCluster): Command<'ok'> {
  return storing(serviceSubject(key), 0, (view, now) => {
    const known = existingService(view, key)
    const { name } = cluster
    const healthChecker = withStoredSecrets(cluster.healthChecker, known.clusters[name]?.healthChecker)
    const clusters = { ...known.clusters, [name]: { ...cluster, healthChecker } }
    refuseTooMuchOfClusters(known.clusters, clusters)
    const service: Service = { ...known, clusters, madeBy: 'operator' }
    return synced([{ kind: 'service-saved', service, stamp: now.stamp }], 'ok')
  })
}

/** The most that all clusters of a service may be set to, as JSON: each change of any cluster writes the settings of all. */
const MOST_OF_CLUSTERS = 512 * 1024

/** Throws Refusal if the settings of all clusters are more, unless they were more before. */
function refuseTooMuchOfClusters(known: Service['clusters'], clusters: Service['clusters']): void {
  const { length } = JSON.stringify(clusters)
  if (length <= MOST_OF_CLUSTERS || length <= JSON.stringify(known).length) return
  const allowed = 'at most 512 KiB of settings of all clusters of a service, as JSON'
  throw new Refusal('invalid-parameter', `The clusters of the service would have ${length} characters.`, {
    parameter: 'clusterName',
    allowed,
  })
}

function granted(service: Service, settings: ServiceSettings): Service {
  return {
    ...service,
    protectThreshold: settings.protectThreshold ?? service.protectThreshold,
    metadata: settings.metadata ?? service.metadata,
    selector: settings.selector ?? service.selector,
    madeBy: 'operator',
  }
}

/** The change that saves an instance in full. */
export function saveInFull(
  view: View,
  serviceKey: ServiceKey,
  saving: { record: InstanceRecord; healthy: boolean | undefined; stamp: number },
): InstanceSaved {
  const { serial: serviceSerial } = existingService(view, serviceKey)
  return { kind: 'instance-saved', serviceKey, serviceSerial, beat: false, ...saving }
}
