import type { EtcdConnection } from './connection.ts'
import { EtcdError, toEtcdError } from './etcd-error.ts'
import { METHODS } from './methods.ts'

/** The oldest patch release of each minor one. 3.5 lost events of watches before the fixes of its issues 18089 and 19179. */
const OLDEST = { major: 3, minor: 5, patch: 18 }

/** Whether this version of etcd can be used, such as `3.6.1`. Versions newer than the tested ones can. */
export function isSupported(version: string): boolean {
  const [, major, minor, patch] = /^(\d+)\.(\d+)\.(\d+)/.exec(version)?.map(Number) ?? []
  if (major === undefined || minor === undefined || patch === undefined) return false
  if (major !== OLDEST.major) return major > OLDEST.major
  return minor === OLDEST.minor ? patch >= OLDEST.patch : minor > OLDEST.minor
}

/** The status of a member. */
export interface MemberStatus {
  readonly endpoint: string
  readonly version: string
  /** The ids of the cluster, and of its leader. */
  readonly clusterId: bigint
  readonly leader: bigint
  /** Whether it knows a leader, without which nothing can be changed. */
  readonly hasLeader: boolean
  /** Bytes of the database file, and bytes in use. */
  readonly sizeBytes: number
  readonly inUseBytes: number
  /** How large the file may become; undefined: this version does not tell. */
  readonly quotaBytes: number | undefined
  /** etcd's complaints, such as an alarm. */
  readonly errors: readonly string[]
}

/** The state of a member. Rejects with `unavailable` if it does not answer. */
export async function memberStatus(connection: EtcdConnection, limitMs: number): Promise<MemberStatus> {
  const status = await connection.call(METHODS.status, {}, limitMs).catch((reason: unknown) => {
    throw toEtcdError(reason)
  })
  return {
    endpoint: connection.endpoint,
    version: status.version,
    clusterId: status.header?.clusterId ?? 0n,
    leader: status.leader,
    hasLeader: status.leader !== 0n,
    sizeBytes: Number(status.dbSize),
    inUseBytes: Number(status.dbSizeInUse),
    quotaBytes: status.dbSizeQuota > 0n ? Number(status.dbSizeQuota) : undefined,
    errors: status.errors,
  }
}

/** Rejects with `unsupported` if the member's version is too old. */
export async function refuseUnsupported(connection: EtcdConnection, limitMs: number): Promise<void> {
  const { version } = await memberStatus(connection, limitMs)
  if (isSupported(version)) return
  throw new EtcdError(
    'unsupported',
    `etcd at ${connection.endpoint} has version ${version}, which can lose changes that are watched. ` +
      `Waypost needs etcd 3.6, or 3.5 from 3.5.${OLDEST.patch} on. Upgrade etcd first.`,
  )
}
