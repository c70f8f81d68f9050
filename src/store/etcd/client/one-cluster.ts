import type { MemberStatus } from './version.ts'

/**
 * The members among these that belong to different clusters, or follow different leaders; undefined: there are none. Members
 * that were each restored or started with `--force-new-cluster` by themselves have different data. During an election a
 * member may still name the leader before, so one look is no proof of different leaders.
 */
export function membersApart(members: readonly MemberStatus[]): readonly [string, string] | undefined {
  const led = members.filter(({ hasLeader }) => hasLeader)
  const [first] = led
  const other = led.find((one) => one.clusterId !== first!.clusterId || one.leader !== first!.leader)
  return first && other && [first.endpoint, other.endpoint]
}
