import { monitorEventLoopDelay, type IntervalHistogram } from 'node:perf_hooks'
import type { Metric } from './metric.ts'

/** How often the delay is sampled: each time wakes up a thread at rest. What the histogram has is this plus the delay. */
const RESOLUTION_MS = 100
const WINDOW_TICKS = 10
const WINDOWS = 6

/** Delays within a window, seconds. */
interface Delays {
  readonly p50: number
  readonly p99: number
  readonly max: number
}

const NONE: Delays = { p50: 0, p99: 0, max: 0 }

/**
 * How late timers come because the only thread is busy: the worst ten seconds of the last minute, so that no
 * scraper misses a peak and several may ask.
 */
export class LoopDelay {
  readonly #monitor: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  #windows: readonly Delays[] = []
  #ticks = 0

  /** Begins to measure; before that, loading may have kept the thread busy. */
  start(): void {
    this.#monitor.enable()
  }

  stop(): void {
    this.#monitor.disable()
  }

  /** To be called each second. */
  tick(): void {
    if (++this.#ticks % WINDOW_TICKS !== 0) return
    this.#windows = [...this.#windows, this.#current()].slice(1 - WINDOWS)
    this.#monitor.reset()
  }

  /** The worst of the last minute. */
  read(): Delays {
    return [...this.#windows, this.#current()].reduce(worse, NONE)
  }

  metrics(): Metric[] {
    return [
      {
        name: 'waypost_event_loop_delay_seconds',
        help: 'How long the thread was busy with something else, in the worst 10 seconds of the last minute.',
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
    const monitor = this.#monitor
    if (monitor.count === 0) return NONE
    return {
      p50: secondsOf(monitor.percentile(50)),
      p99: secondsOf(monitor.percentile(99)),
      max: secondsOf(monitor.max),
    }
  }
}

function secondsOf(nanoseconds: number): number {
  return Math.max(0, nanoseconds / 1e9 - RESOLUTION_MS / 1_000)
}

function worse(a: Delays, b: Delays): Delays {
  return { p50: Math.max(a.p50, b.p50), p99: Math.max(a.p99, b.p99), max: Math.max(a.max, b.max) }
}
