import { monitorEventLoopDelay, type IntervalHistogram } from 'node:perf_hooks'
import type { Metric } from './metric.ts'

/** The interval of samples; each one wakes an idle thread. A value of the histogram is this interval plus the delay. */
const RESOLUTION_MS = 100
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
 * peak, and several may scrape.
 */
export class LoopDelay {
  readonly #monitor: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  #windows: readonly Delays[] = []
  #ticks = 0

  /** Starts to measure, after the server has loaded its data. */
  start(): void {
    this.#monitor.enable()
  }

  stop(): void {
    this.#monitor.disable()
  }

  /** Call it each second. */
  tick(): void {
    if (++this.#ticks % WINDOW_TICKS !== 0) return
    this.#windows = [...this.#windows, this.#current()].slice(1 - WINDOWS)
    this.#monitor.reset()
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
