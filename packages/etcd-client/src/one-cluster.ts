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

/** Why two endpoints of etcd cannot be used together, and what to do. */
export function apartText(endpoints: readonly string[]): string {
  return (
    `The endpoints of etcd are not one cluster: ${endpoints.join(' and ')} have different data or leaders. A server that ` +
    'changes from one to the other loses changes. Keep one of them, and add the others to it as new members (docs/cluster.md, "A lost majority").'
  )
}
