import { MEMBER } from '../../cluster/members/member-records.ts'
import type { InstanceRemoved, InstanceSaved } from '../../decisions/changes.ts'
import { withClaims } from '../state/claims.ts'
import { connectionOf } from '../state/connection-publisher.ts'
import { type Claim, type InstanceRecord, type Publisher } from '../state/instance.ts'
import type { DepartureView, InstancePlace } from '../state/presence.ts'
import { REMEMBERED_METADATA, rememberedId } from '../state/remembered-metadata.ts'
import type { ServiceKey } from '../state/service.ts'

/** Publishers that leave an address. */
export interface Departing {
  readonly serviceKey: ServiceKey
  readonly record: InstanceRecord
  readonly leaves: (publisher: Publisher) => boolean
  readonly reason: InstanceRemoved['reason']
  readonly stamp: number
}

/**
 * The change when publishers leave an address; undefined: none of these publishers had it. A claim of another publisher takes
 * the address over, so that no list lacks it.
 */
export function departure(
  view: DepartureView,
  departing: Departing,
): InstanceSaved | InstanceRemoved | undefined {
  const { serviceKey, record, leaves, reason, stamp } = departing
  const { address, serial, publisher, claims = [] } = record
  const left = claims.length === 0 ? claims : claims.filter((claim) => !leaves(claim.publisher))
  if (!leaves(publisher))
    return left.length === claims.length
      ? undefined
      : saved(view, departing, { record: withClaims(record, left), healthy: undefined })
  const next = nextOf(view, left)
  if (next === undefined) return { kind: 'instance-removed', serviceKey, address, serial, reason, stamp }
  const others = left.filter((claim) => claim !== next)
  const taken = withClaims({ ...record, ...takenOver(view, { serviceKey, address }, next) }, others)
  return saved(view, departing, { record: taken, healthy: next.publisher.kind === 'beats' || next.healthy })
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
  view: DepartureView,
  place: InstancePlace,
  { publisher, weight, enabled, registered, app }: Claim,
): Partial<InstanceRecord> {
  const over = view.record(REMEMBERED_METADATA, rememberedId(place))
  return {
    publisher,
    ephemeral: publisher.kind !== 'operator',
    weight: over?.weight ?? weight,
    enabled: over?.enabled ?? enabled,
    registered,
    app,
  }
}
