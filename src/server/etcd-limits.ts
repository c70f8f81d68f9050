import type { HistoryLimits } from '../core/config/state/history-limits.ts'
import type { Settings } from '../settings/settings.ts'
import type { MemberStatus } from '../store/etcd/client/version.ts'
import type { OpenEtcd } from '../store/etcd/open-etcd.ts'

/** History takes at most this part of etcd's quota: what is current must fit too, and what was before until compaction. */
const HISTORY_PART = 1 / 4

/** How many bytes history may take in an etcd with this quota. */
export function historyLimits(
  { historyMaxBytes, historyMaxBytesOfItem }: Settings,
  quota: number,
): HistoryLimits {
  const maxBytes = Math.min(historyMaxBytes, quota * HISTORY_PART)
  return { maxBytes, maxBytesOfItem: Math.min(historyMaxBytesOfItem, maxBytes) }
}

/** The members of etcd that answer. */
export async function answering({ client }: Pick<OpenEtcd, 'client'>): Promise<MemberStatus[]> {
  return (await client.status()).flatMap((member) => ('error' in member ? [] : [member]))
}
