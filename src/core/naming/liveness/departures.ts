import { MEMBER } from '../../cluster/members/member-records.ts'
import type { Change, InstanceRemoved, InstanceSaved } from '../../decisions/changes.ts'
import { withClaims } from '../state/claims.ts'
import { connectionOf } from '../state/connection-publisher.ts'
import { type Claim, type InstanceRecord, type Publisher } from '../state/instance.ts'
import { forgetSettings, rememberingChanges } from './remembering.ts'
import type { DepartureView } from '../state/presence.ts'
import {
  hasOver,
  isBack,
  REMEMBERED_METADATA,
  type RememberedMetadata,
  rememberedId,
  type Said,
  type Silenced,
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
  if (!leaves(publisher))
    return left.length === claims.length
      ? []
      : [saved(view, departing, { record: withClaims(record, left), healthy: undefined })]
  const next = nextOf(view, left)
  if (next === undefined)
    return [
      { kind: 'instance-removed', serviceKey, address, serial, reason, stamp },
      ...memoryOf(view, departing),
    ]
  const over = view.record(REMEMBERED_METADATA, rememberedId({ serviceKey, address }))
  const others = left.filter((claim) => claim !== next)
  const taken = withClaims({ ...record, ...takenOver(over, next) }, others)
  const healthy = next.publisher.kind === 'beats' || next.healthy
  const change = saved(view, departing, { record: taken, healthy })
  return over !== undefined && hasOver(over)
    ? [change, ...rememberingChanges(over, { ...over, said: saidBy(next) }, stamp)]
    : [change]
}

/** The changes of what is remembered of an instance that leaves. */
function memoryOf(
  view: DepartureView,
  { serviceKey, record, reason, isGoodbye = false, remembers = false, stamp }: Departing,
): Change[] {
  const isSilence = reason === 'expired' && record.publisher.kind === 'beats'
  if (!isGoodbye && !isSilence) return []
  const place = { serviceKey, address: record.address }
  const over = view.record(REMEMBERED_METADATA, rememberedId(place))
  if (isGoodbye) return forgetSettings(over, stamp)
  const known = over ?? { ...place, metadata: {} }
  const said = known.said ?? saidBy(record)
  const { registered, app } = record
  const isKept = remembers && (hasOver(known) || !isBare({ ...said, registered, app }))
  if (!isKept && over?.silenced === undefined) return []
  const silenced = isKept ? { ...said, registered, app } : undefined
  return rememberingChanges(over, { ...isBack(known), silenced }, stamp)
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
  { serviceKey, stamp }: Departing,
  saving: Pick<InstanceSaved, 'record' | 'healthy'>,
): InstanceSaved {
  const serviceSerial = view.service(serviceKey)?.serial ?? 0
  return { kind: 'instance-saved', serviceKey, serviceSerial, ...saving, beat: false, stamp }
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
