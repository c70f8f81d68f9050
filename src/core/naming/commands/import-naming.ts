import type { InstanceSaved } from '../../decisions/changes.ts'
import type { Now } from '../../decisions/stamps.ts'
import { type Command, storing, synced, unchanged } from '../../decisions/decision.ts'
import { HERE_ALREADY, type ImportOutcome, keeping, TAKEN } from '../../decisions/import-outcome.ts'
import type { KnownInstance, View } from '../../decisions/view.ts'
import { withStoredSecrets } from '../state/health-checker.ts'
import { type InstanceRecord, type Metadata, OPERATOR, BEATS } from '../state/instance.ts'
import {
  type Cluster,
  type Selector,
  type Service,
  SERVICE_DEFAULTS,
  type ServiceKey,
} from '../state/service.ts'
import { isMoved, movedPublisher } from '../state/connection-publisher.ts'
import { type RegisterInstance, registerInstance } from './register-instance.ts'
import { saveInFull, newService, type SentCluster, serviceSubject } from './service-commands.ts'
import type { InstancePlace } from '../state/presence.ts'

/** A service elsewhere, without its instances. */
export interface ImportedService {
  readonly key: ServiceKey
  readonly protectThreshold: number
  readonly metadata: Metadata
  readonly selector: Selector
  readonly clusters: readonly SentCluster[]
}

/** An instance elsewhere: everything of it is known. */
export interface ImportedInstance extends Omit<RegisterInstance, 'publisher'> {
  readonly ephemeral: boolean
}

/** How an instance is imported. */
export interface InstanceImport {
  /** Whether it replaces other registrations here. */
  readonly overwrite: boolean
  /** The process that imports: the client of an ephemeral instance has still to come (`movedPublisher`). */
  readonly importer: string
}

/**
 * Imports a service with its clusters. One on which nobody has decided anything, there or here, leaves when it is
 * empty, as one that a registration has made.
 */
export function importService(input: ImportedService, overwrite: boolean): Command<ImportOutcome> {
  return storing(serviceSubject(input.key), 0, (view, { stamp }) => {
    const known = view.service(input.key)
    const service = serviceOf(view, input, known)
    if (known !== undefined && settingsText(known) === settingsText(service)) return unchanged(HERE_ALREADY)
    if (known?.madeBy === 'operator' && !overwrite) return keeping('the service has other settings here')
    return synced([{ kind: 'service-saved', service, stamp }], TAKEN)
  })
}

/**
 * Imports an instance, and its service if it is new. Refuses as a registration does. A client that has come already
 * keeps its instance, even if the import overwrites. For a client that has still to come, the time begins again.
 */
export function importInstance(
  input: ImportedInstance,
  { overwrite, importer }: InstanceImport,
): Command<ImportOutcome> {
  const publisher = input.ephemeral ? movedPublisher(importer) : OPERATOR
  const register = registerInstance({ ...input, publisher, ipRule: 'any' })
  return storing(register.subject, 0, (view, now) => {
    const known = view.instance(input.serviceKey, input.address)
    const isSameHere = known !== undefined && isSame(known, input)
    if (known?.record.ephemeral === true && !isMoved(known.record.publisher))
      return isSameHere ? unchanged(HERE_ALREADY) : keeping('a client has registered it here')
    if (isSameHere && !input.ephemeral) return unchanged(HERE_ALREADY)
    if (known !== undefined && !isSameHere && !overwrite)
      return keeping('the instance is registered otherwise here')
    const { changes } = register.decide(view, now)
    return synced(
      changes.length > 0 ? changes : [waiting(view, input, now)],
      isSameHere ? HERE_ALREADY : TAKEN,
    )
  })
}

/** The change that lets an imported instance wait again for its client. */
function waiting(view: View, { serviceKey, address }: ImportedInstance, { stamp }: Now): InstanceSaved {
  const { record, healthy } = view.instance(serviceKey, address)!
  return { ...saveInFull(view, serviceKey, { record, healthy, stamp }), beat: true }
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
  // The publisher of an ephemeral one is judged apart.
  const publisher = input.ephemeral ? record.publisher : OPERATOR
  return instanceText(record) === instanceText({ ...input, registered: input.metadata, publisher })
}

/** The same text for the same registration. Health is left out: a probe or a beat finds it. */
export function instanceText(
  instance: Pick<InstanceRecord, 'ephemeral' | 'publisher' | 'weight' | 'enabled' | 'app' | 'registered'>,
): string {
  const { ephemeral, publisher, weight, enabled, app, registered } = instance
  return JSON.stringify([ephemeral, publisher.kind, weight, enabled, app, sorted(registered)])
}

/** The client of an imported instance has sent a beat: the instance is its own from now on, and healthy. */
export function keepMoved({ serviceKey, address }: InstancePlace): Command<void> {
  return storing(serviceSubject(serviceKey), 0, (view, { stamp }) => {
    const known = view.instance(serviceKey, address)
    if (known === undefined || !isMoved(known.record.publisher)) return unchanged(undefined)
    const record = { ...known.record, publisher: BEATS }
    const saved = { ...saveInFull(view, serviceKey, { record, healthy: true, stamp }), beat: true }
    return { changes: [saved], durability: 'behind', outcome: undefined }
  })
}
