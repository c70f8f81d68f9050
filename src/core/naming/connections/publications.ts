import type { PublishedInstance } from '../commands/replace-instances.ts'
import type { InstanceAddress } from '../state/instance.ts'
import type { ServiceKey } from '../state/service.ts'
import type { ConnectionRegistration, PublishingClient } from './connection-registration.ts'

/** All instances of a connection in a service, from now on. */
export interface ConnectionPublication {
  readonly serviceKey: ServiceKey
  readonly connectionId: string
  readonly client?: PublishingClient
  /** The user who publishes; undefined: nobody has to sign in. */
  readonly username?: string | undefined
  readonly instances: readonly PublishedInstance[]
  /** Whether the request names one instance only, and its client may not know that it names the whole set. */
  readonly isSingle?: boolean
}

/** Instances that a connection withdraws; `named` undefined: all. */
export interface Withdrawal extends Pick<ConnectionPublication, 'serviceKey' | 'connectionId'> {
  readonly named?: readonly InstanceAddress[]
}

/** A single registration has replaced another one of its connection. */
export interface Replaced {
  readonly registration: ConnectionRegistration
  readonly replaced: InstanceAddress
  readonly by: InstanceAddress
}

/** Facts about an ended connection; all times are on the monotonic clock. */
export interface EndedConnection {
  /** Its client was sent to another server, or must sign in again. */
  readonly comesBack: boolean
  /** By when it is known to come back. */
  readonly returnsByMs?: number | undefined
  /** When it began; by default lately. */
  readonly beganMs?: number | undefined
}
