import { MEMBER } from '../../cluster/members/member-records.ts'
import type { Change, InstanceRemoved, InstanceSaved } from '../../decisions/changes.ts'
import { beatingRegistration, publishersOf, withClaims } from '../state/claims.ts'
import { connectionOf } from '../state/connection-publisher.ts'
import { BEATS, type Claim, type InstanceRecord, type Publisher } from '../state/instance.ts'
import { rememberingChanges } from './remembering.ts'
import type { DepartureView } from '../state/presence.ts'
import {
  hasOver,
  isAway,
  isBack,
  REMEMBERED_METADATA,
  type RememberedMetadata,
  rememberedId,
  type Said,
  type Silenced,
  withoutOver,
} from '../state/remembered-metadata.ts'
import type { ServiceKey } from '../state/service.ts'

/** Publishers that leave an address. */
export interface Departing {
  readonly serviceKey: ServiceKey
  readonly record: InstanceRecord
  readonly leaves: (publisher: Publisher) => boolean
  readonly reason: InstanceRemoved['reason']
  /** Whether the client itself says so: then weight and enabled count no longer that an operator has set. */
  readonly isGoodbye?: boolean
  /** Whether silence has ended the registration over HTTP of the address a moment ago. */
  readonly isAfterSilence?: boolean
  /** Whether a registration that silence removes is remembered. */
  readonly remembers?: boolean
  readonly stamp: number
}

/**
 * The changes when publishers leave an address; the first one is of the instance. Empty: these publishers did not have it. A
 * claim of another publisher takes the address over, so that no list lacks it.
 */
export function departure(view: DepartureView, departing: Departing): readonly Change[] {
  const { serviceKey, record, leaves, reason, stamp } = departing
  const { address, serial, publisher, claims = [] } = record
  const left = claims.length === 0 ? claims : claims.filter((claim) => !leaves(claim.publisher))
  if (!leaves(publisher)) {
    if (left.length === claims.length) return []
    const stays = { record: withClaims(record, left), healthy: undefined }
    return [saved(view, departing, stays), ...memoryOf(view, departing, record)]
  }
  const next = nextOf(view, left)
  const memory = memoryOf(view, departing, next)
  if (next === undefined)
    return [{ kind: 'instance-removed', serviceKey, address, serial, reason, stamp }, ...memory]
  const over = view.record(REMEMBERED_METADATA, rememberedId({ serviceKey, address }))
  const others = left.filter((claim) => claim !== next)
  const taken = withClaims({ ...record, ...takenOver(over, next) }, others)
  const healthy = next.publisher.kind === 'beats' || next.healthy
  return [saved(view, departing, { record: taken, healthy }), ...memory]
}

/** The changes of the remembered facts of an address. `next`: the registration that has it then. */
function memoryOf(
  view: DepartureView,
  departing: Departing,
  next: InstanceRecord | Claim | undefined,
): Change[] {
  const { serviceKey, record, isGoodbye = false, stamp } = departing
  const isHandedOver = next !== undefined && next !== record
  if (!isGoodbye && !isHandedOver && !isSilence(departing)) return []
  const place = { serviceKey, address: record.address }
  const over = view.record(REMEMBERED_METADATA, rememberedId(place))
  const known = over ?? { ...place, metadata: {} }
  let after = isSilence(departing) ? afterSilence(known, departing) : known
  if (isGoodbye) after = afterGoodbye(known, departing, next === undefined)
  if (isHandedOver && hasOver(after)) after = { ...after, said: saidBy(next) }
  return after === known ? [] : rememberingChanges(over, after, stamp)
}

/** Whether silence ends the registration over HTTP of the address. */
function isSilence({ record, leaves, reason }: Departing): boolean {
  return reason === 'expired' && leaves(BEATS) && beatingRegistration(record) !== undefined
}

/** The registration that silence ends is remembered, whoever has the address then. */
function afterSilence(
  known: RememberedMetadata,
  { record, remembers = false }: Departing,
): RememberedMetadata {
  const ended = beatingRegistration(record) ?? record
  const { registered, app } = ended
  // The settings over a claim that waits are not in it.
  const said = (ended === record ? known.said : undefined) ?? saidBy(ended)
  const silenced = { ...said, registered, app }
  if (remembers && (hasOver(known) || !isBare(silenced)))
    return { ...isBack(known), address: record.address, silenced }
  return isAway(known) ? isBack(known) : known
}

/**
 * A goodbye of the last publisher ends weight and enabled. One over HTTP also ends what silence has removed before: all
 * servers learn it by `left`. A connection that leaves says nothing about that.
 */
function afterGoodbye(
  known: RememberedMetadata,
  { record, leaves, isAfterSilence = false }: Departing,
  isLast: boolean,
): RememberedMetadata {
  const after = isLast && hasOver(known) ? withoutOver(known) : known
  if (!leaves(BEATS) || !(isAway(known) || isAfterSilence)) return after
  const isThere = publishersOf(record).some(({ kind }) => kind !== 'connection')
  return { ...isBack(after), left: isThere ? undefined : true }
}

/** Whether a beat says as much as this registration. */
export function isBare({ weight, enabled, registered, app }: Silenced): boolean {
  return weight === 1 && enabled && Object.keys(registered).length === 0 && app === ''
}

function saidBy({ weight, enabled }: Said): Said {
  return { weight, enabled }
}

function saved(
  view: DepartureView,
  departing: Departing,
  saving: Pick<InstanceSaved, 'record' | 'healthy'>,
): InstanceSaved {
  const { serviceKey, stamp } = departing
  const serviceSerial = view.service(serviceKey)?.serial ?? 0
  const change = { kind: 'instance-saved', serviceKey, serviceSerial, ...saving, beat: false, stamp } as const
  return isSilence(departing) ? { ...change, isSilence: true } : change
}

/** The claim that was displaced last and whose publisher lives; if nobody is known to live, the first one. */
function nextOf(view: DepartureView, claims: readonly Claim[]): Claim | undefined {
  if (claims.length < 2) return claims[0]
  const processes = new Set(Array.from(view.records(MEMBER), ([, { process }]) => process))
  // A single server has no members: its connections are all of this process, or of the one before a restart.
  if (processes.size === 0) return claims[0]
  const lives = ({ publisher }: Claim): boolean => {
    const owner = connectionOf(publisher)
    return owner === undefined || processes.has(owner.process)
  }
  return claims.find(lives) ?? claims[0]
}

/** The fields of a claim, under the fields that an operator has set. */
function takenOver(
  over: RememberedMetadata | undefined,
  { publisher, weight, enabled, registered, app }: Claim,
): Partial<InstanceRecord> {
  return {
    publisher,
    ephemeral: publisher.kind !== 'operator',
    weight: over?.weight ?? weight,
    enabled: over?.enabled ?? enabled,
    registered,
    app,
  }
}
