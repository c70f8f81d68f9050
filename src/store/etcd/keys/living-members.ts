import { MEMBER, type MemberFacts } from '../../../core/cluster/members/member-records.ts'
import type { EtcdClient } from '@waypost/etcd-client/etcd-client'
import type { KeyValue } from '@waypost/etcd-client/messages'
import { prefixEnd } from '@waypost/etcd-client/range-end'
import type { Keys } from './keys.ts'
import { readRecord } from './read-values.ts'

/** The members in a store, each on its lease. */
export async function livingMembers(
  client: Pick<EtcdClient, 'range'>,
  keys: Keys,
): Promise<readonly MemberFacts[]> {
  const prefix = keys.every('member')
  const { kvs } = await client.range({ key: prefix, end: prefixEnd(prefix) })
  return kvs.flatMap((kv) => memberOf(kv) ?? [])
}

/** The member of a key. Undefined: no server holds the key, or has written its value. */
export function memberOf({ key, value, lease }: KeyValue): MemberFacts | undefined {
  if (lease === 0n) return undefined
  try {
    return readRecord(MEMBER.name, key, value).value as MemberFacts
  } catch {
    return undefined
  }
}
