import { REFUSED_WITHOUT_ROOM, type Room } from '../../../core/engine/store-room.ts'
import type { MemberStatus } from '@waypost/etcd-client/version'

/** How much of etcd's file is left free. */
export interface SpaceLimits {
  /** Bytes that must stay free; 0: no reserve. */
  readonly reserveBytes: number
  /** The quota of an etcd that does not tell its own. */
  readonly quotaBytes: number
}

/** Free pages inside a file that is this near to the quota do not count: large values may not fit into them. */
const NEAR_PART = 1 / 4

/** The meaning of the alarm for a full quota, and the advice. */
export const ALARM_RAISED = 'etcd has raised its alarm NOSPACE and refuses every write and every lease.'
export const ALARM_ADVICE =
  'Compact etcd and defragment every member, or raise its quota; then disarm the alarm with `etcdctl alarm disarm` ' +
  '(docs/cluster.md, "A full quota"). Reads, lists, beats and tokens still work.'

/** The meaning of the alarm for members that differ, and the advice. */
export const CORRUPT_RAISED =
  'etcd has raised its alarm CORRUPT: its members have different data, and it refuses every write. ' +
  'An operator removes the member that differs (docs/cluster.md, "Members of etcd that differ").'

const ALARM: Room = { leftBytes: -Infinity, usage: ALARM_RAISED, advice: ALARM_ADVICE }

/** The room of etcd's fullest member. Undefined: no member answers. */
export function roomOf(members: readonly MemberStatus[], limits: SpaceLimits): Room | undefined {
  const rooms = members.map((member) => roomOfMember(member, limits))
  if (rooms.length === 0) return undefined
  return rooms.reduce((least, room) => (room.leftBytes < least.leftBytes ? room : least))
}

/** Whether a member knows the alarm for a full quota, during which etcd takes no write and gives no lease. */
export function hasAlarm({ errors }: Pick<MemberStatus, 'errors'>): boolean {
  return errors.some((text) => text.includes('NOSPACE'))
}

/** Whether a member knows the alarm for members that differ, during which etcd takes no write. */
export function isCorrupt({ errors }: Pick<MemberStatus, 'errors'>): boolean {
  return errors.some((text) => text.includes('CORRUPT'))
}

/** The smallest quota of the members; `unknown` replaces a quota that a member does not report. */
export function quotaOf(members: readonly MemberStatus[], unknown: number): number {
  return members.reduce((least, member) => Math.min(least, member.quotaBytes ?? unknown), Infinity)
}

/** The member whose file is nearest to its quota, with this quota; `unknown` replaces an unreported quota. */
export function fullestOf(
  members: readonly MemberStatus[],
  unknown: number,
): (MemberStatus & { readonly quotaBytes: number }) | undefined {
  const all = members.map((member) => ({ ...member, quotaBytes: member.quotaBytes ?? unknown }))
  return all.sort((a, b) => b.sizeBytes / b.quotaBytes - a.sizeBytes / a.quotaBytes)[0]
}

/**
 * A change needs room for the file to grow, or free pages in the file. etcd counts the size of the file, so its free
 * pages help only while the file is not near the quota.
 */
function roomOfMember(member: MemberStatus, { reserveBytes, quotaBytes }: SpaceLimits): Room {
  const { endpoint, sizeBytes, inUseBytes } = member
  if (hasAlarm(member)) return ALARM
  if (reserveBytes === 0) return { leftBytes: Infinity, usage: '', advice: '' }
  const quota = member.quotaBytes ?? quotaBytes
  const toQuota = quota - sizeBytes
  const inside = toQuota > reserveBytes * NEAR_PART ? Math.max(0, sizeBytes - inUseBytes) : 0
  const mib = (bytes: number): string => `${Math.round(bytes / 1024 / 1024)} MiB`
  const usage =
    `The file of etcd at ${endpoint} has ${mib(sizeBytes)} of ${mib(quota)}, of which ${mib(inUseBytes)} are in use; ` +
    `${mib(reserveBytes)} must stay free (store-reserve).`
  const advice =
    'What was deleted is free after compaction; then defragment every member, or raise its quota (docs/operations.md, ' +
    `"etcd full"). ${REFUSED_WITHOUT_ROOM}`
  return { leftBytes: Math.max(toQuota, inside) - reserveBytes, usage, advice }
}
