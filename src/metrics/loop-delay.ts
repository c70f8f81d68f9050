import { createHistogram, type RecordableHistogram } from 'node:perf_hooks'
import type { Metric } from './metric.ts'

/** Longer delays count as this: an hour, in microseconds. */
const LONGEST = 3_600_000_000
const WINDOW_TICKS = 10
const WINDOWS = 6

/** Delays within a window, in seconds. */
interface Delays {
  readonly p50: number
  readonly p99: number
  readonly max: number
}

const NONE: Delays = { p50: 0, p99: 0, max: 0 }

/**
 * The delay of timers while the only thread is busy: the worst ten seconds of the last minute. So no scraper misses a
 * peak, and several may scrape. The pulse of the jobs is the timer: one of its own (`monitorEventLoopDelay`) wakes an
 * idle thread as often once more.
 */
export class LoopDelay {
  /** Microseconds. One with the default options takes 360 KB. */
  readonly #histogram: RecordableHistogram = createHistogram({ highest: LONGEST, figures: 2 })
  #windows: readonly Delays[] = []
  #ticks = 0

  /** Call it at each pulse of the jobs, with its delay. */
  note(lateMs: number): void {
    // A histogram takes no zero.
    this.#histogram.record(Math.min(LONGEST, Math.max(1, Math.round(lateMs * 1_000))))
  }

  /** Call it each second. */
  tick(): void {
    if (++this.#ticks % WINDOW_TICKS !== 0) return
    this.#windows = [...this.#windows, this.#current()].slice(1 - WINDOWS)
    this.#histogram.reset()
  }

  /** The worst delays of the last minute. */
  read(): Delays {
    return [...this.#windows, this.#current()].reduce(worse, NONE)
  }

  metrics(): Metric[] {
    return [
      {
        name: 'waypost_event_loop_delay_seconds',
        help: 'Delay of the event loop, in the worst 10 seconds of the last minute.',
        type: 'gauge',
        labels: ['quantile'],
        read: () => {
          const { p50, p99, max } = this.read()
          return [
            [{ quantile: '0.5' }, p50],
            [{ quantile: '0.99' }, p99],
            [{ quantile: '1' }, max],
          ]
        },
      },
    ]
  }

  #current(): Delays {
    const histogram = this.#histogram
    if (histogram.count === 0) return NONE
    return {
      p50: histogram.percentile(50) / 1e6,
      p99: histogram.percentile(99) / 1e6,
      max: histogram.max / 1e6,
    }
  }
}

function worse(a: Delays, b: Delays): Delays {
  return { p50: Math.max(a.p50, b.p50), p99: Math.max(a.p99, b.p99), max: Math.max(a.max, b.max) }
}
