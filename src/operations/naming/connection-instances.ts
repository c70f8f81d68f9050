import type { ConnectionInstances } from '../../core/naming/connections/connection-instances.ts'
import type { EndedConnection } from '../../core/naming/connections/publications.ts'
import type { PublishingClient } from '../../core/naming/connections/connection-registration.ts'
import { refuseTooMuchMetadata } from '../../core/naming/commands/metadata-commands.ts'
import type { PublishedInstance, Replacement } from '../../core/naming/commands/replace-instances.ts'
import type { InstanceAddress } from '../../core/naming/state/instance.ts'
import type { ServiceKey } from '../../core/naming/state/service.ts'
import type { State } from '../../core/engine/state.ts'
import type { Guard } from '../guard.ts'
import { instanceNames } from './audited-instances.ts'
import { NEVER_RECORDED } from '../operation-audit.ts'
import { serviceResource, WRITE_SERVICE } from './services.ts'

/** Dependencies of the operations on the instances of connections. */
export interface ConnectionInstanceOperationParts {
  readonly guard: Guard
  readonly state: State
  readonly connectionInstances: ConnectionInstances
  /** The most metadata that an instance may have, in bytes of UTF-8. */
  readonly maxInstanceMetadataBytes: number
}

/** A connection, as its process calls it, and a service. */
export interface ConnectionRequest {
  readonly serviceKey: ServiceKey
  readonly connectionId: string
}

/** All instances of a connection in a service: its other ones there are removed. */
export interface PublishInstancesRequest extends ConnectionRequest {
  readonly instances: readonly PublishedInstance[]
  /** The client, for people who look at its instances. */
  readonly client?: PublishingClient
  /** Whether its client names one instance, and may not know that this is the whole set. */
  readonly isSingle?: boolean
}

/** Instances of a connection to remove; `named` undefined: all. */
export interface WithdrawRequest extends ConnectionRequest {
  readonly named?: readonly InstanceAddress[]
}

/** A connection that has ended. */
export interface ReleaseRequest extends EndedConnection {
  readonly connectionId: string
}

/**
 * Makes the operations on instances that live as long as the connection which has published them. Each has one
 * publisher: a connection takes over an address, and loses it to the next one that registers it.
 */
export function connectionInstanceOperations(parts: ConnectionInstanceOperationParts) {
  const { guard, state, connectionInstances, maxInstanceMetadataBytes } = parts
  return {
    /**
     * Makes these all the instances of the connection in the service. They are healthy by default, and have the weight
     * and `enabled` that an operator has set before. If it is refused, the earlier instances stay. Refuses as a
     * registration does, and with `stopping` after `release`.
     */
    publish: guard.operation({
      permission: WRITE_SERVICE,
      audit: {
        operation: 'register instance',
        items: ({ serviceKey, instances }: PublishInstancesRequest) =>
          instanceNames({ serviceKey, instances: instances.map(({ address }) => address) }),
        countsOthers: true,
        isRecorded: (request) => replacesPersistent(state, request),
      },
      resources: ofService,
      run: (request: PublishInstancesRequest, { identity }): Replacement | Promise<Replacement> => {
        for (const { metadata } of request.instances)
          refuseTooMuchMetadata(metadata, maxInstanceMetadataBytes)
        const username = identity.kind === 'user' ? identity.username : undefined
        return connectionInstances.publish({ ...request, username })
      },
    }),
    /** Removes the named instances of the connection in the service, or all, now or later. Ok where it has none of these. */
    withdraw: guard.operation({
      permission: WRITE_SERVICE,
      audit: { operation: 'deregister instance', countsOthers: true, isRecorded: NEVER_RECORDED },
      resources: ofService,
      run: (request: WithdrawRequest): Replacement | Promise<Replacement> =>
        connectionInstances.withdraw(request),
    }),
    /**
     * The connection has ended: all its instances go at once; if its client comes back, 40 s later, unless it has
     * registered them again. Do not call it when this server stops: then they stay as long. It needs no permission:
     * nobody asks for it.
     */
    release: guard.operation({
      permission: { action: 'write', resource: 'public' },
      audit: { operation: 'end connection', isRecorded: NEVER_RECORDED },
      resources: () => [],
      run: ({ connectionId, ...ended }: ReleaseRequest): void =>
        connectionInstances.release(connectionId, ended),
    }),
  }
}

function ofService({ serviceKey }: ConnectionRequest) {
  return [serviceResource(serviceKey)]
}

/** Whether a persistent instance is at one of the addresses. */
function replacesPersistent(state: State, { serviceKey, instances }: PublishInstancesRequest): boolean {
  return instances.some(({ address }) => state.isPersistentAt(serviceKey, address))
}
