import { type Command, synced, unchanged } from '../../decisions/decision.ts'
import { HERE_ALREADY, type ImportOutcome, keeping, TAKEN } from '../../decisions/import-outcome.ts'
import type { KnownInstance, View } from '../../decisions/view.ts'
import { withStoredSecrets } from '../state/health-checker.ts'
import { type InstanceRecord, type Metadata, usualPublisher } from '../state/instance.ts'
import {
  type Cluster,
  type Selector,
  type Service,
  SERVICE_DEFAULTS,
  type ServiceKey,
} from '../state/service.ts'
import { type RegisterInstance, registerInstance } from './register-instance.ts'
import { newService, type SentCluster, serviceSubject } from './service-commands.ts'

/** A service elsewhere, without its instances. */
export interface ImportedService {
  readonly key: ServiceKey
  readonly protectThreshold: number
  readonly metadata: Metadata
  readonly selector: Selector
  readonly clusters: readonly SentCluster[]
}

/** An instance elsewhere: everything of it is known. */
export interface ImportedInstance extends RegisterInstance {
  readonly ephemeral: boolean
}

/**
 * Imports a service with its clusters. One on which nobody has decided anything, there or here, leaves when it is empty, as one that
 * a registration has made.
 */
export function importService(input: ImportedService, overwrite: boolean): Command<ImportOutcome> {
  return {
    subject: serviceSubject(input.key),
    growsBy: 0,
    decide(view, { stamp }) {
      const known = view.service(input.key)
      const service = serviceOf(view, input, known)
      if (known !== undefined && settingsText(known) === settingsText(service)) return unchanged(HERE_ALREADY)
      if (known?.madeBy === 'operator' && !overwrite) return keeping('the service has other settings here')
      return synced([{ kind: 'service-saved', service, stamp }], TAKEN)
    },
  }
}

/** Imports an instance, and its service where it is not there. Refusals as those of a registration. */
export function importInstance(input: ImportedInstance, overwrite: boolean): Command<ImportOutcome> {
  const register = registerInstance(input)
  return {
    subject: register.subject,
    growsBy: 0,
    decide(view, now) {
      const known = view.instance(input.serviceKey, input.address)
      if (known !== undefined && isSame(known, input)) return unchanged(HERE_ALREADY)
      if (known !== undefined && !overwrite) return keeping('the instance is registered otherwise here')
      const { changes } = register.decide(view, now)
      return synced(changes, TAKEN)
    },
  }
}

function serviceOf(view: View, input: ImportedService, known: Service | undefined): Service {
  const { protectThreshold, metadata, selector } = input
  const clusters = { ...known?.clusters }
  for (const cluster of input.clusters) clusters[cluster.name] = withSecrets(cluster, clusters[cluster.name])
  const service = { ...newOrKnown(view, input, known), protectThreshold, metadata, selector, clusters }
  const isDecided = settingsText(service) !== settingsText(SERVICE_DEFAULTS)
  return { ...service, madeBy: isDecided ? 'operator' : 'registration' }
}

function newOrKnown(view: View, { key }: ImportedService, known: Service | undefined): Service {
  return known ?? newService(view, key, 'operator')
}

function withSecrets(cluster: SentCluster, known: Cluster | undefined): Cluster {
  return { ...cluster, healthChecker: withStoredSecrets(cluster.healthChecker, known?.healthChecker) }
}

type Settings = Pick<Service, 'protectThreshold' | 'metadata' | 'selector' | 'clusters'>

/** The same text for the same settings of a service. */
export function settingsText({ protectThreshold, metadata, selector, clusters }: Settings): string {
  const shown = Object.values(clusters).map((one) => [
    one.name,
    one.checkPort,
    one.useInstancePort4Check,
    sorted(one.metadata),
    sorted(one.healthChecker),
  ])
  const inOrder = shown.map((one) => JSON.stringify(one)).toSorted()
  return JSON.stringify([protectThreshold, sorted(metadata), sorted(selector), inOrder])
}

function sorted(fields: object): unknown {
  return Object.entries(fields).toSorted(([a], [b]) => (a < b ? -1 : 1))
}

function isSame({ record }: KnownInstance, input: ImportedInstance): boolean {
  const { ephemeral, metadata: registered } = input
  return instanceText(record) === instanceText({ ...input, registered, publisher: usualPublisher(ephemeral) })
}

/** The same text for the same registration. Health is left out: it is what a probe or a beat finds. */
export function instanceText(
  instance: Pick<InstanceRecord, 'ephemeral' | 'publisher' | 'weight' | 'enabled' | 'app' | 'registered'>,
): string {
  const { ephemeral, publisher, weight, enabled, app, registered } = instance
  return JSON.stringify([ephemeral, publisher.kind, weight, enabled, app, sorted(registered)])
}
