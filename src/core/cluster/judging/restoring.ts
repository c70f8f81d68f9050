import { type Command, commandOn, synced, unchanged } from '../../decisions/decision.ts'
import type { HealthClock } from '../../naming/liveness/health-clock.ts'
import type { Instance } from '../../naming/state/service-entry.ts'
import type { Liveness } from '../../naming/liveness/liveness.ts'
import { type Change, NO_SERIAL } from '../../decisions/changes.ts'
import { newService, serviceSubject } from '../../naming/commands/service-commands.ts'

/** When a command that failed is tried again. */
const RETRY_MS = 1_000

/** An instance that must come back, and the command that registers it again. Report the outcome with `settled`. */
export interface Restoration {
  readonly instance: Instance
  readonly command: Command<boolean>
}

/**
 * Finds instances that were removed for their silence although this server received their beats in time. No
 * judge should do that; this saves the instances if one did. A server that was frozen received no beats in
 * time: its health clock stopped, but their silence lasted.
 */
export class Restoring {
  readonly #liveness: Liveness
  readonly #clock: Pick<HealthClock, 'pausedSince'>
  /** The instances to restore, and when to try. */
  readonly #waiting = new Map<Instance, number>()
  /** Since the start: instances that this server has restored. */
  readonly counts = { restored: 0 }

  constructor(liveness: Liveness, clock: Pick<HealthClock, 'pausedSince'>) {
    this.#liveness = liveness
    this.#clock = clock
  }

  /** The instances to restore now. */
  due(nowMs: number): Restoration[] {
    for (const instance of this.#liveness.takeMisjudged()) this.#waiting.set(instance, nowMs)
    const due = [...this.#waiting].filter(([, dueMs]) => dueMs <= nowMs)
    for (const [instance] of due) this.#waiting.delete(instance)
    return due
      .filter(([instance]) => this.#isInTime(instance, nowMs))
      .map(([instance]) => ({ instance, command: restoreInstance(instance) }))
  }

  /** `failed`: the command is tried again, as long as the last beat counts. */
  settled({ instance }: Restoration, outcome: boolean | 'failed', nowMs: number): void {
    if (outcome === true) this.counts.restored++
    if (outcome === 'failed') this.#waiting.set(instance, nowMs + RETRY_MS)
  }

  #isInTime(instance: Instance, nowMs: number): boolean {
    const { atMs } = this.#liveness.lastBeatOf(instance)
    return nowMs - atMs + this.#clock.pausedSince(atMs) < this.#liveness.timingOf(instance, nowMs).removeMs
  }
}

/**
 * Registers an instance again that was removed for its silence although this server has received its beats. It comes
 * back unchanged, with its full time on all servers. Answers false, and changes nothing, if it is registered meanwhile, or its
 * client has said goodbye.
 */
export function restoreInstance({ entry, record, healthy }: Instance): Command<boolean> {
  const { key: serviceKey } = entry.service
  return commandOn(serviceSubject(serviceKey), (view, { stamp }) => {
    if (view.instance(serviceKey, record.address) !== undefined) return unchanged(false)
    // Its client has said goodbye since.
    if (view.remembered({ serviceKey, address: record.address })?.left === true) return unchanged(false)
    const known = view.service(serviceKey)
    const service = known ?? newService(view, serviceKey, 'registration')
    const { serial: serviceSerial } = service
    const restored = { ...record, serial: NO_SERIAL }
    const changes: Change[] = [
      { kind: 'instance-saved', serviceKey, serviceSerial, record: restored, healthy, beat: true, stamp },
    ]
    if (known === undefined) changes.unshift({ kind: 'service-saved', service, stamp })
    return synced(changes, true)
  })
}
