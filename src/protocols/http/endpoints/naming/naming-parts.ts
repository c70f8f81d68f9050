import type { Engine } from '../../../../core/engine.ts'
import type { Liveness } from '../../../../core/naming/liveness.ts'
import type { Now } from '../../../../core/ports.ts'
import type { ServiceKey } from '../../../../core/naming/service.ts'
import type { State } from '../../../../core/state.ts'
import { toNamespaceId } from '../../../../core/namespace-id.ts'
import type { ListFormat } from '../../../answers/list-format.ts'
import type { InstanceListAnswers } from '../../../answers/instance-list.ts'
import { toGroupedName } from '../../../parameters/grouped-name.ts'

/** Somebody who asked for a list and can be pushed to. */
export interface PushSubscription {
  readonly address: string
  readonly port: number
  readonly agent: string
  readonly app: string
  readonly clusters: string
  /** How its lists are written. */
  readonly format: ListFormat
  readonly namespaceId: string
  readonly groupedName: string
  /** Whose labels a selector compares. */
  readonly consumerIp?: string
}

/** The pushes, as naming sees them. */
export interface Pushes {
  /** Whether the client will be pushed to, so that it may keep the list for longer. */
  subscribe(subscription: PushSubscription): boolean
  list(key: ServiceKey): Omit<PushSubscription, 'format'>[]
}

/** What the naming operations work on. */
export interface NamingParts {
  readonly state: State
  readonly liveness: Liveness
  readonly lists: InstanceListAnswers
  readonly engine: Engine
  readonly clock: () => Now
  readonly pushes: Pushes
  readonly maxInstanceMetadataBytes: number
}

/** The service that a request names. */
export function serviceKeyOf(params: {
  readonly namespaceId?: string
  readonly serviceName: string
  readonly groupName: string
}): ServiceKey {
  return {
    namespaceId: toNamespaceId(params.namespaceId),
    groupedName: toGroupedName(params.serviceName, params.groupName),
  }
}
