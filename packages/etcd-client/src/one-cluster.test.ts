import { expect, test } from 'vitest'
import { membersApart } from './one-cluster.ts'
import type { MemberStatus } from './version.ts'

const member = (endpoint: string, clusterId: number, leader: number): MemberStatus => ({
  endpoint,
  version: '3.6.0',
  clusterId: BigInt(clusterId),
  leader: BigInt(leader),
  hasLeader: leader !== 0,
  sizeBytes: 0,
  inUseBytes: 0,
  quotaBytes: undefined,
  errors: [],
})

test.each<[string, MemberStatus[], readonly string[] | undefined]>([
  ['nobody answers', [], undefined],
  ['one member', [member('a', 1, 5)], undefined],
  ['members of one cluster', [member('a', 1, 5), member('b', 1, 5), member('c', 1, 5)], undefined],
  ['a member without a leader', [member('a', 1, 5), member('b', 1, 0)], undefined],
  ['another cluster', [member('a', 1, 5), member('b', 2, 5)], ['a', 'b']],
  ['another leader', [member('a', 1, 0), member('b', 1, 5), member('c', 1, 6)], ['b', 'c']],
])('%s', (_, members, expected) => {
  expect(membersApart(members)).toEqual(expected)
})
