import type { Change, InstanceHealthChanged, InstanceRemoved } from '../changes.ts'
import { DueBook } from '../due-book.ts'
import type { Now } from '../ports.ts'
import type { Instance } from './instance.ts'
import type { ServiceKey } from './service.ts'

const BUCKET_MS = 250
/** How soon an instance is looked at again that is silent but must not be judged now. */
const UNJUDGED_MS = 1_000

/**
 * Watches the silence of ephemeral instances. A beat only moves `lastBeatMs`; an instance is looked at when
 * the earliest moment comes at which its silence could matter, and put back if it has beaten since. So a
 * sweep costs what is due, not what there is.
 */
export class HealthBook {
  readonly #due = new DueBook<Instance>(BUCKET_MS)
  /** Since the start: beats that renewed an instance or found none, and what silence has brought about. */
  readonly counts = { renewed: 0, unknown: 0, unhealthy: 0, removed: 0 }

  /** Whether the last sweep has left instances that are due. */
  get hasMore(): boolean {
    return this.#due.hasMore
  }

  /** Puts an ephemeral instance into the book, or moves it to where its timing says. */
  watch(instance: Instance): void {
    this.#due.add(instance, nextDueMs(instance, instance.healthy))
  }

  /** Takes an instance out: it has left, or is probed now. */
  forget(instance: Instance): void {
    this.#due.remove(instance)
  }

  /**
   * The changes that silence has brought about by `now.healthMs`: unhealthy, or gone. Nothing changes for
   * services that `judged` refuses: their instances are looked at again, and have a fresh timeout when they
   * are judged once more. At most `most` instances are looked at; `hasMore` tells whether others are due.
   */
  sweep(now: Now, judged: (key: ServiceKey) => boolean, most?: number): Change[] {
    const changes: Change[] = []
    for (const instance of this.#due.due(now.healthMs, most)) {
      if (!judged(instance.entry.service.key)) {
        instance.lastBeatMs = now.healthMs
        this.#due.add(instance, now.healthMs + UNJUDGED_MS)
        continue
      }
      const change = judge(instance, now)
      if (change !== undefined) {
        changes.push(change)
        this.counts[change.kind === 'instance-removed' ? 'removed' : 'unhealthy']++
      }
      if (change?.kind !== 'instance-removed') {
        this.#due.add(instance, nextDueMs(instance, instance.healthy && change === undefined))
      }
    }
    return changes
  }
}

function nextDueMs(instance: Instance, healthy: boolean): number {
  const { unhealthyMs, removeMs } = instance.timing
  const silenceMs = healthy ? Math.min(unhealthyMs, removeMs) : removeMs
  return instance.lastBeatMs + silenceMs
}

function judge(instance: Instance, now: Now): InstanceRemoved | InstanceHealthChanged | undefined {
  const { record, timing, entry } = instance
  const about = {
    serviceKey: entry.service.key,
    address: record.address,
    serial: record.serial,
    stamp: now.stamp,
  }
  const silenceMs = now.healthMs - instance.lastBeatMs
  if (silenceMs >= timing.removeMs) return { kind: 'instance-removed', ...about, reason: 'expired' }
  if (!instance.healthy || silenceMs < timing.unhealthyMs) return undefined
  return { kind: 'instance-health-changed', ...about, healthy: false }
}
