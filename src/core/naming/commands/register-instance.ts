import { hostPort, isColonOfIPv6, isHost } from '../../text/ip-address.ts'
import { shown } from '../../text/shown.ts'
import { type Change, NO_SERIAL } from '../../decisions/changes.ts'
import { type Command, commandOn, type Decision, unchanged } from '../../decisions/decision.ts'
import { ownText } from '../../text/own-text.ts'
import { Refusal } from '../../refusal.ts'
import type { KnownInstance, View } from '../../decisions/view.ts'
import { claimsAfter } from '../state/claims.ts'
import {
  type InstanceAddress,
  type InstanceRecord,
  isSameMetadata,
  isSameRecord,
  type Metadata,
  type Publisher,
  usualPublisher,
} from '../state/instance.ts'
import { refuseInstanceBeyondLimit } from '../state/naming-sizes.ts'
import { hasOver, isBack, type RememberedMetadata } from '../state/remembered-metadata.ts'
import { besides, forgetSettings, rememberingChanges } from '../liveness/remembering.ts'
import { newService, serviceSubject } from './service-commands.ts'
import type { Service, ServiceKey } from '../state/service.ts'

/** An instance to register. Undefined fields take their defaults. */
export interface RegisterInstance {
  readonly serviceKey: ServiceKey
  readonly address: InstanceAddress
  /** Undefined: as the switch defaultInstanceEphemeral says. */
  readonly ephemeral: boolean | undefined
  /** Undefined: beats for an ephemeral instance, an operator for a persistent one. */
  readonly publisher?: Publisher | undefined
  readonly weight: number
  readonly enabled: boolean
  /** Undefined: healthy; a known persistent instance keeps its health. */
  readonly healthy: boolean | undefined
  readonly metadata: Metadata
  readonly app: string
  /** Whether it is a beat: it changes nothing of an instance that is there, and brings back what silence has removed. */
  readonly isBeat?: boolean
  readonly ipRule?: IpRule | undefined
  /** Whether a publisher that is displaced is known to have left already: then it does not wait for the address. */
  readonly isGone?: ((publisher: Publisher) => boolean) | undefined
}

/** `registered`: the instance is new or has changed. `known`: nothing differs, so the registration is only a beat. */
export type Registration = 'registered' | 'known'

/**
 * Registers an instance, and creates its service if it does not exist. A known instance is replaced, also by one of the
 * other kind or of another publisher. A change that concerns ephemeral instances only is acknowledged before it is on disk.
 */
export function registerInstance(asked: RegisterInstance): Command<Registration> {
  return commandOn(serviceSubject(asked.serviceKey), (view, now) =>
    decideRegistration(view, asked, now.stamp),
  )
}

/** The decision of {@link registerInstance}. */
export function decideRegistration(
  view: View,
  asked: RegisterInstance,
  stamp: number,
): Decision<Registration> {
  const known = view.instance(asked.serviceKey, asked.address)
  if (known === undefined) refuseNewcomer(view, asked)
  else if (asked.isBeat === true) return unchanged('known')
  const over = view.remembered(asked)
  const request = asAsked(view, asked, over)
  const service = view.service(request.serviceKey) ?? newService(view, request.serviceKey, 'registration')
  const isHeld = holds(request, over)
  const record = recordOf(view, request, { known, over, holds: isHeld })
  const healthy = healthOf(request, record, known)
  const also = over ? settingsChanges(request, { over, record, holds: isHeld }, stamp) : []
  if (
    known !== undefined &&
    isSameRecord(known.record, record) &&
    known.record.claims === record.claims &&
    known.healthy === (healthy ?? known.healthy)
  ) {
    return also.length === 0 ? unchanged('known') : { changes: also, durability: 'behind', outcome: 'known' }
  }
  return save(view, service, { serviceKey: request.serviceKey, record, healthy, known, also, stamp })
}

/** A beat registers what silence has removed, in the spelling that it had: it says no more than that its instance lives. */
function asAsked(
  view: View,
  asked: RegisterInstance,
  over: RememberedMetadata | undefined,
): RegisterInstance {
  const isBeating = asked.isBeat === true && (asked.ephemeral ?? view.switches.defaultInstanceEphemeral)
  if (!isBeating || over?.silenced === undefined) return asked
  const { registered: metadata, ...others } = over.silenced
  return { ...asked, ...others, metadata, address: over.address }
}

/**
 * Whether weight and enabled hold that an operator has set: over the registration of a connection, and over one that repeats
 * what silence has removed.
 */
function holds(
  { publisher, weight, enabled, metadata }: RegisterInstance,
  over: RememberedMetadata | undefined,
): boolean {
  if (publisher?.kind === 'connection') return true
  const { silenced } = over ?? {}
  if (silenced === undefined) return false
  const isSame = weight === silenced.weight && enabled === silenced.enabled
  return isSame && isSameMetadata(metadata, silenced.registered)
}

