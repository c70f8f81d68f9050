import type { Change } from '../../decisions/changes.ts'
import {
  type Command,
  commandOn,
  type Decision,
  storing,
  synced,
  unchanged,
} from '../../decisions/decision.ts'
import { Refusal } from '../../refusal.ts'
import type { KnownInstance, View } from '../../decisions/view.ts'
import { departure } from '../liveness/departures.ts'
import { besides, forgetSettings, rememberingChanges } from '../liveness/remembering.ts'
import { instanceIdOf, type InstanceAddress, type Metadata, type Publisher } from '../state/instance.ts'
import { rememberKeys } from './metadata-commands.ts'
import { type IpRule, registerInstance } from './register-instance.ts'
import { saveInFull, existingService, serviceSubject } from './service-commands.ts'
import { DEFAULT_CHECKER } from '../state/health-checker.ts'
import type { InstancePlace } from '../state/presence.ts'
import { isBack, keysAlone, saidUnder, withoutOver } from '../state/remembered-metadata.ts'
import type { ServiceKey } from '../state/service.ts'
import type { Actor } from '../timeline/timeline-entry.ts'

/** Which instance is meant. `ephemeral` undefined matches either kind. */
export interface InstanceTarget {
  readonly serviceKey: ServiceKey
  readonly address: InstanceAddress
  readonly ephemeral: boolean | undefined
  /** Where a change registers the instance. */
  readonly ipRule?: IpRule | undefined
}

/** Changes of an instance: undefined fields stay as they are, metadata is merged by key. */
export interface InstancePatch {
  readonly weight: number | undefined
  readonly enabled: boolean | undefined
  readonly metadata: Metadata | undefined
  /** The most metadata that an instance may have, in bytes of UTF-8. */
  readonly maxMetadataBytes: number
  /** The caller, who is remembered with the fields. */
  readonly actor?: Actor
}

/**
 * The outcome if somebody else wants to remove an instance of a connection. `kept`: it stays, and the answer is ok.
 * `refused`: it stays, and the refusal says why. `removed`: the connection is gone.
 */
export type ForeignRemoval = (publisher: Publisher) => 'kept' | 'refused' | 'removed'

/**
 * Removes an instance, or takes back a registration that waits for the address. A claim of another publisher takes the
 * address over. Answers ok, also when nothing was there. Refusal `instance-connected`. `silencedAt`: the place, if silence
 * has removed the instance a moment ago; by health time.
 */
export function deregisterInstance(
  target: InstanceTarget,
  ofConnection: ForeignRemoval = () => 'removed',
  silencedAt: (nowMs: number) => InstancePlace | undefined = () => undefined,
): Command<'ok'> {
  return commandOn(serviceSubject(target.serviceKey), (view, now) => {
    const { serviceKey, address } = target
    const known = view.instance(serviceKey, address)
    const silenced = silencedAt(now.healthMs)
    if (known === undefined) return forgetting(view, { target, known, silenced }, now.stamp)
    const { record } = known
    const leaves = (publisher: Publisher): boolean =>
      isMeant(target, publisher) && (publisher.kind !== 'connection' || ofConnection(publisher) === 'removed')
    const isAfterSilence = silenced !== undefined
    const departing = { serviceKey, record, leaves, isGoodbye: true, isAfterSilence, stamp: now.stamp }
    const changes = departure(view, { ...departing, reason: 'deregistered' })
    if (changes.length === 0) {
      const { publisher } = record
      if (publisher.kind !== 'connection' || !isMeant(target, publisher)) return unchanged('ok')
      const decision = forgetting(view, { target, known, silenced }, now.stamp)
      if (decision.changes.length === 0 && ofConnection(publisher) === 'refused') throw connected(target)
      return decision
    }
    return { changes, durability: record.ephemeral ? 'synced if stored' : 'synced', outcome: 'ok' }
  })
}

/** A target at which nothing is there, or the instance of a connection. */
interface Forgotten {
  readonly target: InstanceTarget
  readonly known: KnownInstance | undefined
  /** The place from which silence has removed it a moment ago. */
  readonly silenced: InstancePlace | undefined
}

/** If silence has removed what is meant, the goodbye counts all the same, and all servers learn it. */
function forgetting(view: View, { target, known, silenced }: Forgotten, stamp: number): Decision<'ok'> {
  if (target.ephemeral === false) return unchanged('ok')
  const over = view.remembered(target)
  if (over?.left === true) return unchanged('ok')
  const isAfterSilence = silenced !== undefined || over?.silenced !== undefined
  if (!isAfterSilence && known !== undefined) return unchanged('ok')
  const { serviceKey, address } = silenced ?? target
  const before = over ?? { serviceKey, address, metadata: {} }
  // Beside a connection, weight and enabled lie over its instance.
  const rest = known === undefined ? keysAlone(before) : isBack(before)
  const changes = isAfterSilence
    ? rememberingChanges(over, { ...rest, left: true }, stamp)
    : forgetSettings(over, stamp)
  return changes.length === 0 ? unchanged('ok') : synced(changes, 'ok')
}

/** Whether a target means the registration of this publisher: only an operator's is persistent. */
function isMeant({ ephemeral }: InstanceTarget, publisher: Publisher): boolean {
  return ephemeral === undefined || ephemeral === (publisher.kind !== 'operator')
}

