import type { Change } from '../changes.ts'
import { type Command, type Decision, unchanged } from '../decision.ts'
import { ownText } from '../own-text.ts'
import { Refusal } from '../refusal.ts'
import type { KnownInstance, View } from '../view.ts'
import {
  type InstanceAddress,
  type InstanceRecord,
  isSamePublisher,
  type Metadata,
  type Publisher,
  usualPublisher,
} from './instance.ts'
import { refuseInstanceBeyondLimit } from './naming-sizes.ts'
import { newService, serviceSubject } from './service-commands.ts'
import type { Service, ServiceKey } from './service.ts'

/** An instance that wants to be found. What is undefined takes its default. */
export interface RegisterInstance {
  readonly serviceKey: ServiceKey
  readonly address: InstanceAddress
  /** Undefined: as the switch defaultInstanceEphemeral says. */
  readonly ephemeral: boolean | undefined
  /** Undefined: beats for an ephemeral instance, an operator for a persistent one. */
  readonly publisher?: Publisher | undefined
  readonly weight: number
  readonly enabled: boolean
  /** Undefined: healthy, or for a persistent instance that is there, as it was found to be. */
  readonly healthy: boolean | undefined
  readonly metadata: Metadata
  readonly app: string
}

/** `registered`: made or changed. `known`: it is there just like this, so this is no more than a beat. */
export type Registration = 'registered' | 'known'

/**
 * Registers an instance, and makes its service if need be. Registering one that is there replaces what was
 * registered, also as the other kind or by another publisher. Only purely ephemeral matters are acknowledged before the disk has them.
 */
export function registerInstance(wish: RegisterInstance): Command<Registration> {
  return {
    subject: serviceSubject(wish.serviceKey),
    decide(view, now) {
      const known = view.instance(wish.serviceKey, wish.address)
      if (known === undefined) refuseNewcomer(view, wish)
      // Before the record, so that it has the lower serial: what is behind is written in the order of serials.
      const service = view.service(wish.serviceKey) ?? newService(view, wish.serviceKey, 'registration')
      const record = recordOf(view, wish, known)
      const healthy = healthOf(wish, record, known)
      if (
        known !== undefined &&
        sameRecord(known.record, record) &&
        known.healthy === (healthy ?? known.healthy)
      ) {
        return unchanged('known')
      }
      return save(view, service, { serviceKey: wish.serviceKey, record, healthy, known, stamp: now.stamp })
    },
  }
}

interface Saving {
  /** The one that was asked with: `ServiceTable` knows it again. */
  readonly serviceKey: ServiceKey
  readonly record: InstanceRecord
  readonly healthy: boolean | undefined
  readonly known: KnownInstance | undefined
  readonly stamp: number
}

function save(view: View, service: Service, saving: Saving): Decision<Registration> {
  const { serviceKey, record, healthy, known, stamp } = saving
  const behind = record.ephemeral && (known === undefined || known.record.ephemeral)
  const changes: Change[] = [
    { kind: 'instance-saved', serviceKey, serviceSerial: service.serial, record, healthy, beat: true, stamp },
  ]
  if (needsSaving(view, service, behind)) changes.unshift({ kind: 'service-saved', service, stamp })
  return { changes, durability: behind ? 'behind' : 'synced', outcome: 'registered' }
}

/** A new service is saved with its first instance; one that is still behind, with what must be on disk. */
function needsSaving(view: View, service: Service, behind: boolean): boolean {
  return view.service(service.key) === undefined || (!behind && !view.surelyStored(service.serial))
}

/** Throws a Refusal where a switch or a limit allows no new instance. */
function refuseNewcomer(view: View, { serviceKey, address }: RegisterInstance): void {
  refuseInstanceBeyondLimit(view, serviceKey.namespaceId)
  const { disableAddIP, sendBeatOnly } = view.switches
  if (!disableAddIP && !sendBeatOnly) return
  const name = disableAddIP ? 'disableAddIP' : 'sendBeatOnly'
  throw new Refusal('adding-disabled', `Adding ${address.ip}:${address.port} is refused: ${name} is on.`, {
    parameter: 'ip',
    allowed: `only instances that are registered already, until the switch ${name} is set to false`,
  })
}

function recordOf(view: View, wish: RegisterInstance, known: KnownInstance | undefined): InstanceRecord {
  const ephemeral = wish.ephemeral ?? view.switches.defaultInstanceEphemeral
  return {
    address: known?.record.address ?? ownAddress(wish.address),
    serial: known?.record.serial ?? view.nextSerial(),
    ephemeral,
    publisher: wish.publisher ?? usualPublisher(ephemeral),
    weight: wish.weight,
    enabled: wish.enabled,
    registered: wish.metadata,
    app: known?.record.app === wish.app ? known.record.app : ownText(wish.app),
  }
}

function ownAddress({ ip, port, cluster }: InstanceAddress): InstanceAddress {
  return { ip: ownText(ip), port, cluster: ownText(cluster) }
}

/** A registration heals an ephemeral instance; what a probe has found of a persistent one stays. */
function healthOf(
  wish: RegisterInstance,
  record: InstanceRecord,
  known: KnownInstance | undefined,
): boolean | undefined {
  if (wish.healthy !== undefined) return wish.healthy
  return known === undefined || record.ephemeral ? true : undefined
}

function sameRecord(a: InstanceRecord, b: InstanceRecord): boolean {
  return (
    a.ephemeral === b.ephemeral &&
    a.weight === b.weight &&
    a.enabled === b.enabled &&
    a.app === b.app &&
    isSamePublisher(a.publisher, b.publisher) &&
    sameMetadata(a.registered, b.registered)
  )
}

/** Whether two sets of metadata hold the same keys and values. */
function sameMetadata(a: Metadata, b: Metadata): boolean {
  if (a === b) return true
  const names = Object.keys(a)
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name])
}
