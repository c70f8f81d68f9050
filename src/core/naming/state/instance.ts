import { identityOf } from '../../text/ip-address.ts'

/** Names an instance within its service. Its ip is as it was first registered: every spelling of it is the same address. */
export interface InstanceAddress {
  readonly ip: string
  readonly port: number
  readonly cluster: string
}

/** Names and values as an instance carries them; values are always strings. */
export type Metadata = Readonly<Record<string, string>>

/**
 * The publisher keeps an instance registered, and so decides when it leaves by itself. `beats`: a client that sends
 * heartbeats; the instance expires when they stop. `connection`: the client of the connection with this id; the
 * instance does not expire by silence. `operator`: a person or a script; the instance stays until somebody removes it.
 */
export type Publisher =
  | { readonly kind: 'beats' }
  | { readonly kind: 'connection'; readonly id: string }
  | { readonly kind: 'operator' }

/** Publishers without an id are constants, so that a record costs no object for them. */
export const BEATS: Publisher = { kind: 'beats' }
export const OPERATOR: Publisher = { kind: 'operator' }

/** The publisher of an instance that was registered without a connection. */
export function usualPublisher(ephemeral: boolean): Publisher {
  return ephemeral ? BEATS : OPERATOR
}

/** Whether both are the same publisher. */
export function isSamePublisher(a: Publisher, b: Publisher): boolean {
  return a === b || (a.kind === b.kind && connectionId(a) === connectionId(b))
}

function connectionId(publisher: Publisher): string | undefined {
  return publisher.kind === 'connection' ? publisher.id : undefined
}

/**
 * A registration at an address that another publisher has now. It takes over when that publisher leaves. The claim of
 * an operator is persistent; any other claim is ephemeral.
 */
export interface Claim {
  readonly publisher: Publisher
  readonly weight: number
  readonly enabled: boolean
  readonly registered: Metadata
  readonly app: string
  readonly healthy: boolean
}

/**
 * The stored part of an instance. `registered` is its metadata as registered; metadata that operators wrote since
 * (remembered metadata) lies over it, see `Instance.metadata`. `serial` is this server's own number for it, never sent.
 * The last publisher of an address owns its record.
 */
export interface InstanceRecord {
  readonly address: InstanceAddress
  readonly serial: number
  readonly ephemeral: boolean
  readonly publisher: Publisher
  readonly weight: number
  readonly enabled: boolean
  readonly registered: Metadata
  /** The `app` parameter of the registration, kept and shown. */
  readonly app: string
  /** Those who have registered the address too and wait for it, the last displaced first; absent: nobody. */
  readonly claims?: readonly Claim[]
}

/** Whether two records say the same about an instance, whoever waits for its address. */
export function isSameRecord(a: InstanceRecord, b: InstanceRecord): boolean {
  return (
    a.ephemeral === b.ephemeral &&
    a.weight === b.weight &&
    a.enabled === b.enabled &&
    a.app === b.app &&
    isSamePublisher(a.publisher, b.publisher) &&
    isSameMetadata(a.registered, b.registered)
  )
}

/** Whether two sets of metadata hold the same keys and values. */
export function isSameMetadata(a: Metadata, b: Metadata): boolean {
  if (a === b) return true
  let left = 0
  for (const name in a) {
    if (a[name] !== b[name]) return false
    left++
  }
  for (const _name in b) left--
  return left === 0
}

/**
 * How often an instance beats, and after how much silence it is unhealthy or removed, in milliseconds. `intervalMs`
 * undefined: as often as the switch clientBeatInterval says.
 */
export interface BeatTiming {
  readonly intervalMs: number | undefined
  readonly unhealthyMs: number
  readonly removeMs: number
}

/** The timing of an instance that asks for nothing else (http-compat.md section 4). */
export const DEFAULT_TIMING: BeatTiming = { intervalMs: undefined, unhealthyMs: 15_000, removeMs: 30_000 }

/** The cluster of an instance that names no cluster. */
export const DEFAULT_CLUSTER = 'DEFAULT'

/** One string per address within a service, whatever the spelling of its ip. */
export function addressText({ ip, port, cluster }: InstanceAddress): string {
  return `${identityOf(ip)}#${port}#${cluster}`
}

/** `<ip>#<port>#<cluster>#<group>@@<service>` (interface.md, instance ids). */
export function instanceIdOf({ ip, port, cluster }: InstanceAddress, groupedName: string): string {
  return `${ip}#${port}#${cluster}#${groupedName}`
}
