import type { Room, StoreRoom } from '../core/engine/store-room.ts'
import { gauge, type Metric } from './metric.ts'
import type { Lasting } from './readiness.ts'
import type { WatchLog } from './watch-log.ts'

/** The parts that the watch needs. */
export interface RoomWatchOptions {
  readonly room: StoreRoom
  /** Absent: it is never measured, and there always is room. */
  readonly measure?: MeasureRoom | undefined
  readonly log: WatchLog
  readonly monotonicMs: () => number
}

/** Measures the room; undefined: it cannot be said now. `isUrgent`: the last result is not good enough. */
export type MeasureRoom = (isUrgent: boolean) => Promise<Room | undefined>

/** Measures the room of the store. It logs once when the room ends, and once when there is room again. */
export class RoomWatch {
  readonly #options: RoomWatchOptions
  #fullSinceMs: number | undefined
  #looking: Promise<void> | undefined

  constructor(options: RoomWatchOptions) {
    this.#options = options
  }

  /** Measures. If that fails, the last result stays: another watch notices that the store is away. */
  look(isUrgent = false): Promise<void> {
    this.#looking ??= this.#look(isUrgent).finally(() => (this.#looking = undefined))
    return this.#looking
  }

  async #look(isUrgent: boolean): Promise<void> {
    const found = await this.#options.measure?.(isUrgent)
    if (found === undefined) return
    const { room, log, monotonicMs } = this.#options
    room.measured(found)
    const { shortage } = room
    if (shortage !== undefined && this.#fullSinceMs === undefined) {
      this.#fullSinceMs = monotonicMs()
      log.error({ shortage }, 'the store has no room: publishes and metadata are answered 507')
    }
    if (shortage !== undefined || this.#fullSinceMs === undefined) return
    const fullMs = Math.round(monotonicMs() - this.#fullSinceMs)
    this.#fullSinceMs = undefined
    log.info({ fullMs }, 'the store has room again')
  }

  /** Why publishes are refused, and for how long (ms). */
  readonly full = (): Lasting | undefined => {
    const { room, monotonicMs } = this.#options
    if (room.shortage === undefined) return undefined
    return { reason: room.shortage, forMs: Math.round(monotonicMs() - (this.#fullSinceMs ?? monotonicMs())) }
  }

  metrics(): Metric[] {
    return [
      gauge(
        'waypost_store_full',
        'Whether publishes and metadata are refused, because the store has less room than store-reserve.',
        () => (this.#options.room.shortage === undefined ? 0 : 1),
      ),
      gauge(
        'waypost_store_room_bytes',
        'Room of the store until publishes are refused: beyond store-reserve.',
        () => this.#options.room.leftBytes,
      ),
    ]
  }
}