/**
 * Changes an instance. The given fields are remembered (interface.md, state rule 3). See {@link RememberedMetadata}.
 */
export function modifyInstance(target: InstanceTarget, patch: InstancePatch): Command<'ok'> {
  return storing(
    serviceSubject(target.serviceKey),
    patch.metadata === undefined ? undefined : 0,
    (view, now) => {
      const { serviceKey } = target
      const { record } = existing(view, target)
      const weight = patch.weight ?? record.weight
      const enabled = patch.enabled ?? record.enabled
      const changes: Change[] = []
      if (weight !== record.weight || enabled !== record.enabled) {
        const changed = { ...record, weight, enabled }
        changes.push(saveInFull(view, serviceKey, { record: changed, healthy: undefined, stamp: now.stamp }))
      }
      const { metadata: keys = {}, maxMetadataBytes: maxBytes, ...over } = patch
      changes.push(...rememberKeys(view, { serviceKey, record, keys, ...over, maxBytes, now }))
      return synced(changes, 'ok')
    },
  )
}

/**
 * Lifts what operators have set: the instance is as its application says. Where that is not known, weight and enabled stay
 * until the application registers again.
 */
export function liftSettings(target: InstanceTarget): Command<'ok'> {
  return commandOn(serviceSubject(target.serviceKey), (view, now) => {
    const { serviceKey } = target
    const { record } = existing(view, target)
    const place = { serviceKey, address: record.address }
    const over = view.remembered(place)
    if (over === undefined) return unchanged('ok')
    const { weight, enabled } = { ...record, ...saidUnder(record, over) }
    const rest = besides(record, { ...withoutOver(over), metadata: {} })
    const changes = rememberingChanges(over, rest, now.stamp)
    if (weight !== record.weight || enabled !== record.enabled) {
      const lifted = { ...record, weight, enabled }
      changes.unshift(saveInFull(view, serviceKey, { record: lifted, healthy: undefined, stamp: now.stamp }))
    }
    return synced(changes, 'ok')
  })
}

/**
 * Changes an instance as {@link modifyInstance} does. If the address has no instance of either kind, it registers one
 * with the patch over the defaults (docs/decisions/0021).
 */
export function modifyOrRegister(target: InstanceTarget, patch: InstancePatch): Command<'ok'> {
  const { serviceKey, address, ephemeral, ipRule } = target
  const modify = modifyInstance(target, patch)
  const register = registerInstance({
    serviceKey,
    address,
    ephemeral,
    ipRule,
    weight: patch.weight ?? 1,
    enabled: patch.enabled ?? true,
    healthy: undefined,
    metadata: patch.metadata ?? {},
    app: '',
  })
  return storing(modify.subject, modify.growsBy, (view, now) => {
    if (view.instance(serviceKey, address) !== undefined) return modify.decide(view, now)
    return { ...register.decide(view, now), outcome: 'ok' }
  })
}

/** Sets the health of an instance whose cluster is not checked otherwise (interface.md, condition 2). */
export function setHealth(target: InstanceTarget, healthy: boolean): Command<'ok'> {
  return commandOn(serviceSubject(target.serviceKey), (view, now): Decision<'ok'> => {
    const { serviceKey, address } = target
    const service = existingService(view, serviceKey)
    const known = existing(view, target)
    const checker = service.clusters[address.cluster]?.healthChecker ?? DEFAULT_CHECKER
    if (checker.type !== 'NONE') {
      const where = `service: ${serviceKey.groupedName}, cluster: ${address.cluster}`
      throw new Refusal('checker-not-none', `health check is still working, ${where}`, {
        names: { serviceName: serviceKey.groupedName, cluster: address.cluster },
        allowed: 'only clusters whose health checker is NONE',
      })
    }
    if (known.healthy === healthy) return unchanged('ok')
    const { serial, ephemeral } = known.record
    const changes: Change[] = [
      { kind: 'instance-health-changed', serviceKey, address, serial, healthy, stamp: now.stamp },
    ]
    return { changes, durability: ephemeral ? 'behind' : 'synced', outcome: 'ok' }
  })
}

function connected({ serviceKey, address }: InstanceTarget): Refusal {
  const id = instanceIdOf(address, serviceKey.groupedName)
  return new Refusal('instance-connected', `instance ${id} lives as long as the connection of its client`, {
    names: { serviceName: serviceKey.groupedName, cluster: address.cluster },
    allowed: 'to disable it, or to close the connection',
  })
}

function existing(view: View, target: InstanceTarget): KnownInstance {
  const known = find(view, target)
  if (known !== undefined) return known
  const { serviceKey, address } = target
  const id = instanceIdOf(address, serviceKey.groupedName)
  throw new Refusal('instance-not-found', `instance ${id} not found in namespace ${serviceKey.namespaceId}`, {
    names: { serviceName: serviceKey.groupedName, cluster: address.cluster },
  })
}

function find(view: View, target: InstanceTarget): KnownInstance | undefined {
  const known = view.instance(target.serviceKey, target.address)
  if (known === undefined || target.ephemeral === undefined) return known
  return known.record.ephemeral === target.ephemeral ? known : undefined
}
