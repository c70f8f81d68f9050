import type { HistoryLimits } from '../core/config/state/history-limits.ts'
import type { Settings } from '../settings/settings.ts'
import type { MemberStatus } from '../store/etcd/client/version.ts'
import type { OpenEtcd } from '../store/etcd/open-etcd.ts'
import type { QuotaShares } from '../store/etcd/quota-shares.ts'
import { fullestOf } from '../store/etcd/space.ts'
import { monotonicMs } from './clocks.ts'

/** History takes at most this part of etcd's quota: what is current must fit too, and what was before until compaction. */
const HISTORY_PART = 1 / 4
/** How often the parts of the quota are measured. */
const SHARES_MS = 10 * 60_000

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

/** The part of its quota that each kind of keys takes in etcd. Only the elected server measures it: it is the same for all. */
export class MeasuredShares {
  readonly #etcd: OpenEtcd
  readonly #quotaBytes: number
  #dueMs = 0
  #current: QuotaShares | undefined

  /** `quotaBytes`: of a member that does not tell its own. */
  constructor(etcd: OpenEtcd, quotaBytes: number) {
    this.#etcd = etcd
    this.#quotaBytes = quotaBytes
  }

  /** Undefined: it was not measured yet. */
  get current(): QuotaShares | undefined {
    return this.#current
  }

  /** Measures if that is due. */
  async measure(): Promise<void> {
    const nowMs = monotonicMs()
    if (nowMs < this.#dueMs) return
    this.#dueMs = nowMs + SHARES_MS
    const fullest = fullestOf(await answering(this.#etcd), this.#quotaBytes)
    if (fullest !== undefined) this.#current = await this.#etcd.store.quotaShares(fullest)
  }
}
