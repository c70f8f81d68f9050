import { MEMBER } from '../../core/cluster/members/member-records.ts'
import type { ConnectionInstances } from '../../core/naming/connections/connection-instances.ts'
import type {
  ClientSilence,
  PublishingClient,
} from '../../core/naming/connections/connection-registration.ts'
import { connectionOf } from '../../core/naming/state/connection-publisher.ts'
import type { Instance } from '../../core/naming/state/service-entry.ts'
import { type ConnectionProcesses, ORPHAN_MS } from '../../core/naming/liveness/connection-processes.ts'
import type { Now } from '../../core/decisions/stamps.ts'
import type { State } from '../../core/engine/state.ts'

/** Dependencies of {@link shownConnection}. */
export interface ShownConnectionParts {
  readonly state: State
  readonly connectionInstances: Pick<ConnectionInstances, 'process' | 'clientOf'>
  readonly processes: Pick<ConnectionProcesses, 'leftMs'>
  /** The silence of a connected client; undefined: it said something lately. */
  readonly silenceOf?: ((connectionId: string) => ClientSilence | undefined) | undefined
}

/**
 * Where the connection of an instance is. `here`: on this server. `elsewhere`: on another one. `gone`: its server is
 * gone, and the instance is removed unless its client registers it again.
 */
export type ShownConnection =
  | {
      readonly where: 'here'
      readonly client: PublishingClient | undefined
      readonly silence?: ClientSilence | undefined
    }
  | { readonly where: 'elsewhere'; readonly server: string }
  | { readonly where: 'gone'; readonly removedInMs: number }

/** The connection of an instance; undefined if no connection registered it. */
export function shownConnection(
  { state, connectionInstances, processes, silenceOf }: ShownConnectionParts,
  instance: Instance,
  now: Now,
): ShownConnection | undefined {
  const owner = connectionOf(instance.record.publisher)
  if (owner === undefined) return undefined
  const { process, connectionId } = owner
  if (process === connectionInstances.process)
    return {
      where: 'here',
      client: connectionInstances.clientOf(connectionId),
      silence: silenceOf?.(connectionId),
    }
  for (const [server, member] of state.records(MEMBER))
    if (member.process === process) return { where: 'elsewhere', server }
  return { where: 'gone', removedInMs: processes.leftMs(instance, now.healthMs) ?? ORPHAN_MS }
}
