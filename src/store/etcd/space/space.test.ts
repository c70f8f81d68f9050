import { expect, test } from 'vitest'
import type { MemberStatus } from '@waypost/etcd-client/version'
import { quotaOf, roomOf } from './space.ts'

const MIB = 1024 * 1024
const LIMITS = { reserveBytes: 256 * MIB, quotaBytes: 2048 * MIB }

/** A member with a file of this many MiB, and this many in use; it reports no quota, as 3.5. */
function member(sizeMib: number, inUseMib = sizeMib, more: Partial<MemberStatus> = {}): MemberStatus {
  const sizes = { sizeBytes: sizeMib * MIB, inUseBytes: inUseMib * MIB, quotaBytes: undefined }
  const place = { endpoint: 'http://e:2379', version: '3.5.18', clusterId: 1n, leader: 1n }
  return { ...place, hasLeader: true, errors: [], ...sizes, ...more }
}

const leftMib = (...members: MemberStatus[]): number => roomOf(members, LIMITS)!.leftBytes / MIB

test('room is the growth of the fullest member until the reserve', () => {
  expect(leftMib(member(1_000))).toBe(792)
  expect(leftMib(member(1_000), member(1_800))).toBe(-8)
  expect(leftMib(member(1_000, 1_000, { quotaBytes: 8_192 * MIB }))).toBe(6_936)
  expect(roomOf([], LIMITS)).toBeUndefined()
})

test('free space inside the file counts, but not near the quota', () => {
  expect(leftMib(member(1_900, 500))).toBe(1_144)
  expect(leftMib(member(2_000, 500))).toBe(-208)
})

test('with the alarm there is no room, whatever the reserve', () => {
  const alarmed = member(100, 100, { errors: ['memberID:1 alarm:NOSPACE '] })
  expect(leftMib(alarmed)).toBe(-Infinity)
  expect(roomOf([alarmed], { ...LIMITS, reserveBytes: 0 })?.advice).toContain('disarm the alarm')
  expect(roomOf([member(2_047)], { ...LIMITS, reserveBytes: 0 })?.leftBytes).toBe(Infinity)
})

test('the quota is the smallest of the members; the setting counts for a member that reports no quota', () => {
  expect(quotaOf([member(1, 1, { quotaBytes: 4_096 * MIB }), member(1)], 2_048 * MIB)).toBe(2_048 * MIB)
  expect(quotaOf([member(1, 1, { quotaBytes: 4_096 * MIB })], 2_048 * MIB)).toBe(4_096 * MIB)
})