/**
 * The changes of the fields that an operator has set. A connection that waits for the address keeps them. A registration
 * that silence has removed stays remembered when a connection registers.
 */
function settingsChanges(
  { weight, enabled }: RegisterInstance,
  { over, record, holds: isHeld }: Settings & { over: RememberedMetadata; record: InstanceRecord },
  stamp: number,
): Change[] {
  const isOfConnection = record.claims?.some(({ publisher }) => publisher.kind === 'connection') === true
  if (!isHeld && !isOfConnection) return forgetSettings(over, stamp)
  const said = isHeld && hasOver(over) ? { weight, enabled } : over.said
  const isKnown = said?.weight === over.said?.weight && said?.enabled === over.said?.enabled
  const after = isHeld ? besides(record, { ...over, left: undefined }) : isBack(over)
  const isAsBefore = after.silenced === over.silenced && over.left === undefined
  return isKnown && isAsBefore ? [] : rememberingChanges(over, { ...after, said }, stamp)
}

interface Settings {
  readonly over: RememberedMetadata | undefined
  readonly holds: boolean
}

interface Saving {
  /** The object from the request: `ServiceTable` recognizes it and saves a lookup. */
  readonly serviceKey: ServiceKey
  readonly record: InstanceRecord
  readonly healthy: boolean | undefined
  readonly known: KnownInstance | undefined
  /** Changes besides. */
  readonly also: readonly Change[]
  readonly stamp: number
}

function save(view: View, service: Service, saving: Saving): Decision<Registration> {
  const { serviceKey, record, healthy, known, also, stamp } = saving
  const behind = record.ephemeral && (known === undefined || known.record.ephemeral)
  const changes: Change[] = [
    { kind: 'instance-saved', serviceKey, serviceSerial: service.serial, record, healthy, beat: true, stamp },
    ...also,
  ]
  if (view.service(serviceKey) === undefined) changes.unshift({ kind: 'service-saved', service, stamp })
  return { changes, durability: behind ? 'behind' : 'synced', outcome: 'registered' }
}

/**
 * The ip that a new instance may have: an address or the name of a `host`, or `any` text. Undefined: any without a colon,
 * or IPv6. The rule is for new instances alone.
 */
export type IpRule = 'host' | 'any'

/** Whether a new instance may have this ip. */
export function isNewIp(ip: string, rule?: IpRule): boolean {
  return rule === 'any' || (rule === 'host' ? isHost(ip) : isColonOfIPv6(ip))
}

/** Throws Refusal if a switch or a limit allows no new instance, or its ip is none. */
function refuseNewcomer(view: View, { serviceKey, address, ipRule }: RegisterInstance): void {
  if (!isNewIp(address.ip, ipRule))
    throw new Refusal(
      'invalid-parameter',
      `The ip ${shown(address.ip)} is neither an address nor a host name.`,
      {
        parameter: 'ip',
        allowed: 'an IPv4 or IPv6 address, or a host name, without a port',
      },
    )
  refuseInstanceBeyondLimit(view, serviceKey.namespaceId)
  const { disableAddIP, sendBeatOnly } = view.switches
  if (!disableAddIP && !sendBeatOnly) return
  const name = disableAddIP ? 'disableAddIP' : 'sendBeatOnly'
  throw new Refusal(
    'adding-disabled',
    `Adding ${hostPort(address.ip, address.port)} is refused: ${name} is on.`,
    {
      parameter: 'ip',
      allowed: `only instances that are registered already, until the switch ${name} is set to false`,
    },
  )
}

function recordOf(
  view: View,
  request: RegisterInstance,
  { known, over, holds: isHeld }: Settings & { readonly known: KnownInstance | undefined },
): InstanceRecord {
  const ephemeral = request.ephemeral ?? view.switches.defaultInstanceEphemeral
  const publisher = request.publisher ?? usualPublisher(ephemeral)
  const record = {
    address: known?.record.address ?? ownAddress(request.address),
    serial: known?.record.serial ?? NO_SERIAL,
    ephemeral,
    publisher,
    weight: (isHeld ? over?.weight : undefined) ?? request.weight,
    enabled: (isHeld ? over?.enabled : undefined) ?? request.enabled,
    registered: request.metadata,
    app: known?.record.app === request.app ? known.record.app : ownText(request.app),
  }
  const claims = known && claimsAfter(known, { publisher, said: over?.said, isGone: request.isGone })
  return claims === undefined ? record : { ...record, claims }
}

function ownAddress({ ip, port, cluster }: InstanceAddress): InstanceAddress {
  return { ip: ownText(ip), port, cluster: ownText(cluster) }
}

/** A registration makes an ephemeral instance healthy. A persistent one keeps the health that a probe has found. */
function healthOf(
  request: RegisterInstance,
  record: InstanceRecord,
  known: KnownInstance | undefined,
): boolean | undefined {
  if (request.healthy !== undefined) return request.healthy
  return known === undefined || record.ephemeral ? true : undefined
}
