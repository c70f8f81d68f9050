import { hostPort } from '../../core/text/ip-address.ts'
import type { InstanceTarget } from '../../core/naming/commands/instance-commands.ts'
import type { State } from '../../core/engine/state.ts'
import { DEFAULT_CLUSTER } from '../../core/naming/state/instance.ts'
import type { ServiceKey } from '../../core/naming/state/service.ts'
import { Refusal } from '../../core/refusal.ts'

/**
 * Which instance is meant. `cluster` undefined: the instance that is there, if one cluster alone has it, or else the one in
 * DEFAULT; `ephemeral` undefined: of either kind.
 */
export interface InstanceRequest {
  readonly serviceKey: ServiceKey
  readonly ip: string
  readonly port: number
  readonly cluster: string | undefined
  readonly ephemeral: boolean | undefined
  /** Whether it is refused without a cluster where several have the address, and with a new ip that no host can have. */
  readonly isStrict?: boolean
}

/** The parts of the state that find an instance. */
export type TargetState = Pick<State, 'services'>

/** The targets of requests that name no cluster: found once for each, before anything changes. */
const FOUND = new WeakMap<object, InstanceTarget>()

/** The instance that a registration means: without a cluster, the one in DEFAULT. */
export function targetOf(request: InstanceRequest): InstanceTarget {
  const { serviceKey, ip, port, cluster = DEFAULT_CLUSTER, ephemeral, isStrict } = request
  return {
    serviceKey,
    address: { ip, port, cluster },
    ephemeral,
    ipRule: isStrict === true ? 'host' : undefined,
  }
}

/**
 * The instance that any other request means. The state is asked, and no decision: if a decision read all clusters, all
 * registrations of a service would conflict on a shared store. Refusal `invalid-parameter` where several clusters have the
 * address and the request refuses that.
 */
export function targetThere(state: TargetState, request: InstanceRequest): InstanceTarget {
  if (request.cluster !== undefined) return targetOf(request)
  const known = FOUND.get(request)
  if (known !== undefined) return known
  const target = targetOf({ ...request, cluster: clusterThere(state, request) })
  FOUND.set(request, target)
  return target
}

function clusterThere({ services }: TargetState, request: InstanceRequest): string | undefined {
  const { serviceKey, ip, port, ephemeral, isStrict = false } = request
  const there = services.get(serviceKey)?.anywhere(ip, port) ?? []
  const clusters = there
    .filter(({ record }) => ephemeral === undefined || record.ephemeral === ephemeral)
    .map(({ record }) => record.address.cluster)
  if (clusters.length < 2) return clusters[0]
  if (!isStrict) return undefined
  const names = clusters.toSorted().join(', ')
  throw new Refusal('invalid-parameter', `${hostPort(ip, port)} is in several clusters: ${names}.`, {
    parameter: 'clusterName',
    allowed: `one of ${names}`,
  })
}

/** How the audit names an instance. */
export function instanceText({
  ip,
  port,
  cluster = DEFAULT_CLUSTER,
}: Pick<InstanceRequest, 'ip' | 'port' | 'cluster'>): string {
  return `${hostPort(ip, port)}@${cluster}`
}
