import type { HistoryLimits } from '../../core/config/state/history-limits.ts'
import type { Room } from '../../core/engine/store-room.ts'
import type { Settings } from '../../settings/settings.ts'
import { membersApart } from '@waypost/etcd-client/one-cluster'
import type { MemberStatus } from '@waypost/etcd-client/version'
import type { OpenEtcd } from '../../store/etcd/open-etcd.ts'
import type { QuotaShares } from '../../store/etcd/space/quota-shares.ts'
import { fullestOf, isCorrupt, roomOf } from '../../store/etcd/space/space.ts'
import { monotonicMs } from '../process/clocks.ts'

/** The part of etcd's quota for history: current data, and old versions until compaction, must fit too. */
const HISTORY_PART = 1 / 4
/** How often the parts of the quota are measured. */
const SHARES_MS = 10 * 60_000

/** How often the members of etcd are asked for the size of their files. */
const FILES_MS = 3_000

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

/** Measures the files of etcd. */
export class EtcdFiles {
  readonly #etcd: Pick<OpenEtcd, 'client'>
  readonly #settings: Pick<Settings, 'storeReserveBytes' | 'etcdQuotaBytes'>
  #dueMs = 0
  #apart: readonly string[] | undefined
  #wereApart = false
  #isCorrupt = false

  constructor(
    etcd: Pick<OpenEtcd, 'client'>,
    settings: Pick<Settings, 'storeReserveBytes' | 'etcdQuotaBytes'>,
  ) {
    this.#etcd = etcd
    this.#settings = settings
  }

  /** The room beyond the reserve. Undefined: measured just now, or unknown. `isUrgent`: measures in any case. */
  async room(isUrgent: boolean): Promise<Room | undefined> {
    const nowMs = monotonicMs()
    if (!isUrgent && nowMs < this.#dueMs) return undefined
    this.#dueMs = nowMs + FILES_MS
    const { storeReserveBytes: reserveBytes, etcdQuotaBytes: quotaBytes } = this.#settings
    const members = await answering(this.#etcd)
    const apart = membersApart(members)
    this.#apart = this.#wereApart ? apart : undefined
    this.#wereApart = apart !== undefined
    this.#isCorrupt = members.some(isCorrupt)
    return roomOf(members, { reserveBytes, quotaBytes })
  }

  /** Two endpoints that were no members of one cluster at the last two looks. */
  get apart(): readonly string[] | undefined {
    return this.#apart
  }

  /** Whether etcd has raised its alarm for members that differ, at the last look. */
  get isCorrupt(): boolean {
    return this.#isCorrupt
  }

  /** The bytes of the file that is nearest to its quota. Undefined: no member answers. */
  async largest(): Promise<number | undefined> {
    return fullestOf(await answering(this.#etcd), this.#settings.etcdQuotaBytes)?.sizeBytes
  }
}

/** The share of each kind of keys in etcd's quota. Only the elected server measures it: it is the same for all. */
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
